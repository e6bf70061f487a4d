/** `kubernetes.io/configmap`. Source: pkg/volume/configmap/configmap.go of v1.37.2. */
import { base64Bytes } from "@/lib/bytes";
import type { ConfigMap } from "@/lib/kube/pods";
import type { ConfigMapVolumeSource } from "@/lib/kube/volumes";
import type { Payload } from "@/server/volume/atomic-writer";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { FeaturesConfig } from "@/server/volume/plugins/features";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { fileDefaults, getOptional, keyedPayload, type FileDefaults } from "@/server/volume/plugins/payload-files";
import { newPayloadPlugin } from "@/server/volume/plugins/payload-volume";
import { specName } from "@/server/volume/spec";

const configMapPluginName = "kubernetes.io/configmap";

export function newConfigMapPlugin(config: FeaturesConfig = {}): VolumePlugin {
  return newPayloadPlugin<ConfigMapVolumeSource>(
    {
      pluginName: configMapPluginName,
      field: "configMap",
      medium: "",
      sourceOf: (spec) => {
        if (!spec.volume?.configMap) throw new VolumeError("Spec does not reference a ConfigMap volume type");
        return spec.volume.configMap;
      },
      volumeName: (spec, source) => `${specName(spec)}/${source.name ?? ""}`,
      collect: async ({ host, pod, source }) =>
        configMapPayload(
          host,
          { ...source, namespace: pod.metadata.namespace ?? "" },
          () => fileDefaults(source, config.features),
        ),
      reconstructed: () => ({ configMap: {} }),
    },
    newHostSlot(configMapPluginName),
  );
}

export type ConfigMapPart = Pick<ConfigMapVolumeSource, "name" | "items" | "optional"> & { readonly namespace: string };

/** The defaults are asked for after the object: its absence is the error that counts. Throws what the API says, and VolumeError. */
export async function configMapPayload(host: VolumeHost, part: ConfigMapPart, defaults: () => FileDefaults): Promise<Payload> {
  const optional = part.optional ?? false;
  const configMap = await getOptional(optional, () => host.getConfigMapFunc()(part.namespace, part.name ?? ""));
  return keyedPayload(
    {
      values: configMap ? valuesOf(configMap) : new Map(),
      items: part.items,
      optional,
      missing: (key) => `configmap references non-existent config key: ${key}`,
    },
    defaults(),
  );
}

/** A key is in one of the two parts only; where it is in both, its text counts. */
function valuesOf({ data, binaryData, metadata }: ConfigMap): ReadonlyMap<string, Uint8Array | string> {
  const values = new Map<string, Uint8Array | string>();
  for (const [key, text] of Object.entries(binaryData ?? {})) {
    const bytes = base64Bytes(text);
    if (!bytes) throw new VolumeError(`configmap ${metadata.namespace}/${metadata.name}: binaryData.${key} is not base64`);
    values.set(key, bytes);
  }
  for (const [key, text] of Object.entries(data ?? {})) values.set(key, text);
  return values;
}
