/**
 * Class voldeck-loop: disks that are sparse files of this machine behind loop devices. Plays the parts that an external
 * provisioner and an external resizer play elsewhere, with their statuses, conditions and events. The volume names a link in
 * the data folder, because a loop device may have another number after a restart of the machine.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import { goQuote } from "@/lib/go-text";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { storageOf } from "@/lib/kube/storage";
import { parseQuantity, type Quantity } from "@/lib/quantity";
import type { ClusterSnapshot } from "@/server/cluster/snapshot";
import { resourcePath } from "@/server/cluster/resources";
import type { OwnProvisioner } from "@/server/node/binder";
import { claimPath, claimSubject, volumePath, writeClaim, writeVolume } from "@/server/node/claim-writes";
import type { NodeClient } from "@/server/node/client";
import { controllerTarget } from "@/server/node/expansion";
import type { Controller } from "@/server/node/node";
import type { NodeEvent } from "@/server/node/recorder";
import * as resize from "@/server/node/resize-status";
import { VolumeError } from "@/server/volume/errors";
import type { Clock, Exec, Files } from "@/server/volume/ports";

const loopProvisioner = "voldeck.dev/loop";
const provisionedBy = "pv.kubernetes.io/provisioned-by";
const resizerComponent = `external-resizer ${loopProvisioner}`;
/** What mkfs.xfs accepts. */
const smallestXfsBytes = 300n * 1024n * 1024n;
const truncateTimeoutMs = 30_000;

/** Loop devices over files; server/hosts/linux has the real ones. */
export interface LoopPort {
  /** The device over a file: the one that is there, or a new one. */
  attach(file: string): Promise<string>;
  refreshSize(device: string): Promise<void>;
  detach(device: string): Promise<void>;
  find(file: string): Promise<readonly string[]>;
}

export interface LoopDisksOptions {
  /** Where files and links lie; below the host's root. */
  readonly folder: string;
  readonly nodeName: string;
  readonly client: NodeClient;
  readonly recorder: { record(event: NodeEvent): void };
  readonly files: Files;
  readonly exec: Exec;
  readonly clock: Clock;
  /** Absent: why there can be none, such as "a loop device needs root". */
  readonly loop: LoopPort | { readonly missing: string };
  readonly isInUse: (volumeName: string) => boolean;
  readonly point: (name: string) => void;
}

interface Said {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly component: string;
}

export class LoopDisks implements OwnProvisioner, Controller {
  readonly name = loopProvisioner;
  /** Loop volumes that were attached by this process, by name. */
  private readonly attached = new Set<string>();
  private readonly said = new Map<string, string>();

  constructor(private readonly options: LoopDisksOptions) {}

  // Provisioning

  async provision(claim: PersistentVolumeClaim, storageClass: StorageClass): Promise<void> {
    const loop = this.requireLoop();
    const name = `pvc-${claim.metadata.uid ?? ""}`;
    const size = parseQuantity(storageOf(claim.spec.resources?.requests) ?? "");
    const fsType = storageClass.parameters?.["fstype"] ?? "xfs";
    if (fsType === "xfs" && claim.spec.volumeMode !== "Block" && size.ceilValue() < smallestXfsBytes) {
      throw new VolumeError(`an XFS file system needs at least ${smallestXfsBytes} bytes, ${size.toString()} were asked for`);
    }
    this.say(claim, { type: "Normal", reason: "Provisioning", message: `External provisioner is provisioning volume for claim ${goQuote(keyOf(claim))}`, component: loopProvisioner });
    await this.requireSpace(size.ceilValue());
    await this.options.files.mkdirAll(this.options.folder, 0o700);
    await this.makeFile(name, size.ceilValue());
    this.options.point("provision-after-file");
    await this.attach(loop, name);
    this.options.point("provision-after-device");
    await this.createVolume(this.volumeFor(claim, storageClass, { name, size, fsType }));
    this.options.point("provision-after-volume");
    this.say(claim, { type: "Normal", reason: "ProvisioningSucceeded", message: `Successfully provisioned volume ${name}`, component: loopProvisioner });
  }

  private volumeFor(claim: PersistentVolumeClaim, storageClass: StorageClass, disk: { name: string; size: Quantity; fsType: string }): PersistentVolume {
    const { name, namespace, uid } = claim.metadata;
    const volumeMode = claim.spec.volumeMode ?? "Filesystem";
    const hostname = { key: "kubernetes.io/hostname", operator: "In", values: [this.options.nodeName] };
    return {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: disk.name, annotations: { [provisionedBy]: loopProvisioner } },
      spec: {
        capacity: { storage: disk.size.toString() },
        accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
        claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid },
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
        storageClassName: storageClass.metadata.name,
        ...(storageClass.mountOptions ? { mountOptions: storageClass.mountOptions } : {}),
        volumeMode,
        local: { path: this.linkOf(disk.name), ...(volumeMode === "Filesystem" ? { fsType: disk.fsType } : {}) },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [hostname] }] } },
      },
    };
  }

  private async createVolume(volume: PersistentVolume): Promise<void> {
    try {
      await this.options.client.create(resourcePath("persistentvolumes"), volume);
    } catch (error) {
      if (codeOf(error) !== "conflict") throw error;
    }
  }

  /** Detach before the file goes; a device in use keeps both. */
  async remove(volume: PersistentVolume): Promise<void> {
    const name = volume.metadata.name ?? "";
    const loop = this.requireLoop();
    if (this.options.isInUse(name)) throw new VolumeError(`the volume ${goQuote(name)} is still mounted on ${this.options.nodeName}`);
    const file = this.fileOf(name);
    const { files, client } = this.options;
    if (await files.lstat(file)) {
      for (const device of await loop.find(file)) await loop.detach(device);
      this.options.point("remove-after-detach");
      await files.unlink(file);
      this.options.point("remove-after-file");
    }
    if (await files.lstat(this.linkOf(name))) await files.unlink(this.linkOf(name));
    this.attached.delete(name);
    this.options.point("remove-after-link");
    await client.delete(volumePath(name));
    this.options.point("remove-after-volume");
  }

  // Keeping attached, and growing

  async step(snapshot: ClusterSnapshot): Promise<void> {
    const { loop } = this.options;
    if ("missing" in loop) return;
    for (const volume of snapshot.persistentVolumes.values()) {
      if (!this.isOurs(volume)) continue;
      await this.keepAttached(loop, volume.metadata.name ?? "");
      const { namespace = "", name = "", uid } = volume.spec.claimRef ?? {};
      const claim = snapshot.claims.get(`${namespace}/${name}`);
      if (claim && claim.metadata.uid === uid) await this.grow(loop, claim, volume);
    }
  }

  private isOurs(volume: PersistentVolume): boolean {
    const name = volume.metadata.name ?? "";
    return volume.metadata.annotations?.[provisionedBy] === loopProvisioner && volume.spec.local?.path === this.linkOf(name);
  }

  private async keepAttached(loop: LoopPort, name: string): Promise<void> {
    if (this.attached.has(name) || !(await this.options.files.lstat(this.fileOf(name)))) return;
    await this.attach(loop, name);
  }

  /** The resizer's part (resize.md C3, steps 2 to 4): statuses first, then file, device, volume, and the node's turn. */
  private async grow(loop: LoopPort, known: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    if (!controllerTarget(known)) return;
    const { client } = this.options;
    const claim = await client.get<PersistentVolumeClaim>(claimPath(known));
    const size = controllerTarget(claim);
    if (!size) return;
    const now = `${new Date(this.options.clock.nowMs()).toISOString().slice(0, 19)}Z`;
    const name = volume.metadata.name ?? "";
    const begun = await writeClaim(client, claim, resize.markControllerResizeInProgress(claim, loopProvisioner, { size, now }));
    this.options.point("grow-after-mark");
    this.say(claim, { type: "Normal", reason: "Resizing", message: `External resizer is resizing volume ${name}`, component: resizerComponent });
    try {
      await this.growDisk(loop, name, size.ceilValue());
    } catch (error) {
      const message = `resize volume ${goQuote(name)} by resizer ${goQuote(loopProvisioner)} failed: ${messageOf(error)}`;
      this.say(claim, { type: "Warning", reason: "VolumeResizeFailed", message, component: resizerComponent });
      if (codeOf(error) === "infeasible") await this.markInfeasible(begun, messageOf(error), now);
      return;
    }
    await writeVolume(client, resize.updatePVSize(volume, size));
    this.options.point("grow-after-volume");
    await this.handOver(begun, volume, { size, now });
  }

  private async handOver(claim: PersistentVolumeClaim, volume: PersistentVolume, to: { size: Quantity; now: string }): Promise<void> {
    const { client } = this.options;
    if (volume.spec.volumeMode === "Block") {
      await writeClaim(client, claim, resize.markResizeFinished(claim, to.size));
      this.options.point("grow-after-finish");
      return this.say(claim, { type: "Normal", reason: "VolumeResizeSuccessful", message: "Resize volume succeeded", component: resizerComponent });
    }
    await writeClaim(client, claim, resize.markForFSResize(claim, to.now));
    this.options.point("grow-after-hand-over");
    this.say(claim, { type: "Normal", reason: "FileSystemResizeRequired", message: "Require file system resize of volume on node", component: resizerComponent });
  }

  private async growDisk(loop: LoopPort, name: string, sizeBytes: bigint): Promise<void> {
    const stat = await this.options.files.lstat(this.fileOf(name));
    if (!stat) throw new VolumeError(`the file of disk ${name} is gone`);
    if (stat.sizeBytes < sizeBytes) {
      await this.requireSpace(sizeBytes - stat.sizeBytes);
      await this.truncate(this.fileOf(name), sizeBytes);
    }
    this.options.point("grow-after-file");
    const device = await this.attach(loop, name);
    await loop.refreshSize(device);
    this.options.point("grow-after-device");
  }

  /** As the resizer marks a final refusal: the person may ask for less. */
  private async markInfeasible(claim: PersistentVolumeClaim, message: string, now: string): Promise<void> {
    const condition = { type: "ControllerResizeError", status: "True", message, lastTransitionTime: now };
    const status = { allocatedResourceStatuses: { storage: "ControllerResizeInfeasible" }, conditions: [condition] };
    const { resourceVersion } = claim.metadata;
    await this.options.client.patch(claimPath(claim, "status"), { type: "strategic", body: { metadata: { resourceVersion }, status } });
  }

  // Files and devices

  private requireLoop(): LoopPort {
    const { loop } = this.options;
    if ("missing" in loop) throw new VolumeError(loop.missing);
    return loop;
  }

  /** Sparse files promise more than they take; a promise that the file system could not keep is refused. */
  private async requireSpace(bytes: bigint): Promise<void> {
    const folder = (await this.options.files.lstat(this.options.folder)) ? this.options.folder : parentOf(this.options.folder);
    const { availableBytes } = await this.options.files.statfs(folder);
    if (bytes <= availableBytes) return;
    throw new VolumeError(`${bytes} bytes more are asked for, ${availableBytes} are free below ${this.options.folder}`, "infeasible");
  }

  /** A file that an earlier try made is kept and never made smaller. */
  private async makeFile(name: string, sizeBytes: bigint): Promise<void> {
    const file = this.fileOf(name);
    const stat = await this.options.files.lstat(file);
    if (!stat) await this.options.files.createFile(file, 0o600);
    this.options.point("provision-before-size");
    if ((stat?.sizeBytes ?? 0n) < sizeBytes) await this.truncate(file, sizeBytes);
  }

  private async truncate(file: string, sizeBytes: bigint): Promise<void> {
    const result = await this.options.exec.run("truncate", ["--no-create", `--size=${sizeBytes}`, "--", file], { timeoutMs: truncateTimeoutMs });
    if (result.exitCode !== 0) throw new VolumeError(`truncate of ${file} failed: ${result.output.trim()}`, /too large/i.test(result.output) ? "infeasible" : "volume-error");
  }

  private async attach(loop: LoopPort, name: string): Promise<string> {
    const { files } = this.options;
    const device = await loop.attach(this.fileOf(name));
    this.options.point("disk-after-attach");
    const link = this.linkOf(name);
    const there = await files.lstat(link);
    if (!there || (await files.readLink(link)) !== device) {
      if (there) await files.unlink(link);
      await files.symlink(device, link);
    }
    this.attached.add(name);
    return device;
  }

  private fileOf(name: string): string {
    return joinPath(this.options.folder, `${name}.img`);
  }

  private linkOf(name: string): string {
    return joinPath(this.options.folder, name);
  }

  private say(claim: PersistentVolumeClaim, said: Said): void {
    const key = `${claim.metadata.uid ?? ""} ${said.reason}`;
    const text = `${said.message} ${storageOf(claim.spec.resources?.requests) ?? ""}`;
    if (this.said.get(key) === text) return;
    this.said.set(key, text);
    this.options.recorder.record({ subject: claimSubject(claim), ...said });
  }
}

function keyOf(claim: PersistentVolumeClaim): string {
  return `${claim.metadata.namespace ?? ""}/${claim.metadata.name ?? ""}`;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
