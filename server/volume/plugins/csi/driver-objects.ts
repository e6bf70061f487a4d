/** CSIDriver objects as the plugin asks for them. Source: pkg/volume/csi/csi_plugin.go (getCSIDriver, skipAttach) of v1.37.2. */
import { codeOf } from "@/lib/errors";
import type { CSIDriver } from "@/lib/kube/storage";
import { nilDereference, VolumeError } from "@/server/volume/errors";
import { isCSIDriverVolumeHost, isKubeletVolumeHost, type Lister, type VolumeHost } from "@/server/volume/host";
import { driverNameFromSpec } from "@/server/volume/plugins/csi/source";
import type { Spec } from "@/server/volume/spec";

function listerOf(host: VolumeHost): Lister<CSIDriver> | undefined {
  return isCSIDriverVolumeHost(host) ? host.csiDriverLister() : undefined;
}

/** undefined when there is no such object. Throws VolumeError on hosts without objects, or whose objects have not come yet. */
async function driverObject(host: VolumeHost, name: string): Promise<CSIDriver | undefined> {
  const lister = listerOf(host);
  // A kubelet without an API has neither objects nor a cache to wait for; the missing lister is what is said.
  if (!lister) throw new VolumeError("CSIDriver lister does not exist");
  if (isKubeletVolumeHost(host)) await host.waitForCacheSync();
  try {
    return lister.get(name);
  } catch (error) {
    if (codeOf(error) === "not-found") return undefined;
    throw error;
  }
}

/** Only a driver that says so needs no attachment. */
export async function skipsAttach(host: VolumeHost, driverName: string): Promise<boolean> {
  const object = await driverObject(host, driverName);
  return object?.spec.attachRequired === false;
}

export async function supportsSELinuxMount(host: VolumeHost, spec: Spec): Promise<boolean> {
  const object = await driverObject(host, driverNameFromSpec(spec));
  return object?.spec.seLinuxMount ?? false;
}

/** Never waits and never fails for what is missing. An object without the field, which no API server stores, is an error. */
export function requiresRepublish(host: VolumeHost, spec: Spec): boolean {
  let object: CSIDriver;
  try {
    const lister = listerOf(host);
    if (!lister) return false;
    object = lister.get(driverNameFromSpec(spec));
  } catch {
    return false;
  }
  const { requiresRepublish: answer } = object.spec;
  if (answer === undefined) throw nilDereference(`requiresRepublish of CSIDriver ${object.metadata.name ?? ""}`);
  return answer;
}
