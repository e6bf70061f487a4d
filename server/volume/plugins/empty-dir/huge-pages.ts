/**
 * Page sizes of an emptyDir on huge pages. Source: pkg/volume/emptydir/empty_dir.go (getPageSizeMountOption) and
 * pkg/apis/core/v1/helper/helpers.go of v1.37.2.
 */
import { containersThenInit, hasPodLevelResources, hugePagesResourcePrefix } from "@/lib/kube/pod-resources";
import type { Pod } from "@/lib/kube/pods";
import { parseQuantity, type Quantity } from "@/lib/quantity";
import { VolumeError } from "@/server/volume/errors";

export const hugePagesMedium = "HugePages";
const hugePagesMediumPrefix = "HugePages-";
export const pageSizeOption = "pagesize=";

export function isHugePagesMedium(medium: string): boolean {
  return medium === hugePagesMedium || medium.startsWith(hugePagesMediumPrefix);
}

/** The size that a medium `HugePages-<size>` names. Throws VolumeError for others, AppError `invalid` for what is no quantity. */
export function pageSizeOfMedium(medium: string): Quantity {
  if (!isHugePagesMedium(medium)) throw new VolumeError(`medium: ${medium} is not a hugepage medium`);
  if (medium === hugePagesMedium) throw new VolumeError(`medium: ${medium} doesn't have size information`);
  return parseQuantity(medium.slice(hugePagesMediumPrefix.length));
}

/**
 * The mount option for a pod's volume: the size that the medium names and the pod asks for, or the only size it asks for.
 * Throws VolumeError when it asks for none that fits, or for several where the medium names none.
 */
export function pageSizeMountOption(medium: string, pod: Pod): string {
  const wanted = medium === hugePagesMedium ? undefined : pageSizeOfMedium(medium);
  let found: Quantity | undefined;
  for (const size of requestedPageSizes(pod)) {
    if (wanted && !size.equals(wanted)) continue;
    if (!wanted && found && !size.equals(found)) {
      throw new VolumeError(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
    }
    found = size;
  }
  if (!found) {
    throw new VolumeError(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  }
  return `${pageSizeOption}${found.toString()}`;
}

function requestedPageSizes(pod: Pod): readonly Quantity[] {
  const ofPod = hasPodLevelResources(pod) ? [pod.spec.resources?.requests] : [];
  const ofContainers = containersThenInit(pod).map((container) => container.resources?.requests);
  return [...ofPod, ...ofContainers]
    .flatMap((requests) => Object.keys(requests ?? {}))
    .filter((name) => name.startsWith(hugePagesResourcePrefix))
    .map((name) => parseQuantity(name.slice(hugePagesResourcePrefix.length)));
}
