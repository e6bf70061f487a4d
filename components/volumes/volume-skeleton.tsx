import { Bar } from "@/components/shell/skeleton";

/** The shape of a volume's page while it is read. */
export function VolumeSkeleton() {
  return (
    <div aria-busy="true" aria-label="Loading the volume" role="status">
      <div className="ph">
        <div>
          <Bar width="w-48" />
          <p className="facts">
            <Bar width="w-72" />
          </p>
        </div>
      </div>
      <div className="pad cols grid-cols-1 gap-4 desk:grid-cols-[minmax(0,1.12fr)_minmax(0,1fr)]">
        <BarSection title="Where it stands" rows={10} />
        <BarSection title="Why this plugin" rows={13} />
      </div>
    </div>
  );
}

export function BarSection({ title, rows }: { title: string; rows: number }) {
  return (
    <section className="sec" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <div className="body grid gap-3">
        {Array.from({ length: rows }, (_, row) => (
          <Bar key={row} width={row % 2 === 0 ? "w-64" : "w-48"} />
        ))}
      </div>
    </section>
  );
}
