import type { ReactNode } from "react";

/** A bordered part of a page: title left, source and age right. Never one inside another. */
export function Section(props: { title: string; aside?: ReactNode; padded?: boolean; children: ReactNode }) {
  const { title, aside, padded = false, children } = props;
  return (
    <section className="sec" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside && <span className="r">{aside}</span>}
      </header>
      {padded ? <div className="body">{children}</div> : children}
    </section>
  );
}
