/**
 * Access modes of volumes. Source: component-helpers and pkg/apis/core/v1/helper (GetAccessModesAsString and kin),
 * pkg/volume/util/util.go (IsMultiAttachAllowed) of v1.37.2.
 */
import type { Spec } from "@/server/volume/spec";

/** In the order they are listed, whatever the order they were given in. */
const shortNames: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

/** `RWO,RWX`; each mode once, unknown ones left out. */
export function accessModesAsString(modes: readonly string[]): string {
  return shortNames.filter(([mode]) => modes.includes(mode)).map(([, short]) => short).join(",");
}

/** The inverse, in the order written; what is no short name is left out. */
export function accessModesFromString(text: string): string[] {
  return text.split(",").flatMap((part) => {
    const found = shortNames.find(([, short]) => short === part.trim());
    return found ? [found[0]] : [];
  });
}

export function containsAccessMode(modes: readonly string[], mode: string): boolean {
  return modes.includes(mode);
}

export function containsAllAccessModes(offered: readonly string[], requested: readonly string[]): boolean {
  return requested.every((mode) => offered.includes(mode));
}

/** Whether several nodes may attach the volume at once, as far as the spec can tell; where it cannot, the attacher will. */
export function isMultiAttachAllowed(spec: Spec | undefined): boolean {
  if (spec?.volume?.azureDisk || spec?.volume?.cinder) return false;
  const modes = spec?.persistentVolume?.spec.accessModes ?? [];
  return modes.length === 0 || modes.includes("ReadWriteMany") || modes.includes("ReadOnlyMany");
}
