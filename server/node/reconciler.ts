/**
 * Makes the volumes of this node what its pods want: restart-safe, one operation per volume at a time, retried with a growing
 * pause. It acts only on what `planWork` says; it never unmounts before it knows what is mounted and what is wanted.
 * Source: pkg/kubelet/volumemanager/reconciler of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import type { ActualState } from "@/server/node/actual-state";
import { mapVolume, unmapDevice, unmapVolume } from "@/server/node/block-operations";
import { desiredState, type DesiredState } from "@/server/node/desired-state";
import { unmountDevice } from "@/server/node/device-operations";
import { failureReasons, isOperationFailure, unprocessedMessage } from "@/server/node/events";
import { mountVolume, unmountVolume } from "@/server/node/mount-operations";
import type { OperationContext } from "@/server/node/operation-context";
import { removeOrphans, type Leftover } from "@/server/node/orphans";
import { PendingOperations } from "@/server/node/pending-operations";
import { planWork, type PlannedWork } from "@/server/node/plan";
import { reconstruct, reconstructAttached, type UnknownFolder } from "@/server/node/reconstruct";
import { removeStrays } from "@/server/node/strays";
import { resolveVolume, SharedNames, type ResolvedVolume } from "@/server/node/resolve-volume";
import { isWithin } from "@/server/volume/elapsed";
import { isNoPluginMatched } from "@/server/volume/errors";
import { cleanupMountPoint, cleanupTools } from "@/server/volume/mount-cleanup";
import { specName } from "@/server/volume/spec";

/** How often data that follows the API is read again, and folders of gone pods are looked for. */
const remountEveryMs = 60_000;
/** The kubelet gives a pod two minutes and three seconds, says what is missing, and begins again. */
const sayAgainMs = 123_000;

export interface ReconcilerOptions {
  readonly context: OperationContext;
  readonly nodeName: string;
  readonly snapshot: () => ClusterSnapshot;
  /** After each end of an operation, so that the owner runs `reconcile` again. */
  readonly onProgress: () => void;
  /** Volumes whose file system is to be grown while mounted; started like any other operation. */
  readonly expansions: (resolved: readonly ResolvedVolume[], actual: ActualState) => readonly Expansion[];
}

export interface Expansion {
  readonly volume: ResolvedVolume;
  run(): Promise<void>;
}

export interface UnresolvedVolume {
  readonly pod: Pod;
  readonly volumeName: string;
  readonly message: string;
}

/** What the last pass knew, for the report and for the pods' conditions. */
export interface NodePicture {
  readonly desired: DesiredState;
  readonly resolved: readonly ResolvedVolume[];
  /** Unprocessed by the populator, or without a plugin. */
  readonly unprocessed: readonly UnresolvedVolume[];
  readonly unknownFolders: readonly UnknownFolder[];
  readonly leftovers: readonly Leftover[];
}

const emptyPicture: NodePicture = {
  desired: { wanted: [], unprocessed: [], pods: new Map() },
  resolved: [],
  unprocessed: [],
  unknownFolders: [],
  leftovers: [],
};

export class Reconciler {
  readonly operations: PendingOperations;
  picture: NodePicture = emptyPicture;
  private readonly context: OperationContext;
  private readonly actual: ActualState;
  private unknownFolders: readonly UnknownFolder[] = [];
  private unknownCleaned = false;
  private straysCleaned = false;
  private lastRemountMs: number;
  private readonly names = new SharedNames();
  private readonly seenPods = new Map<string, string>();
  private readonly said = new Map<string, { text: string; atMs: number }>();

  constructor(private readonly options: ReconcilerOptions) {
    this.context = options.context;
    this.actual = options.context.actual;
    this.operations = new PendingOperations(this.clock, options.onProgress);
    this.lastRemountMs = this.clock.nowMs();
  }

  private get clock() {
    return this.context.host.ports.clock;
  }

  /** Once, before the first pass. */
  async findMounted(): Promise<void> {
    const { mounts, devices, unknown } = await reconstruct(this.context);
    mounts.forEach((mount) => this.actual.putMount(mount));
    devices.forEach((device) => this.actual.putDevice(device));
    this.unknownFolders = unknown;
    for (const [uniqueName, devicePath] of await this.context.attachments.list()) await this.findAttached(uniqueName, devicePath);
  }

  private async findAttached(uniqueName: string, devicePath: string): Promise<void> {
    const known = this.actual.device(uniqueName);
    try {
      this.actual.putDevice(known ? { ...known, devicePath, attached: "perhaps" } : await reconstructAttached(this.context, uniqueName, devicePath));
    } catch (error) {
      this.context.host.ports.log.error("an attached volume can't be named", error, { volume: uniqueName });
    }
  }

  /** One pass: starts what has to be done and does not wait for it. The snapshot must hold all pods, claims and volumes. */
  async reconcile(): Promise<void> {
    const desired = desiredState(this.options.snapshot(), this.options.nodeName);
    const { resolved, unprocessed } = await this.resolve(desired);
    await this.markRemounts(desired);
    const unresolved = new Set(unprocessed.map(({ pod, volumeName }) => `${pod.metadata.uid ?? ""}/${volumeName}`));
    this.adoptNames(resolved);
    const work = planWork({ desired, resolved, unresolved, actual: this.actual });
    this.picture = { ...this.picture, desired, resolved, unprocessed, unknownFolders: this.unknownFolders };
    this.forgetOldFailures(work);
    // Before anything is mounted: a device between its own mount and its first pod looks like a stray.
    await this.cleanStrays(desired);
    for (const one of work) this.begin(one);
    this.startExpansions(resolved);
    this.sayUnprocessed(desired, unprocessed);
    await this.cleanUp(desired);
  }

  /** When the next pass is due without any change. */
  nextDueMs(): number {
    return Math.min(this.operations.nextRetryMs() ?? Number.POSITIVE_INFINITY, this.lastRemountMs + remountEveryMs);
  }

  private async resolve(desired: DesiredState): Promise<{ resolved: ResolvedVolume[]; unprocessed: UnresolvedVolume[] }> {
    const resolved: ResolvedVolume[] = [];
    const unprocessed: UnresolvedVolume[] = [...desired.unprocessed];
    for (const wanted of desired.wanted) {
      try {
        resolved.push(await resolveVolume(this.context.manager, this.names, wanted));
      } catch (error) {
        unprocessed.push({ pod: wanted.pod, volumeName: wanted.volumeName, message: messageOf(error) });
        if (!isNoPluginMatched(error)) this.context.host.ports.log.error("a volume has no plugin", error, { volume: wanted.key });
      }
    }
    return this.withoutSecondUsers(resolved, unprocessed);
  }

  /** A ReadWriteOncePod volume belongs to the pod that has it mounted, else to the first that wants it. */
  private withoutSecondUsers(all: readonly ResolvedVolume[], unprocessed: UnresolvedVolume[]): { resolved: ResolvedVolume[]; unprocessed: UnresolvedVolume[] } {
    const holders = new Map<string, string>();
    const claimed = all.filter(({ spec }) => spec.persistentVolume?.spec.accessModes?.includes("ReadWriteOncePod"));
    const mounted = claimed.filter(({ podUID, uniqueName }) => this.actual.podMount(podUID, uniqueName) !== undefined);
    for (const { uniqueName, podUID } of [...mounted, ...claimed]) if (!holders.has(uniqueName)) holders.set(uniqueName, podUID);
    const isRefused = ({ uniqueName, podUID }: ResolvedVolume) => (holders.get(uniqueName) ?? podUID) !== podUID;
    const message = "volume uses the ReadWriteOncePod access mode and is already in use by another pod";
    const refused = all.filter(isRefused).map(({ pod, volumeName }) => ({ pod, volumeName, message }));
    return { resolved: all.filter((volume) => !isRefused(volume)), unprocessed: [...unprocessed, ...refused] };
  }

  /** A mount found on disk gets the name that the pod's spec has for it. */
  private adoptNames(resolved: readonly ResolvedVolume[]): void {
    for (const { podUID, uniqueName, volumeName } of resolved) {
      const mount = this.actual.podMount(podUID, uniqueName);
      if (mount && mount.volumeName === undefined) this.actual.putMount({ ...mount, volumeName });
    }
  }

  /** Pods that changed, and once a minute all: their plugins say which volumes follow the API. */
  private async markRemounts(desired: DesiredState): Promise<void> {
    const everyone = !isWithin(remountEveryMs, this.lastRemountMs, this.clock.nowMs());
    if (everyone) this.lastRemountMs = this.clock.nowMs();
    for (const mount of this.actual.mounts()) {
      const pod = desired.pods.get(mount.podUID);
      const version = pod?.metadata.resourceVersion ?? "";
      if (!pod || (!everyone && this.seenPods.get(mount.podUID) === version)) continue;
      if (await this.requiresRemount(mount.pluginName, mount.spec)) this.actual.requireRemount(mount);
    }
    for (const podUID of this.seenPods.keys()) if (!desired.pods.has(podUID)) this.seenPods.delete(podUID);
    for (const [podUID, pod] of desired.pods) this.seenPods.set(podUID, pod.metadata.resourceVersion ?? "");
  }

  private async requiresRemount(pluginName: string, spec: ResolvedVolume["spec"]): Promise<boolean> {
    try {
      return await (await this.context.manager.findPluginByName(pluginName)).requiresRemount(spec);
    } catch {
      return false;
    }
  }

  private begin(work: PlannedWork): void {
    const { context, operations } = this;
    if (work.kind === "unmount") {
      const { mount } = work;
      const block = mount.mode === "Block";
      operations.start(mount.uniqueName, block ? "UnmapVolume" : "UnmountVolume", () => this.logging(mount, () => (block ? unmapVolume : unmountVolume)(context, mount)));
    } else if (work.kind === "unmount device") {
      const { device } = work;
      const block = device.mode === "Block";
      operations.start(device.uniqueName, block ? "UnmapDevice" : "UnmountDevice", () => this.logging(device, () => (block ? unmapDevice : unmountDevice)(context, device)));
    } else {
      const { volume } = work;
      const block = volume.mode === "Block";
      operations.start(volume.uniqueName, block ? "MapVolume" : "MountVolume", () =>
        this.saying(volume, () => (block ? mapVolume : mountVolume)(context, volume)),
      );
    }
  }

  private startExpansions(resolved: readonly ResolvedVolume[]): void {
    for (const { volume, run } of this.options.expansions(resolved, this.actual)) {
      this.operations.start(volume.uniqueName, "NodeExpandVolume", () => this.saying(volume, run));
    }
  }

  /** A failure becomes an event on the pod, where the kubelet makes one. */
  private async saying(volume: ResolvedVolume, run: () => Promise<void>): Promise<void> {
    try {
      await this.logging(volume, run);
    } catch (error) {
      const reason = isOperationFailure(error) ? failureReasons[error.prefix] : null;
      if (reason !== null) this.context.event(volume.pod, { type: "Warning", reason, message: messageOf(error) });
      throw error;
    }
  }

  private async logging({ uniqueName }: { readonly uniqueName: string }, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.context.host.ports.log.warn("an operation failed", { volume: uniqueName, error: messageOf(error) });
      throw error;
    }
  }

  /** What failed is shown as long as somebody wants it done. */
  private forgetOldFailures(work: readonly PlannedWork[]): void {
    const active = new Set(work.map((one) => (one.kind === "unmount" ? one.mount : one.kind === "mount" ? one.volume : one.device).uniqueName));
    for (const key of this.operations.keys()) {
      if (!active.has(key) && this.operations.report(key)?.name !== "NodeExpandVolume") this.operations.forget(key);
    }
  }

  private sayUnprocessed(desired: DesiredState, unprocessed: readonly UnresolvedVolume[]): void {
    const nowMs = this.clock.nowMs();
    for (const podUID of this.said.keys()) if (!desired.pods.has(podUID)) this.said.delete(podUID);
    for (const [podUID, volumes] of Map.groupBy(unprocessed, ({ pod }) => pod.metadata.uid ?? "")) {
      const pod = desired.pods.get(podUID);
      if (!pod) continue;
      const names = volumes.map((volume) => volume.volumeName);
      const unmounted = [...names, ...this.unmountedOf(podUID)];
      const text = unprocessedMessage({ unmounted, unprocessed: names }, volumes.map((volume) => volume.message));
      const before = this.said.get(podUID);
      if (before?.text === text && isWithin(sayAgainMs, before.atMs, nowMs)) continue;
      this.said.set(podUID, { text, atMs: nowMs });
      this.context.event(pod, { type: "Warning", reason: "FailedMount", message: text });
    }
  }

  private unmountedOf(podUID: string): readonly string[] {
    return this.picture.resolved
      .filter((volume) => volume.podUID === podUID && this.actual.podMount(podUID, volume.uniqueName)?.certainty !== "certain")
      .map((volume) => volume.volumeName);
  }

  /** Once after a restart: mounts of folders that no volume could be made of, unless their pod is there and mounts them anew. */
  private async cleanUnknown(desired: DesiredState): Promise<void> {
    if (this.unknownCleaned) return;
    this.unknownCleaned = true;
    const { host } = this.context;
    for (const folder of this.unknownFolders) {
      if (desired.pods.has(folder.podUID) || folder.mode === "Block") continue;
      host.ports.log.warn("Cleaning up mounts for volume that could not be reconstructed", { path: folder.path });
      await cleanupMountPoint(cleanupTools(host), folder.path, { extensive: false }).catch((error: unknown) => {
        host.ports.log.error("a mount could not be cleaned up", error, { path: folder.path });
      });
    }
  }

  /** Once after a restart: global mounts and folders that no volume refers to, as a process leaves them that ended between device and pod. */
  private async cleanStrays(desired: DesiredState): Promise<void> {
    if (this.straysCleaned) return;
    this.straysCleaned = true;
    const unprocessed = desired.unprocessed.map(({ volumeName }) => volumeName);
    const claimed = desired.unprocessed.map(({ pod, volumeName }) => claimedVolume(this.options.snapshot(), pod, volumeName));
    const wanted = desired.wanted.map((volume) => specName(volume.spec));
    await removeStrays(this.context.host, new Set([...wanted, ...unprocessed, ...claimed, ...this.actual.allDevices().map((device) => specName(device.spec))]));
  }

  /** Folders of no volume and of no pod go once nothing is left to do for them. */
  private async cleanUp(desired: DesiredState): Promise<void> {
    await this.cleanUnknown(desired);
    const busy = new Set(this.actual.mounts().map((mount) => mount.podUID));
    const leftovers = await removeOrphans(this.context, {
      isKept: (podUID) => desired.pods.has(podUID) || busy.has(podUID),
      known: this.picture.leftovers,
    });
    const left = new Set(leftovers.map((leftover) => leftover.podUID));
    const known = new Set(this.actual.mounts().map((mount) => mount.path));
    const stays = (podUID: string) => desired.pods.has(podUID) || busy.has(podUID) || left.has(podUID);
    this.unknownFolders = this.unknownFolders.filter(({ podUID, path }) => stays(podUID) && !known.has(path));
    this.picture = { ...this.picture, leftovers, unknownFolders: this.unknownFolders };
  }
}

/** The persistent volume that a volume of a pod had when it was last processed, by name; "" where nothing tells. */
function claimedVolume(snapshot: ClusterSnapshot, pod: Pod, volumeName: string): string {
  const { namespace = "", name = "" } = pod.metadata;
  return snapshot.podVolumeByKey.get(`${namespace}/${name}/${volumeName}`)?.claim?.spec.volumeName ?? "";
}
