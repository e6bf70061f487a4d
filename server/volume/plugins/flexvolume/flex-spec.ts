/** What a spec says of a FlexVolume, and the options a driver gets. Source: pkg/volume/flexvolume/{util,driver-call}.go of v1.37.2. */
import { base64Text } from "@/lib/bytes";
import { messageOf } from "@/lib/errors";
import { goJson } from "@/lib/go-text";
import type { Pod } from "@/lib/kube/pods";
import type { FlexVolumeSource } from "@/lib/kube/volumes";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { getSecretForPV } from "@/server/volume/secrets";
import { specName, type Spec } from "@/server/volume/spec";

export interface FlexVolume {
  readonly source: FlexVolumeSource;
  readonly readOnly: boolean;
  /** A volume that a pod defines itself, and not a persistent one. */
  readonly isInline: boolean;
}

/** Throws VolumeError when the spec is of another kind. */
export function flexVolumeOf(spec: Spec): FlexVolume {
  const inline = spec.volume?.flexVolume;
  if (inline) return { source: inline, readOnly: inline.readOnly ?? false, isInline: true };
  const source = spec.persistentVolume?.spec.flexVolume;
  if (!source) throw new VolumeError("not a flex volume");
  return { source, readOnly: spec.readOnly, isInline: false };
}

function isFlexVolume(spec: Spec): boolean {
  return (spec.volume?.flexVolume ?? spec.persistentVolume?.spec.flexVolume) !== undefined;
}

/** The options argument; nothing at all for a spec of another kind, as in the real code. The user's own options win over all. */
export function optionsArgument(spec: Spec, extra: ReadonlyMap<string, string> = new Map()): readonly string[] {
  if (!isFlexVolume(spec)) return [];
  const { source, readOnly } = flexVolumeOf(spec);
  const options = new Map([
    ["kubernetes.io/fsType", source.fsType ?? ""],
    ["kubernetes.io/readwrite", readOnly ? "ro" : "rw"],
    ["kubernetes.io/pvOrVolumeName", specName(spec)],
    ...extra,
    ...Object.entries(source.options ?? {}),
  ]);
  return [goJson(Object.fromEntries(options))];
}

/** What a driver learns of the pod it mounts for. */
export function podOptions(pod: Pod): Map<string, string> {
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  return new Map([
    ["kubernetes.io/pod.name", name],
    ["kubernetes.io/pod.namespace", namespace],
    ["kubernetes.io/pod.uid", uid],
    ["kubernetes.io/serviceAccount.name", pod.spec.serviceAccountName ?? ""],
  ]);
}

/** The volume's secret, base64, one option per key. Throws VolumeError when it is missing or of another type than the driver's name. */
export async function secretOptions(host: VolumeHost, spec: Spec, podNamespace: string): Promise<ReadonlyMap<string, string>> {
  const { source, isInline } = flexVolumeOf(spec);
  const name = source.secretRef?.name ?? "";
  const own = isInline ? "" : (source.secretRef?.namespace ?? "");
  const namespace = own === "" ? podNamespace : own;
  if (name === "" || namespace === "") return new Map();
  const client = host.getKubeClient();
  if (!client) throw new VolumeError("cannot get kube client");
  try {
    const secret = await getSecretForPV({ namespace, name }, source.driver, client);
    return new Map([...secret].map(([key, bytes]) => [`kubernetes.io/secret/${key}`, base64Text(bytes)]));
  } catch (error) {
    throw wrap(`couldn't get secret ${namespace}/${name} err: ${messageOf(error)}`, error);
  }
}
