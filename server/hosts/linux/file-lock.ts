/**
 * A lock that the kernel holds (flock(2)) and gives back when its process ends, however that ends, and that counts in every PID
 * namespace. Node has no call for it: flock(1) takes it on a descriptor that it shares with us, and it stays with ours.
 */
import { spawn } from "node:child_process";
import { open, stat } from "node:fs/promises";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { AppError, codeOf } from "@/lib/errors";
import { cleanEnvironment } from "./exec";

/** What flock(1) ends with when another holds the lock. */
const held = 1;

/** A handle that nobody refers to is closed by Node some day, and the lock would go with it. */
const locks = new Set<FileHandle>();

/**
 * Opens the file, made (0600) when missing, and locks it; the lock lasts until `unlockFile` or the end of this process. undefined when
 * another holds it, in this process or any other. Throws AppError `precondition` when the machine can't lock.
 */
export async function lockFile(path: string): Promise<FileHandle | undefined> {
  for (;;) {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    try {
      if (!(await take(file.fd))) {
        await file.close();
        return undefined;
      }
      // Its last holder may have removed the name between our opening and our lock: then it is nobody's lock any more.
      if (await isAt(file, path)) {
        locks.add(file);
        return file;
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
  }
}

export async function unlockFile(file: FileHandle): Promise<void> {
  locks.delete(file);
  await file.close();
}

/** False when another holds it. */
function take(fd: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn("flock", ["--exclusive", "--nonblock", "3"], { stdio: ["ignore", "ignore", "pipe", fd], env: cleanEnvironment });
    let words = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      words += chunk.toString("utf8");
    });
    const refuse = (why: string, cause?: unknown) => reject(new AppError("precondition", `the data folder can't be locked: ${why}`, { cause }));
    child.once("error", (error) => refuse(codeOf(error) === "ENOENT" ? "flock(1) is missing; it comes with util-linux" : error.message, error));
    child.once("close", (code) => {
      if (code === 0 || code === held) resolve(code === 0);
      else refuse(words.trim() === "" ? `flock ended with code ${String(code)}` : words.trim());
    });
  });
}

async function isAt(file: FileHandle, path: string): Promise<boolean> {
  const [ours, there] = await Promise.all([
    file.stat({ bigint: true }),
    stat(path, { bigint: true }).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw error;
    }),
  ]);
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}
