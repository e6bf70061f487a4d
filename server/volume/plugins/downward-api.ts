/** `kubernetes.io/downward-api`: fields of the pod as files. Source: pkg/volume/downwardapi/downwardapi.go of v1.37.2. */
import { cleanPath } from "@/lib/go-path";
import type { Pod } from "@/lib/kube/pods";
import type { DownwardAPIVolumeFile, DownwardAPIVolumeSource } from "@/lib/kube/volumes";
import type { FileProjection, Payload } from "@/server/volume/atomic-writer";
import { extractFieldPathAsString, extractResourceValue } from "@/server/volume/downward-fields";
import { aggregate, VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { FeaturesConfig } from "@/server/volume/plugins/features";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { fileDefaults, fileOf, type FileDefaults } from "@/server/volume/plugins/payload-files";
import { newPayloadPlugin } from "@/server/volume/plugins/payload-volume";
import { specName } from "@/server/volume/spec";

const downwardAPIPluginName = "kubernetes.io/downward-api";

export function newDownwardAPIPlugin(config: FeaturesConfig = {}): VolumePlugin {
  return newPayloadPlugin<DownwardAPIVolumeSource>(
    {
      pluginName: downwardAPIPluginName,
      field: "downwardAPI",
      medium: "Memory",
      sourceOf: (spec) => {
        if (!spec.volume?.downwardAPI) throw new VolumeError("Spec does not reference a DownwardAPI volume type");
        return spec.volume.downwardAPI;
      },
      volumeName: specName,
      collect: async ({ host, pod, source }) =>
        downwardPayload(host, { items: source.items, pod }, fileDefaults(source, config.features)),
      reconstructed: () => ({ downwardAPI: {} }),
    },
    newHostSlot(downwardAPIPluginName),
  );
}

export interface DownwardPart {
  readonly items: readonly DownwardAPIVolumeFile[] | undefined;
  readonly pod: Pod;
}

/** Throws the errors of all fields together. */
export async function downwardPayload(host: VolumeHost, { items, pod }: DownwardPart, defaults: FileDefaults): Promise<Payload> {
  const payload = new Map<string, FileProjection>();
  const errors: unknown[] = [];
  for (const item of items ?? []) {
    try {
      payload.set(cleanPath(item.path), fileOf(await valueOf(host, item, pod), item, defaults));
    } catch (error) {
      errors.push(error);
    }
  }
  const failure = aggregate(errors);
  if (failure) throw failure;
  return payload;
}

async function valueOf(host: VolumeHost, item: DownwardAPIVolumeFile, pod: Pod): Promise<string> {
  if (item.fieldRef) return extractFieldPathAsString(pod, item.fieldRef.fieldPath);
  if (item.resourceFieldRef) return extractResourceValue(pod, item.resourceFieldRef, await host.getNodeAllocatable());
  return "";
}
