import { Icon } from "@/components/ui/icon";

interface TokenChipProps {
  shown: boolean;
  hidden: number;
  onChange: (shown: boolean) => void;
}

/** Every pod has a token volume that nobody asked for; the list leaves them out until asked. */
export function TokenChip({ shown, hidden, onChange }: TokenChipProps) {
  if (shown) {
    return (
      <span className="chip">
        with token volumes
        <button type="button" aria-label="Leave out token volumes" onClick={() => onChange(false)}>
          <Icon name="x" small />
        </button>
      </span>
    );
  }
  if (hidden === 0) return null;
  return (
    <span className="chip off">
      <Icon name="eye-off" small />
      {hidden.toLocaleString()} token {hidden === 1 ? "volume" : "volumes"}
      <button type="button" aria-label="Show token volumes" onClick={() => onChange(true)}>
        <Icon name="plus" small />
      </button>
    </span>
  );
}
