/** Sets up and tears down one emptyDir. Source: pkg/volume/emptydir/empty_dir.go (emptyDir) of v1.37.2. */
import { messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { Pod } from "@/lib/kube/pods";
import type { Quantity } from "@/lib/quantity";
import { VolumeError, wrap } from "@/server/volume/errors";
import type { VolumeHost } from "@/server/volume/host";
import { newMetricsDu } from "@/server/volume/metrics";
import type { MountInterface } from "@/server/volume/mount";
import { isMounted } from "@/server/volume/plugins/bind-mount";
import { hugePagesMedium, isHugePagesMedium, pageSizeMountOption, pageSizeOfMedium } from "@/server/volume/plugins/empty-dir/huge-pages";
import { defaultMedium, detectMedium, memoryMedium, type FoundMedium } from "@/server/volume/plugins/empty-dir/medium";
import { tmpfsOptions } from "@/server/volume/plugins/empty-dir/memory-size";
import { podPluginDir, podVolumeDir } from "@/server/volume/plugins/host-slot";
import { isReady, setReady } from "@/server/volume/ready-marker";
import type { Mounter, MounterArgs, Unmounter } from "@/server/volume/volume";
import { setVolumeOwnership } from "@/server/volume/volume-ownership";

export const emptyDirPluginName = "kubernetes.io/empty-dir";

export interface EmptyDir {
  readonly host: VolumeHost;
  readonly podUID: string;
  readonly volumeName: string;
}

export interface EmptyDirRequest extends EmptyDir {
  readonly pod: Pod;
  readonly medium: string;
  /** Of a memory-backed volume; zero for none. */
  readonly size: Quantity;
  /** What the directory shall have instead of 0777 (gate EmptyDirVolumeMode). */
  readonly mode: number | undefined;
}

const directoryMode = 0o777;

export function newEmptyDirMounter(request: EmptyDirRequest): Mounter {
  const path = emptyDirPath(request);
  return {
    getPath: () => path,
    getMetrics: newMetricsDu(request.host.ports, path).getMetrics,
    getAttributes: () => ({ readOnly: false, managed: true, seLinuxRelabel: true }),
    setUp: (args) => setUpAt(request, path, args),
    setUpAt: (dir, args) => setUpAt(request, dir, args),
  };
}

export function newEmptyDirUnmounter(volume: EmptyDir): Unmounter {
  const path = emptyDirPath(volume);
  return {
    getPath: () => path,
    getMetrics: newMetricsDu(volume.host.ports, path).getMetrics,
    tearDown: () => tearDownAt(volume, path),
    tearDownAt: (dir) => tearDownAt(volume, dir),
  };
}

export function emptyDirPath({ host, podUID, volumeName }: EmptyDir): string {
  return podVolumeDir(host, emptyDirPluginName, { podUID, name: volumeName });
}

function readyDir({ host, podUID, volumeName }: EmptyDir): string {
  return podPluginDir(host, emptyDirPluginName, { podUID, name: volumeName });
}

async function setUpAt(request: EmptyDirRequest, dir: string, args: MounterArgs): Promise<void> {
  const { host } = request;
  const mounted = await isMounted(requireMounter(host), dir, "likely");
  if (await isSetUpAlready(request, dir, mounted)) return;

  const failure = await makeMedium(request, dir).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // As in the kubelet the group is set even where the directory failed, and its own failure counts for nothing.
  await setVolumeOwnership(host, { dir, fsGroup: args.fsGroup, readOnly: false }).catch((error: unknown) => {
    host.ports.log.error("could not give the volume to its group", error, { dir });
  });
  if (failure) throw failure.error;
  // desiredSize would be a project quota here: the gate for those is off in 1.37, and so is nothing assigned.
  await setReady(host.ports, readyDir(request));
}

async function isSetUpAlready(request: EmptyDirRequest, dir: string, mounted: boolean): Promise<boolean> {
  const { host, medium } = request;
  const { files, log } = host.ports;
  const marker = readyDir(request);
  if (!(await isReady(host.ports, marker))) return false;
  if (medium === memoryMedium) return mounted;
  if (medium !== defaultMedium) return false;
  if (await files.stat(dir).catch(() => undefined)) return true;

  log.warn("the volume was ready and its directory is gone: set up again", { dir });
  await files.removeAll(marker).catch((error: unknown) => log.error("could not remove the ready marker", error, { marker }));
  return false;
}

async function makeMedium(request: EmptyDirRequest, dir: string): Promise<void> {
  const { medium } = request;
  if (medium === defaultMedium) return makeDirectory(request, dir);
  if (medium === memoryMedium) return mountMemory(request, dir);
  if (isHugePagesMedium(medium)) return mountHugePages(request, dir);
  throw new VolumeError(`unknown storage medium ${goQuote(medium)}`);
}

async function makeDirectory({ host, mode }: EmptyDirRequest, dir: string): Promise<void> {
  const { files, log } = host.ports;
  await files.mkdirAll(dir, directoryMode);
  if (mode !== undefined) return files.chmod(dir, mode);

  if (((await files.lstat(dir))?.mode ?? 0) % 0o1000 === directoryMode) return;
  await files.chmod(dir, directoryMode);
  const now = await files.lstat(dir);
  if (now && now.mode % 0o1000 !== directoryMode) log.warn("the directory did not take its mode", { dir, mode: now.mode.toString(8) });
}

/** A tmpfs that is mounted stays as it is: only resizeEphemeralVolume changes its size. */
async function mountMemory(request: EmptyDirRequest, dir: string): Promise<void> {
  const mounter = requireMounter(request.host);
  await makeDirectory(request, dir);
  const found = await detect(request.host, dir, request.medium);
  if (found.mounted && found.medium === memoryMedium) return;

  const noswap = (await mounter.supportsTmpfsNoswap?.()) ?? false;
  await mounter.mount({ source: "tmpfs", target: dir, fsType: "tmpfs", options: tmpfsOptions(request.size, noswap) });
}

async function mountHugePages(request: EmptyDirRequest, dir: string): Promise<void> {
  const { medium, pod } = request;
  const mounter = requireMounter(request.host);
  await makeDirectory(request, dir);
  const found = await detect(request.host, dir, medium);
  if (found.mounted && found.medium === hugePagesMedium) {
    if (medium !== hugePagesMedium) requireSamePageSize(request, dir, found);
    return;
  }
  await mounter.mount({ source: "nodev", target: dir, fsType: "hugetlbfs", options: [pageSizeMountOption(medium, pod)] });
}

function requireSamePageSize({ podUID, medium }: EmptyDirRequest, dir: string, found: FoundMedium): void {
  const where = `pod ${podUID}: mounted dir ${dir} pagesize`;
  if (!found.pageSize) throw new VolumeError(`${where} is not determined`);
  const wanted = pageSizeOfMedium(medium);
  if (!wanted.equals(found.pageSize)) {
    throw new VolumeError(`${where} '${found.pageSize.toString()}' and requested medium size '${wanted.toString()}' differ`);
  }
}

/** The medium is read from the disk: a volume that was found again after a restart knows nothing of it. */
async function tearDownAt(volume: EmptyDir, dir: string): Promise<void> {
  const { host } = volume;
  const { files, log } = host.ports;
  const marker = readyDir(volume);
  await files.removeAll(marker).catch((error: unknown) => {
    throw new VolumeError(`failed to remove ready dir [${marker}]: ${messageOf(error)}`, "volume-error", error);
  });
  const there = await files.stat(dir).catch((error: unknown) => {
    throw wrap(`error checking if path exists: ${messageOf(error)}`, error);
  });
  if (!there) {
    log.warn("nothing to unmount: the directory is gone", { dir });
    return;
  }
  const found = await detect(host, dir, defaultMedium);
  if (found.mounted && found.medium !== defaultMedium) await requireMounter(host).unmount(dir);
  await files.removeAll(dir);
}

function detect(host: VolumeHost, dir: string, requestedMedium: string): Promise<FoundMedium> {
  return detectMedium({ mounter: requireMounter(host), files: host.ports.files }, dir, requestedMedium);
}

function requireMounter(host: VolumeHost): MountInterface {
  const mounter = host.getMounter();
  if (!mounter) throw new VolumeError("memory storage requested, but mounter is nil");
  return mounter;
}
