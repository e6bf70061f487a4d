"use client";

import { Icon } from "@/components/ui/icon";
import { newQuantity, tryParseQuantity } from "@/lib/quantity";
import { exactBytes } from "@/components/ui/bytes";

interface SizeFieldProps {
  nowLabel: string;
  now: string;
  size: string;
  onSize: (size: string) => void;
  /** Why this is no size. */
  problem: string | undefined;
  /** The new size in decimal digits of bytes, once it is checked. */
  bytes: string | undefined;
}

/** The size now, and the new one: typed, or stepped in binary units. */
export function SizeField({ nowLabel, now, size, onSize, problem, bytes }: SizeFieldProps) {
  return (
    <>
      <div className="sizes">
        <div>
          <span className="muted block text-xs">{nowLabel}</span>
          <span className="figure">{now}</span>
        </div>
        <Icon name="arrow" />
        <label>
          <span className="muted block text-xs">New size</span>
          <input
            className="figure"
            value={size}
            onChange={(event) => onSize(event.target.value)}
            placeholder="20Gi"
            autoComplete="off"
            spellCheck={false}
            aria-invalid={problem !== undefined}
            aria-describedby="size-note"
          />
        </label>
        <span className="flex gap-1.5">
          {stepsOf(now, size).map((step) => (
            <button key={step.text} type="button" className="btn btn-sm" onClick={() => onSize(step.size)}>
              {step.text}
            </button>
          ))}
        </span>
      </div>
      <p id="size-note" className="mt-1 text-xs" role="status">
        {problem !== undefined ? <span className="text-failed-fg">{problem}</span> : <span className="muted">{note(bytes)}</span>}
      </p>
    </>
  );
}

function note(bytes: string | undefined): string {
  return bytes === undefined ? "Binary units: Mi, Gi, Ti." : `${exactBytes(bytes)}. The driver may round up; how far is not known before it answers.`;
}

const mebi = 1024n * 1024n;
const gibi = 1024n * mebi;

/** Steps from what is typed, else from the size now; small volumes step by 100Mi. */
function stepsOf(now: string, size: string): readonly { text: string; size: string }[] {
  const from = tryParseQuantity(size) ?? tryParseQuantity(now);
  if (!from || from.sign() <= 0) return [];
  const bytes = from.ceilValue();
  const small = bytes < gibi;
  const plus = (more: bigint) => newQuantity(bytes + more, "BinarySI").toString();
  return [
    small ? { text: "+100Mi", size: plus(100n * mebi) } : { text: "+1Gi", size: plus(gibi) },
    small ? { text: "+1Gi", size: plus(gibi) } : { text: "+5Gi", size: plus(5n * gibi) },
    { text: "× 2", size: plus(bytes) },
  ];
}
