/**
 * Who may have put a driver there. This program runs drivers with its own rights, so nobody but root and its own user may be able to
 * write to the driver or to a folder above it. Ours; the kubelet trusts its folder.
 */
import { dirName } from "@/lib/go-path";
import { VolumeError } from "@/server/volume/errors";
import type { DriverCheck } from "@/server/volume/plugins/flexvolume/driver-call";
import type { FileStat, Files } from "@/server/volume/ports";

/** What the check looks with: it must see every folder up to the root. */
export type DriverInspector = Pick<Files, "lstat" | "realPath">;

const othersMayWrite = 0o022;
const sticky = 0o1000;

/**
 * A check that throws VolumeError `refused`, naming the path that is to blame. A driver that is missing passes: running it says so.
 * A sticky folder of root, such as /tmp, is allowed above the first folder that is the user's own. `trustedUids` are the owners
 * allowed: root and the user of this program.
 */
export function newDriverCheck(inspector: DriverInspector, trustedUids: readonly number[]): DriverCheck {
  const trusted = new Set(trustedUids);
  return async (executable) => {
    if (!(await inspector.lstat(executable))) return;
    await checkPath(inspector, trusted, executable);
    const real = await inspector.realPath(executable);
    if (real !== executable) await checkPath(inspector, trusted, real);
  };
}

/** From the driver up to the root. */
async function checkPath(inspector: DriverInspector, trusted: ReadonlySet<number>, executable: string): Promise<void> {
  for (let path = executable; ; path = dirName(path)) {
    const stat = await inspector.lstat(path);
    const why = stat ? whyNot(stat, trusted, path !== executable) : "it can't be looked at";
    if (why !== undefined) {
      const what = path === executable ? "" : `${path}: `;
      throw new VolumeError(`driver ${executable} is not run: ${what}${why}`, "refused");
    }
    if (path === "/" || path === ".") return;
  }
}

function whyNot(stat: FileStat, trusted: ReadonlySet<number>, isFolder: boolean): string | undefined {
  if (!trusted.has(stat.uid)) return `it belongs to user ${stat.uid}`;
  // The mode of a link says nothing; what it leads to is looked at on its own.
  if (stat.kind === "symlink" || (stat.mode & othersMayWrite) === 0) return undefined;
  const isStickyFolderOfRoot = isFolder && stat.uid === 0 && (stat.mode & sticky) !== 0;
  return isStickyFolderOfRoot ? undefined : `others may write to it (mode ${stat.mode.toString(8).padStart(4, "0")})`;
}
