/** What this program may touch: its own root, its own loop devices, and what a person allowed. Everything else is refused. */
import { realpath } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { cleanPath, isWithin } from "@/server/hosts/paths";
import type { LoopTable } from "./loop-table";

export interface AccessOptions {
  /** Absolute, without links. */
  readonly root: string;
  readonly allowedPaths?: readonly string[];
  readonly allowedDevices?: readonly string[];
  /** Without it no loop device is the root's own. */
  readonly loops?: Pick<LoopTable, "isOwn">;
}

interface Allowed {
  /** As the person wrote it. */
  readonly given: string;
  /** Without links. */
  readonly real: string;
}

export class Access {
  private constructor(
    readonly root: string,
    private readonly paths: readonly Allowed[],
    private readonly devices: readonly Allowed[],
    private readonly loops: AccessOptions["loops"],
  ) {}

  static async create(options: AccessOptions): Promise<Access> {
    const paths = await Promise.all([options.root, ...(options.allowedPaths ?? [])].map(resolved));
    const devices = await Promise.all((options.allowedDevices ?? []).map(resolved));
    return new Access(cleanPath(options.root), paths, devices, options.loops);
  }

  /** The path with the links above an allowed folder undone, or undefined when it is outside of all of them. */
  place(path: string): string | undefined {
    const clean = cleanPath(path);
    for (const { given, real } of [...this.paths, ...this.devices]) {
      if (isWithin(real, clean)) return clean;
      if (isWithin(given, clean)) return real + clean.slice(given.length);
    }
    return undefined;
  }

  /** The outermost allowed folder that holds a placed path. Whatever lies above it is the machine's own and trusted. */
  baseOf(placed: string): string {
    const bases = [...this.paths, ...this.devices].map(({ real }) => real).filter((real) => isWithin(real, placed));
    return bases.sort((a, b) => a.length - b.length)[0] ?? placed;
  }

  /** True for the root and the allowed paths themselves: what is in them may go, they stay. */
  isBase(placed: string): boolean {
    return this.paths.some(({ real }) => real === placed);
  }

  /** A device that a person allowed, or a loop device whose file lies in the root. `device` has no links. */
  async mayUseDevice(device: string): Promise<boolean> {
    return this.devices.some(({ real }) => real === device) || (await this.loops?.isOwn(device)) === true;
  }

  /** A source of a mount that is neither path nor device, such as `server:/export`: allowed only word for word. */
  mayMountSource(source: string): boolean {
    return this.devices.some(({ given }) => given === source);
  }
}

async function resolved(given: string): Promise<Allowed> {
  // Something like `server:/export` is no path.
  if (!given.startsWith("/")) return { given, real: given };
  const clean = cleanPath(given);
  const real = await realpath(clean).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return clean;
    throw error;
  });
  return { given: clean, real };
}
