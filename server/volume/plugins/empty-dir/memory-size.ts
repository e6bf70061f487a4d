/** The size of a memory-backed emptyDir. Source: pkg/volume/emptydir/empty_dir.go (calculateEmptyDirMemorySize) of v1.37.2. */
import type { ResourceList } from "@/lib/kube/meta";
import { podCgroupMemoryLimit, resourceAmount } from "@/lib/kube/pod-resources";
import type { Pod } from "@/lib/kube/pods";
import { newQuantity, parseQuantity, type Quantity } from "@/lib/quantity";

/**
 * The least of the node's allocatable memory, the pod's memory limit and the volume's sizeLimit, those that are zero left out. On a node
 * without allocatable memory nothing can be smaller, so the answer is zero: no limit at all.
 */
export function memoryVolumeSize(nodeAllocatable: ResourceList, pod: Pod, sizeLimit: string | undefined): Quantity {
  const node = resourceAmount(nodeAllocatable, "memory");
  const podLimit = podCgroupMemoryLimit(pod);
  const ofPod = podLimit === undefined ? node : smaller(newQuantity(podLimit, "BinarySI"), node);
  return sizeLimit === undefined ? ofPod : smaller(parseQuantity(sizeLimit), ofPod);
}

function smaller(wish: Quantity, most: Quantity): Quantity {
  return wish.sign() > 0 && wish.cmp(most) <= 0 ? wish : most;
}

export function tmpfsOptions(size: Quantity, noswap: boolean): string[] {
  const bytes = size.value();
  return [...(bytes > 0n ? [`size=${bytes}`] : []), ...(noswap ? ["noswap"] : [])];
}
