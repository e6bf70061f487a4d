/** Mounts on this machine, by mount(8) and umount(8). Texts: k8s.io/mount-utils v0.37.2. */
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { fileError, refusedError } from "@/server/hosts/file-errors";
import { formatAndMount } from "@/server/hosts/format-and-mount";
import { asMountPoint, searchMountPoints, topMountAt } from "@/server/hosts/mount-queries";
import { mountArguments, mountFailed, needsBindRemount, splitBind, unmountFailed } from "@/server/hosts/mount-texts";
import { cleanPath } from "@/server/hosts/paths";
import { VolumeError } from "@/server/volume/errors";
import type { MountInfo, MountInterface, MountPoint, MountRequest } from "@/server/volume/mount";
import type { BlockTools, Exec, ExecResult } from "@/server/volume/ports";
import type { Access } from "./access";
import { requireDiskMount } from "./disk-mounts";
import { endOf } from "./exec";
import type { LinuxFiles } from "./files";
import { pathFlag } from "./local-files";
import type { MountReader } from "./mount-reader";

export interface LinuxMounterOptions {
  readonly access: Access;
  readonly files: LinuxFiles;
  readonly mounts: MountReader;
  readonly exec: Exec;
  readonly blockTools: BlockTools;
  /** Put before mount and umount to run them in another mount namespace: `nsenter -t PID ...`. */
  readonly enter?: readonly string[];
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 120_000;
/** File systems whose mount(8) needs no helper program and takes any source text. */
const withoutSource = ["tmpfs", "hugetlbfs", "ramfs"];

export class LinuxMounter implements MountInterface {
  constructor(private readonly options: LinuxMounterOptions) {}

  async mount(request: MountRequest): Promise<void> {
    await this.guard(request);
    const parts = splitBind(request) ?? [request];
    const [first, second] = parts;
    await this.mountOnce(first);
    if (second === undefined || !needsBindRemount(request)) return;
    try {
      await this.mountOnce(second);
    } catch (error) {
      // A bind that was to be read-only must not stay writable.
      await this.unmount(request.target);
      throw error;
    }
  }

  async unmount(target: string): Promise<void> {
    const { access, enter, files, mounts } = this.options;
    const placed = access.place(target);
    if (placed === undefined) throw refusedError("umount", target);
    // What is not mounted is as good as unmounted (mount-utils forgives it too), and umount(8), which would follow a link that somebody
    // put there, is not even called. What is mounted can't be swapped for a link.
    if (topMountAt(await mounts.read(), placed) === undefined) {
      if ((await files.lstat(target)) !== undefined) return;
      throw unmountFailed(target, "exit status 32", `umount: ${target}: no mount point specified.\n`);
    }
    const place = await files.walker.walk({ op: "umount", path: target, parents: "refuse", last: "keep" });
    try {
      // Through the open parent; a handle to the mount itself would keep it busy.
      const at = place.kind === "local" && enter === undefined ? `/proc/${process.pid}/fd/${place.holder.fd}/${place.name}` : target;
      const result = await this.run("umount", at === target ? [target] : ["--no-canonicalize", at]);
      mounts.forget();
      if (result.exitCode === 0) return;
      const output = result.output.replaceAll(at, target);
      if (!output.includes("not mounted")) throw unmountFailed(target, endOf(result), output);
    } finally {
      await place.close();
    }
  }

  async list(): Promise<readonly MountPoint[]> {
    return (await this.mountInfo()).map(asMountPoint);
  }

  mountInfo(): Promise<readonly MountInfo[]> {
    return this.options.mounts.read();
  }

  async isLikelyNotMountPoint(path: string): Promise<boolean> {
    return !(await this.isMountPoint(path));
  }

  async isMountPoint(path: string): Promise<boolean> {
    const table = await this.options.mounts.read();
    // The table first: a mount whose server is gone answers no stat.
    if (topMountAt(table, cleanPath(path)) !== undefined) return true;
    const real = await this.options.files.realPath(path).catch((error: unknown) => {
      throw codeOf(error) === "ENOENT" ? fileError("stat", path, "ENOENT") : error;
    });
    return topMountAt(table, real) !== undefined;
  }

  async getMountRefs(path: string): Promise<readonly string[]> {
    const table = await this.options.mounts.read();
    if (topMountAt(table, cleanPath(path)) !== undefined) return searchMountPoints(table, cleanPath(path));
    if ((await this.options.files.stat(path)) === undefined) return [];
    return searchMountPoints(table, await this.options.files.realPath(path));
  }

  async formatAndMount(request: MountRequest): Promise<void> {
    await this.guard(request);
    await formatAndMount(this, this.options.blockTools, request);
  }

  canSafelySkipMountPointCheck(): boolean {
    return true;
  }

  private async mountOnce(request: MountRequest): Promise<void> {
    const { files } = this.options;
    const handles: FileHandle[] = [];
    const through = async (path: string): Promise<string> => {
      const handle = await files.openPlace("mount", path, pathFlag | constants.O_NOFOLLOW);
      handles.push(handle);
      // In a namespace of our own user there is no access to our handles, and nobody of another user to guard against.
      return this.options.enter === undefined ? `/proc/${process.pid}/fd/${handle.fd}` : path;
    };
    const missing = (words: string) => (error: unknown) => {
      throw codeOf(error) === "ENOENT" ? mountFailed(request, "exit status 32", `mount: ${words}\n`) : error;
    };
    try {
      const target = await through(request.target).catch(missing(`${request.target}: mount point does not exist.`));
      if (!isBind(request) || request.options.includes("remount")) {
        return await this.call({ ...request, target: needsHelper(request) ? request.target : target }, request);
      }
      // A source may lead through links; where it ends must be allowed, and that end is what gets bound.
      const real = await files.realPath(request.source).catch(missing(`${request.target}: special device ${request.source} does not exist.`));
      await this.call({ ...request, source: await through(real), target }, request);
    } finally {
      for (const handle of handles) await handle.close();
    }
  }

  /** `actual` is what mount(8) gets; errors speak of what was asked. */
  private async call(actual: MountRequest, asked: MountRequest): Promise<void> {
    const { args } = mountArguments(actual);
    const result = await this.run("mount", actual.target === asked.target ? args : ["--no-canonicalize", ...args]);
    this.options.mounts.forget();
    if (result.exitCode === 0) return;
    let output = result.output;
    const shown = [[actual.target, asked.target], [actual.source, asked.source]] as const;
    // The longer first: one handle's number may begin with the other's.
    for (const [given, meant] of [...shown].sort((a, b) => b[0].length - a[0].length)) {
      if (given !== meant) output = output.replaceAll(given, meant);
    }
    for (const secret of asked.sensitiveOptions ?? []) output = output.replaceAll(secret, "<masked>");
    throw mountFailed(asked, endOf(result), output);
  }

  private async run(program: "mount" | "umount", args: readonly string[]): Promise<ExecResult> {
    const { enter = [], exec, timeoutMs = defaultTimeoutMs } = this.options;
    const [command = program, ...rest] = [...enter, program, ...args];
    return exec.run(command, rest, { timeoutMs });
  }

  private async guard(request: MountRequest): Promise<void> {
    if (request.source.startsWith("-") || request.target.startsWith("-")) throw new VolumeError(`mount: a path can't begin with a dash`, "refused");
    if (this.options.access.place(request.target) === undefined) throw refusedError("mount", request.target);
    const ofDevice = request.source.startsWith("/");
    if (request.options.includes("remount") || (withoutSource.includes(request.fsType) && !ofDevice)) return;
    if (isBind(request)) {
      if (this.options.access.place(request.source) === undefined) throw refusedError("mount", request.source);
      return;
    }
    if (ofDevice) {
      const real = await this.options.files.realPath(request.source).catch(() => request.source);
      if (await this.options.access.mayUseDevice(real)) return requireDiskMount(request);
    } else if (this.options.access.mayMountSource(request.source)) {
      return;
    }
    throw refusedError("mount", request.source);
  }
}

function isBind(request: MountRequest): boolean {
  return request.options.includes("bind") || request.options.includes("rbind");
}

/** Network file systems are mounted by programs of their own (mount.nfs), which want a real path. */
function needsHelper(request: MountRequest): boolean {
  return !isBind(request) && !withoutSource.includes(request.fsType) && !request.source.startsWith("/");
}
