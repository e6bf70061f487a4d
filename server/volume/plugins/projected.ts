/** `kubernetes.io/projected`: several sources in one directory. Source: pkg/volume/projected/projected.go of v1.37.2. */
import type { Pod } from "@/lib/kube/pods";
import type {
  ClusterTrustBundleProjection,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "@/lib/kube/volumes";
import type { FileProjection, Payload } from "@/server/volume/atomic-writer";
import { aggregate, nilDereference, VolumeError } from "@/server/volume/errors";
import type { KubeletVolumeHost, VolumeHost } from "@/server/volume/host";
import type { VolumePlugin } from "@/server/volume/plugin";
import { configMapPayload } from "@/server/volume/plugins/configmap";
import { downwardPayload } from "@/server/volume/plugins/downward-api";
import type { FeaturesConfig } from "@/server/volume/plugins/features";
import { newHostSlot, requireKubelet } from "@/server/volume/plugins/host-slot";
import { fileDefaults, userOf, type FileDefaults } from "@/server/volume/plugins/payload-files";
import { newPayloadPlugin, type PayloadVolume } from "@/server/volume/plugins/payload-volume";
import { secretPayload } from "@/server/volume/plugins/secret";
import { specName } from "@/server/volume/spec";
import type { MounterArgs } from "@/server/volume/volume";

const projectedPluginName = "kubernetes.io/projected";

export function newProjectedPlugin(config: FeaturesConfig = {}): VolumePlugin {
  const slot = newHostSlot(projectedPluginName);
  return newPayloadPlugin<ProjectedVolumeSource>(
    {
      pluginName: projectedPluginName,
      field: "projected",
      medium: "Memory",
      sourceOf: (spec) => {
        if (!spec.volume?.projected) throw new VolumeError("spec does not reference a projected volume type");
        return spec.volume.projected;
      },
      volumeName: specName,
      collect: (volume, args) => collect(volume, args, config),
      reconstructed: () => ({ projected: {} }),
      afterTearDown: (host, podUID) => host.deleteServiceAccountTokenFunc()(podUID),
    },
    { ...slot, init: async (host) => slot.init(requireKubeletHost(host)) },
  );
}

/** The real one crashes on a host of a controller; ours says why it can't be there. */
function requireKubeletHost(host: VolumeHost | undefined): KubeletVolumeHost {
  if (!host) throw nilDereference(`the host of plugin ${projectedPluginName}`);
  return requireKubelet(host);
}

/** Later sources win where two have the same path. Throws the errors of all sources together. */
async function collect(volume: PayloadVolume<ProjectedVolumeSource>, args: MounterArgs, config: FeaturesConfig): Promise<Payload> {
  const defaults = fileDefaults(volume.source, config.features);
  if (!volume.host.getKubeClient()) {
    throw new VolumeError(`cannot setup projected volume ${volume.name} because kube client is not configured`);
  }
  const projection: Projection = { host: requireKubelet(volume.host), pod: volume.pod, volumeName: volume.name, defaults, args };
  const payload = new Map<string, FileProjection>();
  const errors: unknown[] = [];
  for (const [index, source] of (volume.source.sources ?? []).entries()) {
    try {
      for (const [path, file] of await project(projection, source, index)) payload.set(path, file);
    } catch (error) {
      errors.push(error);
    }
  }
  const failure = aggregate(errors);
  if (failure) throw failure;
  return payload;
}

interface Projection {
  readonly host: KubeletVolumeHost;
  readonly pod: Pod;
  readonly volumeName: string;
  readonly defaults: FileDefaults;
  readonly args: MounterArgs;
}

async function project(projection: Projection, source: VolumeProjection, index: number): Promise<Payload> {
  const { host, pod, defaults } = projection;
  const namespace = pod.metadata.namespace ?? "";
  if (source.secret) return secretPayload(host, { ...source.secret, namespace }, () => defaults);
  if (source.configMap) return configMapPayload(host, { ...source.configMap, namespace }, () => defaults);
  if (source.downwardAPI) return downwardPayload(host, { items: source.downwardAPI.items, pod }, defaults);
  if (source.serviceAccountToken) return tokenPayload(projection, source.serviceAccountToken);
  if (source.clusterTrustBundle) return trustBundlePayload(projection, source.clusterTrustBundle);
  if (source.podCertificate) return certificatePayload(projection, source.podCertificate, index);
  return new Map();
}

async function tokenPayload(projection: Projection, source: ServiceAccountTokenProjection): Promise<Payload> {
  const { host, pod } = projection;
  const { name = "", namespace = "", uid = "" } = pod.metadata;
  const { token } = await host.getServiceAccountTokenFunc()(namespace, pod.spec.serviceAccountName ?? "", {
    audiences: source.audience ? [source.audience] : [],
    ...(source.expirationSeconds !== undefined && { expirationSeconds: source.expirationSeconds }),
    boundObjectRef: { kind: "Pod", apiVersion: "v1", name, uid },
  });
  return new Map([[source.path, credentialFile(projection, token, source.user)]]);
}

async function trustBundlePayload(projection: Projection, source: ClusterTrustBundleProjection): Promise<Payload> {
  const allowMissing = source.optional ?? false;
  const anchors = await trustAnchors();
  return new Map([[source.path, credentialFile(projection, anchors, source.user)]]);

  function trustAnchors(): Promise<string> {
    const { host } = projection;
    if (source.name !== undefined) return host.getTrustAnchorsByName(source.name, allowMissing);
    if (source.signerName !== undefined) return host.getTrustAnchorsBySigner(source.signerName, source.labelSelector, allowMissing);
    throw new VolumeError("ClusterTrustBundle projection requires either name or signerName to be set");
  }
}

async function certificatePayload(projection: Projection, source: PodCertificateProjection, sourceIndex: number): Promise<Payload> {
  const { name: podName = "", namespace = "", uid: podUID = "" } = projection.pod.metadata;
  const { volumeName } = projection;
  const request = { namespace, podName, podUID, volumeName, sourceIndex };
  const { privateKey, certificateChain } = await projection.host.getPodCertificateCredentialBundle(request);
  const contents: readonly (readonly [path: string | undefined, content: string])[] = [
    [source.credentialBundlePath, privateKey + certificateChain],
    [source.keyPath, privateKey],
    [source.certificateChainPath, certificateChain],
  ];
  return new Map(contents.flatMap(([path, content]) => (path ? [[path, credentialFile(projection, content, source.user)] as const] : [])));
}

/** With an owner or a group the file is nobody else's; setVolumeOwnership then lets the group read. */
function credentialFile({ defaults, args }: Projection, data: string, ownUser: number | undefined): FileProjection {
  const fsUser = userOf(ownUser, defaults) ?? args.fsUser;
  const closed = fsUser !== undefined || args.fsGroup !== undefined;
  return { data, mode: closed ? 0o600 : defaults.mode, ...(fsUser !== undefined && { fsUser }) };
}
