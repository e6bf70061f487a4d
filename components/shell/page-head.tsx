import type { ReactNode } from "react";

/** Title, the page's one question, and its actions: quiet ones first, the one that changes something last. */
export function PageHead({ title, question, actions }: { title: ReactNode; question?: ReactNode; actions?: ReactNode }) {
  return (
    <div className="ph">
      <div className="min-w-0">
        <h1>{title}</h1>
        {question && <p className="q">{question}</p>}
      </div>
      {actions && <div className="acts">{actions}</div>}
    </div>
  );
}
