/** Who would grow a volume, as far as its own object shows. Pure. */
import type { PersistentVolume } from "@/lib/kube/storage";

/** The provisioner of the class whose disks are files of this machine. */
export const loopProvisioner = "voldeck.dev/loop";

export interface Actor {
  readonly name: string;
  readonly proof: string;
}

/** undefined: nothing on the object says so (a CSI driver's resizer shows itself only by its events). */
export function actorOf(volume: PersistentVolume | undefined): Actor | undefined {
  if (volume?.spec.flexVolume) return { name: "the node", proof: `expandfs of ${volume.spec.flexVolume.driver}` };
  if (volume?.metadata.annotations?.["pv.kubernetes.io/provisioned-by"] === loopProvisioner) {
    return { name: loopProvisioner, proof: "PV annotation pv.kubernetes.io/provisioned-by" };
  }
  return undefined;
}
