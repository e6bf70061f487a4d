/**
 * A mounter that only keeps a table: the twin of mount-utils' FakeMounter (k8s.io/mount-utils v0.37.2, fake_mounter.go), which
 * Kubernetes' own plugin tests run on. Nothing covers a directory; statfs does not see what was mounted.
 */
import { fileError } from "@/server/hosts/file-errors";
import type { MountInfo, MountInterface, MountPoint, MountRequest } from "@/server/volume/mount";
import type { BlockTools, Files } from "@/server/volume/ports";
import { formatAndMount } from "@/server/hosts/format-and-mount";
import { MountLog } from "./mount-log";
import type { MountFailures } from "./mount-log";

export interface RecordingMounterOptions {
  readonly files: Files;
  readonly blockTools: BlockTools;
  readonly mounts?: readonly (Partial<MountPoint> & { readonly device: string; readonly path: string })[];
  readonly failures?: MountFailures;
  readonly skipMountPointCheck?: boolean;
}

export class RecordingMounter implements MountInterface {
  readonly log: MountLog;
  private table: MountPoint[];

  constructor(private readonly options: RecordingMounterOptions) {
    this.log = new MountLog(options.failures);
    this.table = (options.mounts ?? []).map((row) => ({ type: "", options: [], ...row }));
  }

  async mount(request: MountRequest): Promise<void> {
    const target = await this.resolve(request.target);
    this.log.mount(request, target);
    const bound = request.options.includes("bind") ? this.table.find((row) => row.path === request.source) : undefined;
    this.table.push({
      device: bound?.device ?? request.source,
      path: target,
      type: request.fsType,
      options: [...request.options, ...(request.sensitiveOptions ?? [])],
    });
  }

  async unmount(target: string): Promise<void> {
    const path = await this.resolve(target);
    this.log.unmount(path);
    this.table = this.table.filter((row) => row.path !== path);
  }

  async list(): Promise<readonly MountPoint[]> {
    this.log.list();
    return [...this.table];
  }

  /** Rows made from the table: the same device is the same file system. */
  async mountInfo(): Promise<readonly MountInfo[]> {
    this.log.list();
    const devices = [...new Set(this.table.map((row) => row.device))];
    return this.table.map((row, index) => ({
      id: 100 + index,
      parentId: 1,
      device: `0:${100 + devices.indexOf(row.device)}`,
      root: "/",
      mountPoint: row.path,
      mountOptions: row.options,
      propagation: [],
      fsType: row.type,
      source: row.device,
      superOptions: row.options,
    }));
  }

  async isLikelyNotMountPoint(path: string): Promise<boolean> {
    this.log.check(path);
    if ((await this.options.files.stat(path)) === undefined) throw fileError("stat", path, "ENOENT");
    const real = await this.resolve(path);
    return !this.table.some((row) => row.path === real);
  }

  async isMountPoint(path: string): Promise<boolean> {
    return !(await this.isLikelyNotMountPoint(path));
  }

  /** getMountRefsByDev: the other mounts of the same device, or of the path itself as a device. */
  async getMountRefs(path: string): Promise<readonly string[]> {
    const real = await this.resolve(path);
    const device = this.table.find((row) => row.path === real)?.device ?? "";
    return this.table
      .filter((row) => (row.device === device || row.device === real) && row.path !== real)
      .map((row) => row.path);
  }

  formatAndMount(request: MountRequest): Promise<void> {
    return formatAndMount(this, this.options.blockTools, request);
  }

  canSafelySkipMountPointCheck(): boolean {
    return this.options.skipMountPointCheck ?? false;
  }

  private async resolve(path: string): Promise<string> {
    try {
      return await this.options.files.realPath(path);
    } catch {
      return path;
    }
  }
}
