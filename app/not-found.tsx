import Link from "next/link";

export default function NotFoundPage() {
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <section className="sec w-full max-w-prose">
        <div className="empty">
          <h1 className="mb-1">There is no such page</h1>
          <p>The address leads nowhere in Voldeck.</p>
          <div className="row-acts">
            <Link className="btn" href="/">
              To the first page
            </Link>
          </div>
        </div>
      </section>
    </main>
  );
}
