/**
 * The ports that the seed's hosts get in place of Go's standard library, each small. Adapters live in server/hosts; one
 * contract suite runs against every adapter. Errors of the operating system are FileError with Node's code and Go's text.
 */

/** The two members of AbortSignal that a port reads; a real one satisfies it. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An error of a system call: Node's code (`ENOENT`), Go's text (`open /x: no such file or directory`). */
export class FileError extends Error {
  readonly code: string;
  readonly path: string;

  constructor(code: string, message: string, path: string) {
    super(message);
    this.name = "FileError";
    this.code = code;
    this.path = path;
  }
}

export type FileKind = "file" | "directory" | "symlink" | "socket" | "fifo" | "block-device" | "char-device";

export interface FileStat {
  readonly kind: FileKind;
  /** Permission bits with set-uid, set-gid and sticky: 0 to 0o7777. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly sizeBytes: bigint;
  readonly modifiedMs: number;
  /** Device number of the file system it lies on, as `major:minor`. */
  readonly device: string;
  /** Block and character devices: the device that the node stands for, as `major:minor` (st_rdev). */
  readonly deviceNumber?: string;
  readonly inode: bigint;
}

export interface DirEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** What statfs(2) says. `type` is the magic number. */
export interface FsInfo {
  readonly type: bigint;
  readonly blockSizeBytes: bigint;
  readonly totalBytes: bigint;
  readonly freeBytes: bigint;
  readonly availableBytes: bigint;
  readonly inodes: bigint;
  readonly inodesFree: bigint;
}

/**
 * Files below the host's root and below paths a person allowed; anything else is refused (`code: "EACCES"`). Changes never
 * follow a symbolic link in any component. Calls on a path that may lie on a foreign mount have a time limit
 * (`code: "ETIMEDOUT"`).
 */
export interface Files {
  /** Follows links; undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Does not follow the last link; undefined when nothing is there. */
  lstat(path: string): Promise<FileStat | undefined>;
  /** Sorted by name. Throws ENOENT, ENOTDIR. */
  readDir(path: string): Promise<readonly DirEntry[]>;
  readFile(path: string): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  readLink(path: string): Promise<string>;
  /** Replaces or creates; the mode holds whatever the umask. */
  writeFile(path: string, data: Uint8Array | string, mode: number): Promise<void>;
  /** Makes an empty file; the mode holds whatever the umask. Throws EEXIST for whatever is there, a link that points nowhere too. */
  createFile(path: string, mode: number): Promise<void>;
  /** Makes what is missing; existing directories keep their mode. The umask (022) applies, as in Go's os.MkdirAll. */
  mkdirAll(path: string, mode: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  /** -1 leaves the owner or the group as it is. Never follows a link. */
  chown(path: string, uid: number, gid: number): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rmdir(path: string): Promise<void>;
  /** The one recursive delete: nothing to do when missing; refuses (`EBUSY`) while anything is mounted at or below. */
  removeAll(path: string): Promise<void>;
  statfs(path: string): Promise<FsInfo>;
  /** Bytes and inodes used below a directory on its own file system (du -x). */
  usage(path: string): Promise<{ readonly usedBytes: bigint; readonly inodesUsed: bigint }>;
  realPath(path: string): Promise<string>;
}

export interface ExecResult {
  /** Undefined when ended by a signal or a time-out. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** stdout and stderr in the order they came; cut at the limit. */
  readonly output: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
  /** What went wrong beside the program's own end, in the system's words, such as a pipe that could not be read. */
  readonly failure?: string;
}

export interface ExecOptions {
  readonly timeoutMs: number;
  readonly maxOutputBytes?: number;
  readonly cwd?: string;
  readonly signal?: CancelSignal;
}

/**
 * Runs a program: clean environment (PATH, LC_ALL=C), own process group, time and output limits; never through a shell;
 * arguments are never logged. A program that ends with an exit code is a result, not an error.
 */
export interface Exec {
  /** Throws FileError ENOENT or EACCES when the program can't be started. */
  run(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
}

export interface FormatCheck {
  /** "" when nothing is recognised. */
  readonly fsType: string;
}

/** Tools for block devices. Only devices that are the host's own or that a person allowed; anything else is EACCES. */
export interface BlockTools {
  /** blkid; "" only when blkid recognised nothing (its exit code 2). */
  probe(devicePath: string): Promise<FormatCheck>;
  /** mkfs, only when probe finds nothing and the first and last MiB are zero; else throws `code: "EEXIST"`. */
  format(devicePath: string, fsType: string, options: readonly string[]): Promise<void>;
  /** fsck in preen mode; throws VolumeError with the tool's whole output when it found what it could not mend. */
  check(devicePath: string, fsType: string): Promise<void>;
  /** Grows the file system on a device to the device's size (xfs_growfs, resize2fs, btrfs). True when it was grown or fits. */
  grow(devicePath: string, mountPath: string): Promise<boolean>;
  sizeBytes(devicePath: string): Promise<bigint>;
}

export interface WatchEvent {
  readonly path: string;
  readonly kind: "create" | "remove" | "rename" | "write" | "chmod";
}

export interface WatchHandle {
  close(): Promise<void>;
}

/** Watches directories recursively. Events may be merged; an overflow is reported as an error and the watch goes on. */
export interface Watcher {
  watch(
    path: string,
    handlers: { onEvent(event: WatchEvent): void; onError(error: unknown): void },
  ): Promise<WatchHandle>;
}

export interface Clock {
  nowMs(): number;
  /** Resolves after the time, or at once with an error of code "ABORT_ERR" when the signal fires. */
  sleep(ms: number, signal?: CancelSignal): Promise<void>;
}

export interface Random {
  /** 0 <= x < 1 */
  next(): number;
  uuid(): string;
}

export interface Log {
  info(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  warn(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  error(message: string, error: unknown, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

/** Hashes that names are made of; the framework itself may use no Node API. */
export interface Hash {
  sha256Hex(text: string): string;
}

export interface HostPorts {
  readonly files: Files;
  readonly exec: Exec;
  readonly blockTools: BlockTools;
  readonly watcher: Watcher;
  readonly clock: Clock;
  readonly random: Random;
  readonly hash: Hash;
  readonly log: Log;
}
