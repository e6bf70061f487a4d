/** System call errors in the two spellings that the ports promise: Node's code and the text Go prints for it. */
import { codeOf, isErrorNamed } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { FileError } from "@/server/volume/ports";

/** Go's names of errno values on linux/amd64 (syscall/zerrors_linux_amd64.go). */
const errnoTexts: Readonly<Record<string, string>> = {
  EPERM: "operation not permitted",
  ENOENT: "no such file or directory",
  EIO: "input/output error",
  ENXIO: "no such device or address",
  EBADF: "bad file descriptor",
  EAGAIN: "resource temporarily unavailable",
  ENOMEM: "cannot allocate memory",
  EACCES: "permission denied",
  ENOTBLK: "block device required",
  EBUSY: "device or resource busy",
  EEXIST: "file exists",
  EXDEV: "invalid cross-device link",
  ENODEV: "no such device",
  ENOTDIR: "not a directory",
  EISDIR: "is a directory",
  EINVAL: "invalid argument",
  EMFILE: "too many open files",
  ENFILE: "too many open files in system",
  ETXTBSY: "text file busy",
  EFBIG: "file too large",
  ENOSPC: "no space left on device",
  EROFS: "read-only file system",
  EMLINK: "too many links",
  ENAMETOOLONG: "file name too long",
  ENOTEMPTY: "directory not empty",
  ELOOP: "too many levels of symbolic links",
  ENOTSUP: "operation not supported",
  EOPNOTSUPP: "operation not supported",
  ENOTCONN: "transport endpoint is not connected",
  ETIMEDOUT: "connection timed out",
  EHOSTDOWN: "host is down",
  ESTALE: "stale NFS file handle",
  EUCLEAN: "structure needs cleaning",
  EDQUOT: "disk quota exceeded",
};

export function errnoText(code: string): string {
  return Object.hasOwn(errnoTexts, code) ? (errnoTexts[code] ?? code) : code;
}

/** Go's os.PathError: `open /x: no such file or directory`. */
export function fileError(op: string, path: string, code: string): FileError {
  return new FileError(code, `${op} ${path}: ${errnoText(code)}`, path);
}

/** A call with two paths. */
export interface LinkCall {
  readonly op: "rename" | "symlink";
  readonly from: string;
  readonly to: string;
}

/** Go's os.LinkError: `rename /a /b: file exists`. */
export function linkError({ op, from, to }: LinkCall, code: string): FileError {
  return new FileError(code, `${op} ${from} ${to}: ${errnoText(code)}`, to);
}

/** Go's bare errno, as unix.Statfs returns it. */
export function bareError(path: string, code: string): FileError {
  return new FileError(code, errnoText(code), path);
}

/** A path that is neither below the host's root nor allowed by a person. The code is EACCES, the text says whose refusal it is. */
export function refusedError(op: string, path: string): FileError {
  return new FileError("EACCES", `${op} ${path}: permission denied: outside the data folder and not allowed`, path);
}

/** An error of Node's fs as FileError; what is already one, or is no system call error, is handed back as it is. */
export function asFileError(error: unknown, op: string, path: string): unknown {
  if (isErrorNamed(error, "FileError")) return error;
  const code = codeOf(error);
  return code !== undefined && Object.hasOwn(errnoTexts, code) ? fileError(op, path, code) : error;
}

/** Go's text for a program that is not there, with a folder in its name or without. */
export function missingProgram(command: string): FileError {
  return command.includes("/")
    ? fileError("fork/exec", command, "ENOENT")
    : new FileError("ENOENT", `exec: ${goQuote(command)}: executable file not found in $PATH`, command);
}
