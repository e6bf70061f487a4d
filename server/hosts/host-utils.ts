/** HostUtils over the ports. Source: pkg/volume/util/hostutil (hostutil.go, hostutil_linux.go) at v1.37.2. */
import { codeOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { VolumeError } from "@/server/volume/errors";
import type { HostFileType, HostUtils, MountInfo, MountInterface } from "@/server/volume/mount";
import type { Files } from "@/server/volume/ports";
import { fileError } from "./file-errors";
import { mountOf } from "./mount-queries";
import { baseName, isWithin, joinPath } from "./paths";

export interface PortHostUtilsOptions {
  readonly files: Files;
  readonly mounter: MountInterface;
  readonly seLinuxEnabled: () => Promise<boolean>;
  /** True when somebody holds the device, as an exclusive open would say. */
  readonly deviceOpened: (path: string) => Promise<boolean>;
}

/** Codes that mean a mount whose server or process is gone (mount.IsCorruptedMnt): something is there all the same. */
const corruptedMountCodes = ["ENOTCONN", "ESTALE", "EIO", "EACCES", "EHOSTDOWN"];

export class PortHostUtils implements HostUtils {
  constructor(private readonly options: PortHostUtilsOptions) {}

  async deviceOpened(path: string): Promise<boolean> {
    if (!(await this.pathIsDevice(path))) return false;
    return this.options.deviceOpened(path);
  }

  async pathIsDevice(path: string): Promise<boolean> {
    const type = await this.getFileType(path).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return "";
      throw error;
    });
    return type === "BlockDevice" || type === "CharDevice";
  }

  async getDeviceNameFromMount(mountPath: string, pluginMountDir: string): Promise<string> {
    const references = await this.options.mounter.getMountRefs(mountPath);
    if (references.length === 0) throw new VolumeError(`directory ${mountPath} is not mounted`);
    const base = joinPath(pluginMountDir, "mounts");
    const global = references.find((reference) => isWithin(base, reference));
    return global === undefined ? baseName(mountPath) : global.slice(base.length + 1);
  }

  /** Throws `path "/x" does not exist`, with code ENOENT, and the text of the real one for what is none of the types. */
  async getFileType(path: string): Promise<HostFileType> {
    const stat = await this.options.files.stat(path);
    switch (stat?.kind) {
      case undefined:
        throw missingPath(path);
      case "directory":
        return "Directory";
      case "file":
        return "File";
      case "socket":
        return "Socket";
      case "char-device":
        return "CharDevice";
      case "block-device":
        return "BlockDevice";
      default:
        throw new VolumeError("only recognise file, directory, socket, block device and character device");
    }
  }

  async pathExists(path: string): Promise<boolean> {
    try {
      return (await this.options.files.stat(path)) !== undefined;
    } catch (error) {
      if (corruptedMountCodes.includes(codeOf(error) ?? "")) return true;
      throw error;
    }
  }

  evalHostSymlinks(path: string): Promise<string> {
    return this.options.files.realPath(path);
  }

  async getOwner(path: string): Promise<{ readonly uid: number; readonly gid: number }> {
    const { uid, gid } = await this.need(path);
    return { uid, gid };
  }

  async getMode(path: string): Promise<number> {
    return (await this.need(path)).mode;
  }

  async getSELinuxSupport(path: string): Promise<boolean> {
    if (!(await this.options.seLinuxEnabled())) return false;
    return (await this.mountOf(path)).superOptions.includes("seclabel");
  }

  async getSELinuxMountContext(path: string): Promise<string> {
    if (!(await this.options.seLinuxEnabled())) return "";
    const option = (await this.mountOf(path)).superOptions.find((each) => each.startsWith("context="));
    return option === undefined ? "" : option.slice("context=".length).replaceAll(/^"+|"+$/g, "");
  }

  private async mountOf(path: string): Promise<MountInfo> {
    const row = mountOf(await this.options.mounter.mountInfo(), path);
    if (row === undefined) throw new VolumeError(`cannot find mount point for ${goQuote(path)}`);
    return row;
  }

  private async need(path: string): Promise<{ uid: number; gid: number; mode: number }> {
    const stat = await this.options.files.stat(path);
    if (stat === undefined) throw fileError("stat", path, "ENOENT");
    return stat;
  }
}

export function missingPath(path: string): Error & { code: string } {
  return Object.assign(new Error(`path ${goQuote(path)} does not exist`), { code: "ENOENT" });
}
