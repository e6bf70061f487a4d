interface SegmentsProps<Value extends string> {
  label: string;
  options: readonly { readonly value: Value; readonly text: string }[];
  value: string;
  onChange: (value: Value) => void;
}

/** A few ways to look at the same, one of them chosen. */
export function Segments<Value extends string>({ label, options, value, onChange }: SegmentsProps<Value>) {
  return (
    <span className="seg" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.value} type="button" aria-pressed={option.value === value} onClick={() => onChange(option.value)}>
          {option.text}
        </button>
      ))}
    </span>
  );
}
