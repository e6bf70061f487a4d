import type { Proof } from "@/lib/way";

/** The field, event or line that shows a claim, its value in bold. Breaks anywhere: names are long. */
export function ProofLine({ proof }: { proof: Proof }) {
  const { source, field, value, note } = proof;
  return (
    <>
      <span className="k">{field === "" ? source : `${source} ${field}`}</span>
      {value !== "" && (
        <>
          {" "}
          <b>{value}</b>
        </>
      )}
      {note && <span className="k"> · {note}</span>}
    </>
  );
}

export function Proofs({ proofs }: { proofs: readonly Proof[] }) {
  return (
    <span className="proof">
      {proofs.map((proof, index) => (
        <span key={index} className="block">
          <ProofLine proof={proof} />
        </span>
      ))}
    </span>
  );
}
