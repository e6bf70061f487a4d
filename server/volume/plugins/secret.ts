/** `kubernetes.io/secret`. Source: pkg/volume/secret/secret.go of v1.37.2. */
import { base64Bytes } from "@/lib/bytes";
import type { Secret } from "@/lib/kube/pods";
import type { SecretVolumeSource } from "@/lib/kube/volumes";
import type { Payload } from "@/server/volume/atomic-writer";
import { VolumeError } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { FeaturesConfig } from "@/server/volume/plugins/features";
import { newHostSlot } from "@/server/volume/plugins/host-slot";
import { fileDefaults, getOptional, keyedPayload, type FileDefaults } from "@/server/volume/plugins/payload-files";
import { newPayloadPlugin } from "@/server/volume/plugins/payload-volume";

const secretPluginName = "kubernetes.io/secret";

export function newSecretPlugin(config: FeaturesConfig = {}): VolumePlugin {
  return newPayloadPlugin<SecretVolumeSource>(
    {
      pluginName: secretPluginName,
      field: "secret",
      medium: "Memory",
      sourceOf: (spec) => {
        if (!spec.volume?.secret) throw new VolumeError("Spec does not reference a Secret volume type");
        return spec.volume.secret;
      },
      volumeName: (_, source) => source.secretName ?? "",
      collect: async ({ host, pod, source }) =>
        secretPayload(
          host,
          { name: source.secretName, items: source.items, optional: source.optional, namespace: pod.metadata.namespace ?? "" },
          () => fileDefaults(source, config.features),
        ),
      reconstructed: (volumeName) => ({ secret: { secretName: volumeName } }),
    },
    newHostSlot(secretPluginName),
  );
}

export type SecretPart = Pick<SecretVolumeSource, "items" | "optional"> & { readonly name?: string; readonly namespace: string };

/** As configMapPayload. Values never stand in an error. */
export async function secretPayload(host: VolumeHost, part: SecretPart, defaults: () => FileDefaults): Promise<Payload> {
  const optional = part.optional ?? false;
  const secret = await getOptional(optional, () => host.getSecretFunc()(part.namespace, part.name ?? ""));
  return keyedPayload(
    {
      values: secret ? secretValues(secret) : new Map(),
      items: part.items,
      optional,
      missing: (key) => `references non-existent secret key: ${key}`,
    },
    defaults(),
  );
}

/** The decoded values. Throws VolumeError for one that is not base64. */
function secretValues({ data, metadata }: Secret): ReadonlyMap<string, Uint8Array> {
  const values = new Map<string, Uint8Array>();
  for (const [key, text] of Object.entries(data ?? {})) {
    const bytes = base64Bytes(text);
    if (!bytes) throw new VolumeError(`secret ${metadata.namespace}/${metadata.name}: data.${key} is not base64`);
    values.set(key, bytes);
  }
  return values;
}
