/** The rows of a mount table at and below a kubelet's root, by the part of the root they lie in. */
import { joinPath } from "@/lib/go-path";
import type { MountInfo } from "@/server/volume/mount";

export class MountRows {
  /** In the table's order. */
  readonly all: readonly MountInfo[];
  /** Below `plugins`. */
  readonly ofPlugins: readonly MountInfo[];
  private readonly byPod = new Map<string, MountInfo[]>();
  private readonly onTop = new Map<string, MountInfo>();

  constructor(table: readonly MountInfo[], root: string) {
    this.all = table.filter((row) => isAtOrBelow(row.mountPoint, root));
    this.ofPlugins = this.all.filter((row) => isAtOrBelow(row.mountPoint, joinPath(root, "plugins")));
    const pods = `${joinPath(root, "pods")}/`;
    for (const row of this.all) {
      this.onTop.set(row.mountPoint, row);
      if (!row.mountPoint.startsWith(pods)) continue;
      const [podUID = ""] = row.mountPoint.slice(pods.length).split("/");
      const known = this.byPod.get(podUID);
      if (known) known.push(row);
      else this.byPod.set(podUID, [row]);
    }
  }

  ofPod(podUID: string): readonly MountInfo[] {
    return this.byPod.get(podUID) ?? [];
  }

  /** The last of the rows at this very mount point. */
  top(mountPoint: string): MountInfo | undefined {
    return this.onTop.get(mountPoint);
  }
}

/** Both paths are clean. */
export function isAtOrBelow(path: string, base: string): boolean {
  return path === base || path.startsWith(base === "/" ? "/" : `${base}/`);
}
