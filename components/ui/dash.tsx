/** Not reported or not applicable: which of them is on hover. */
export function Dash({ why }: { why: string }) {
  return (
    <span className="muted" title={why}>
      –<span className="vh"> {why}</span>
    </span>
  );
}
