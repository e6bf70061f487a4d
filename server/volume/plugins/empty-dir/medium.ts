/** What a directory really lies on. Source: pkg/volume/emptydir/empty_dir_linux.go (realMountDetector) of v1.37.2. */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { parseQuantity, type Quantity } from "@/lib/quantity";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { MountInterface } from "@/server/volume/mount";
import { hugePagesMedium, pageSizeOption } from "@/server/volume/plugins/empty-dir/huge-pages";
import type { Files } from "@/server/volume/ports";

export const defaultMedium = "";
export const memoryMedium = "Memory";

/** Magic numbers of statfs(2). */
const tmpfsMagic = 0x0102_1994n;
const hugetlbfsMagic = 0x9584_58f6n;

export interface FoundMedium {
  readonly medium: typeof defaultMedium | typeof memoryMedium | typeof hugePagesMedium;
  readonly mounted: boolean;
  /** Looked up for huge pages only, and not where the request names no size. */
  readonly pageSize?: Quantity;
}

/** Throws VolumeError when the directory can't be looked at, or lies on huge pages whose page size can't be read. */
export async function detectMedium(
  tools: { readonly mounter: MountInterface; readonly files: Files },
  path: string,
  requestedMedium: string,
): Promise<FoundMedium> {
  const mounted = await tools.mounter.isLikelyNotMountPoint(path).then(
    (isNot) => !isNot,
    (error: unknown) => {
      throw wrap(`IsLikelyNotMountPoint(${goQuote(path)}): ${messageOf(error)}`, error);
    },
  );
  const { type } = await tools.files.statfs(path).catch((error: unknown) => {
    throw wrap(`statfs(${goQuote(path)}): ${messageOf(error)}`, error);
  });
  if (type === tmpfsMagic) return { medium: memoryMedium, mounted };
  if (BigInt.asUintN(32, type) !== hugetlbfsMagic) return { medium: defaultMedium, mounted };
  if (requestedMedium === hugePagesMedium) return { medium: hugePagesMedium, mounted };
  return { medium: hugePagesMedium, mounted, pageSize: await mountedPageSize(tools.mounter, path) };
}

/** The page size of the first row of the mount table for the path (getPageSize). */
async function mountedPageSize(mounter: MountInterface, path: string): Promise<Quantity> {
  const mounts = await mounter.list().catch((error: unknown) => {
    throw wrap(`error listing mount points: ${messageOf(error)}`, error);
  });
  const row = mounts.find((mount) => mount.path === path);
  if (!row) throw new VolumeError(`mount point for ${path} not found`);

  const option = row.options.map((text) => text.trim()).find((text) => text.startsWith(pageSizeOption));
  if (option === undefined) throw new VolumeError(`no pagesize option specified for ${path} mount`);
  const size = option.slice(pageSizeOption.length);
  try {
    // The kernel says 2M and means 2Mi.
    return parseQuantity(size.endsWith("i") ? size : `${size}i`);
  } catch (error) {
    throw wrap(`error getting page size from '${option}' mount option: ${messageOf(error)}`, error);
  }
}
