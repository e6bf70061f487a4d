/** Source: pkg/volume/util/util.go (GetSecretForPV) of v1.37.2. */
import { base64Bytes } from "@/lib/bytes";
import { VolumeError } from "@/server/volume/errors";
import type { KubeClient } from "@/server/volume/host";

/** The bytes of a secret made for a plugin: its type must be the plugin's name. */
export async function getSecretForPV(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  pluginName: string,
  client: KubeClient | undefined,
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (!client) throw new VolumeError("cannot get kube client");
  const secret = await client.getSecret(namespace, name);
  if ((secret.type ?? "") !== pluginName) throw new VolumeError(`cannot get secret of type ${pluginName}`);
  return new Map(Object.entries(secret.data ?? {}).map(([key, text]) => [key, base64Bytes(text) ?? new Uint8Array()]));
}
