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
  /** What becomes of the size on its way. */
  rounding: string;
}

/** The size now, and the new one: typed, or stepped in binary units. */
export function SizeField({ nowLabel, now, size, onSize, problem, bytes, rounding }: SizeFieldProps) {
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
        {problem !== undefined ? <span className="text-failed-fg">{problem}</span> : <span className="muted">{note(bytes, rounding)}</span>}
      </p>
    </>
  );
}

function note(bytes: string | undefined, rounding: string): string {
  return bytes === undefined ? "Binary units: Mi, Gi, Ti." : `${exactBytes(bytes)}. ${rounding}`;
}

const mebi = 1024n * 1024n;
const gibi = 1024n * mebi;

/** Steps from what is typed, else from the size now; the smaller the volume, the smaller the step. */
function stepsOf(now: string, size: string): readonly { text: string; size: string }[] {
  const from = tryParseQuantity(size) ?? tryParseQuantity(now);
  if (!from || from.sign() <= 0) return [];
  const bytes = from.ceilValue();
  const plus = (more: bigint) => newQuantity(bytes + more, "BinarySI").toString();
  const step = (more: bigint) => ({ text: `+${newQuantity(more, "BinarySI").toString()}`, size: plus(more) });
  const [less, more] = bytes < 256n * mebi ? [32n * mebi, 64n * mebi] : bytes < gibi ? [100n * mebi, gibi] : [gibi, 5n * gibi];
  return [step(less), step(more), { text: "× 2", size: plus(bytes) }];
}
