import type { MountRequest } from "@/server/volume/mount";

export interface MountAction {
  readonly op: "mount" | "unmount";
  readonly source: string;
  readonly target: string;
  readonly fsType: string;
  readonly options: readonly string[];
}

/** Returns what a call must fail with, or undefined. */
export type MountFailure = (request: MountRequest) => unknown;

export interface MountFailures {
  /** Thrown by mount as they are, after the call was logged. */
  readonly mount?: MountFailure;
  readonly unmount?: (target: string) => unknown;
  /** Thrown by isLikelyNotMountPoint and isMountPoint of this path, till it is unmounted. */
  readonly mountPointCheck?: Readonly<Record<string, unknown>>;
  readonly list?: unknown;
}

/** What was asked of a mounter, in order, failed calls included; and the failures a test wants. */
export class MountLog {
  readonly actions: MountAction[] = [];
  private readonly checkErrors: Map<string, unknown>;

  constructor(private readonly failures: MountFailures = {}) {
    this.checkErrors = new Map(Object.entries(failures.mountPointCheck ?? {}));
  }

  mount(request: MountRequest, target: string): void {
    const { source, fsType } = request;
    this.actions.push({ op: "mount", source, target, fsType, options: [...request.options, ...(request.sensitiveOptions ?? [])] });
    throwIfSet(this.failures.mount?.(request));
  }

  unmount(target: string): void {
    this.actions.push({ op: "unmount", source: "", target, fsType: "", options: [] });
    throwIfSet(this.failures.unmount?.(target));
    this.checkErrors.delete(target);
  }

  check(path: string): void {
    throwIfSet(this.checkErrors.get(path));
  }

  list(): void {
    throwIfSet(this.failures.list);
  }

  clear(): void {
    this.actions.length = 0;
  }
}

function throwIfSet(error: unknown): void {
  if (error !== undefined) throw error;
}
