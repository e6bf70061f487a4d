/** Ages as kubectl shows them. Source: k8s.io/apimachinery/pkg/util/duration. */

export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(ms / 60_000);
  if (minutes < 10) return joined(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(ms / 3_600_000);
  if (hours < 8) return joined(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return joined(Math.trunc(hours / 24), "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${Math.trunc(hours / 24)}d`;
  const years = Math.trunc(hours / 24 / 365);
  return hours < 24 * 365 * 8 ? joined(years, "y", Math.trunc(hours / 24) % 365, "d") : `${years}y`;
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
