/** Grey bars in the page's own shape: still, without shimmer. */
const widths = ["w-24", "w-36", "w-32", "w-28"] as const;

export function Bar({ width }: { width: string }) {
  return <span className={`sk ${width}`} />;
}

/** A table that is being read: its own column heads, and rows of bars. */
export function TableSkeleton({ label, heads, rows = 8 }: { label: string; heads: readonly string[]; rows?: number }) {
  return (
    <div className="scroll">
      <table className="t" aria-busy="true" aria-label={`Loading ${label}`}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, row) => (
            <tr key={row}>
              {heads.map((head, column) => (
                <td key={head}>
                  <Bar width={column === 0 ? (widths[row % widths.length] ?? "w-24") : "w-16"} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The frame before the browser knows whether it has a token. */
export function ShellSkeleton() {
  return (
    <div className="app" aria-busy="true">
      <aside className="rail" aria-label="Voldeck" />
      <div>
        <header className="top" />
        <main />
      </div>
    </div>
  );
}
