/**
 * Finds again what an earlier process left mounted: every volume folder of every pod folder, by the plugin that it is named after.
 * Source: pkg/kubelet/volumemanager/reconciler/reconstruct{,_common}.go of v1.37.2.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { joinPath } from "@/lib/go-path";
import type { DeviceMount, PodMount } from "@/server/node/actual-state";
import type { OperationContext } from "@/server/node/operation-context";
import { sharedName } from "@/server/node/resolve-volume";
import { VolumeError } from "@/server/volume/errors";
import { unescapeQualifiedName } from "@/server/volume/paths";
import { isBlockPlugin, type VolumePlugin } from "@/server/volume/plugin";
import type { DirEntry, FileKind, Files } from "@/server/volume/ports";
import type { Spec } from "@/server/volume/spec";
import { getUniqueVolumeNameFromSpecWithPod, splitUniqueName } from "@/server/volume/unique-name";

export interface FoundFolder {
  readonly podUID: string;
  readonly pluginName: string;
  readonly specName: string;
  readonly mode: "Filesystem" | "Block";
  readonly path: string;
}

export interface UnknownFolder extends FoundFolder {
  /** Why no volume could be made of it. */
  readonly problem: string;
}

export interface Reconstruction {
  readonly mounts: readonly PodMount[];
  readonly devices: readonly DeviceMount[];
  readonly unknown: readonly UnknownFolder[];
}

/** Called with what is there and can't be listed, or is not what belongs there. */
export type OnUnread = (path: string, error: unknown) => void;

/** Where volumes lie in a pod's folder: as folders, or as links to devices. */
const volumeFolders = [
  { folder: "volumes", mode: "Filesystem", kind: "directory" },
  { folder: "volumeDevices", mode: "Block", kind: "symlink" },
] as const;

/** Reads only, and follows no link. What can't be listed, or is no folder where one belongs, is left out and named. */
export async function scanPodFolders(files: Files, podsDir: string, onUnread: OnUnread = () => undefined): Promise<readonly FoundFolder[]> {
  const found: FoundFolder[] = [];
  for (const podUID of await namesOf(files, podsDir, { kind: "directory", onUnread })) {
    const podDir = joinPath(podsDir, podUID);
    const inPod = await listFolder(files, podDir, onUnread);
    for (const { folder, mode, kind } of volumeFolders) {
      const dir = joinPath(podDir, folder);
      if (!inPod.some((entry) => entry.name === folder && isKind(dir, entry, { kind: "directory", onUnread }))) continue;
      for (const escaped of await namesOf(files, dir, { kind: "directory", onUnread })) {
        const pluginDir = joinPath(dir, escaped);
        for (const specName of await namesOf(files, pluginDir, { kind, onUnread })) {
          found.push({ podUID, pluginName: unescapeQualifiedName(escaped), specName, mode, path: joinPath(pluginDir, specName) });
        }
      }
    }
  }
  return found;
}

interface Wanted {
  readonly kind: FileKind;
  readonly onUnread: OnUnread;
}

/** Names of the entries of one kind; others are named to `onUnread`. */
export async function namesOf(files: Files, dir: string, wanted: Wanted): Promise<readonly string[]> {
  const entries = await listFolder(files, dir, wanted.onUnread);
  return entries.filter((entry) => isKind(joinPath(dir, entry.name), entry, wanted)).map(({ name }) => name);
}

const inWords: Readonly<Record<"directory" | "symlink", string>> = { directory: "folder", symlink: "link" };

function isKind(path: string, entry: DirEntry, { kind, onUnread }: Wanted): boolean {
  if (entry.kind === kind) return true;
  const [is, belongs] = [entry.kind, kind].map((each) => (each === "directory" || each === "symlink" ? inWords[each] : each));
  onUnread(path, new VolumeError(`a ${is} lies where a ${belongs} belongs: it is not looked into`));
  return false;
}

/** Sorted; nothing where nothing is. */
export async function listFolder(files: Files, dir: string, onUnread: OnUnread): Promise<readonly DirEntry[]> {
  try {
    return await files.readDir(dir);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") onUnread(dir, error);
    return [];
  }
}

export async function reconstruct(context: OperationContext): Promise<Reconstruction> {
  const { host } = context;
  const mounts: PodMount[] = [];
  const devices = new Map<string, DeviceMount>();
  const unknown: UnknownFolder[] = [];
  const onUnread: OnUnread = (path, error) => host.ports.log.error("left out of what is mounted", error, { path });
  for (const folder of await scanPodFolders(host.ports.files, host.getPodsDir(), onUnread)) {
    try {
      const { mount, device } = await reconstructVolume(context, folder);
      mounts.push(mount);
      if (device) devices.set(device.uniqueName, device);
    } catch (error) {
      host.ports.log.error("Could not construct volume information", error, { podUID: folder.podUID, path: folder.path });
      unknown.push({ ...folder, problem: messageOf(error) });
    }
  }
  return { mounts, devices: [...devices.values()], unknown };
}

/** The device of a volume that was noted as attached and has no folder of a pod any more. Throws when its plugin can't name it. */
export async function reconstructAttached({ manager }: OperationContext, uniqueName: string, devicePath: string): Promise<DeviceMount> {
  const { plugin: pluginName, volume } = splitUniqueName(uniqueName);
  const plugin = await manager.findPluginByName(pluginName);
  const { spec } = await plugin.constructVolumeSpec(volume, "");
  if (!spec) throw new VolumeError(`plugin ${pluginName} makes no volume of the name ${goQuote(volume)}`);
  const deviceMountPath = await globalPathOf(manager, spec);
  return { uniqueName, pluginName, spec, mode: "Filesystem", devicePath, attached: "perhaps", deviceMountPath, certainty: "uncertain" };
}

async function reconstructVolume(
  { manager }: OperationContext,
  folder: FoundFolder,
): Promise<{ readonly mount: PodMount; readonly device: DeviceMount | undefined }> {
  const { podUID, pluginName, specName, mode, path } = folder;
  const plugin = await manager.findPluginByName(pluginName);
  const spec = await constructSpec(plugin, folder);
  const shared = await sharesDevice(manager, spec);
  const uniqueName = shared ? await sharedName(plugin, spec) : getUniqueVolumeNameFromSpecWithPod(podUID, plugin, spec);
  await checkMounter(plugin, spec, folder);
  const mount: PodMount = {
    podUID,
    uniqueName,
    pluginName: plugin.getPluginName(),
    specName,
    volumeName: undefined,
    spec,
    mode,
    path,
    certainty: "uncertain",
    reconstructed: true,
    remountRequired: false,
  };
  const deviceMountPath = shared && mode === "Filesystem" ? await globalPathOf(manager, spec) : undefined;
  const device = { uniqueName, pluginName: mount.pluginName, spec, mode, devicePath: "", attached: "no" as const, deviceMountPath, certainty: "uncertain" as const };
  return { mount, device: shared ? device : undefined };
}

/** The spec that a plugin makes of a folder's name and content. Throws with the kubelet's text when there is none. */
export async function constructSpec(plugin: VolumePlugin, folder: FoundFolder): Promise<Spec> {
  const { podUID, specName, mode, path, pluginName } = folder;
  const which = `${goQuote(pluginName)} (spec.Name: ${goQuote(specName)}) pod ${goQuote(podUID)} (UID: ${goQuote(podUID)})`;
  if (mode === "Block") {
    if (!isBlockPlugin(plugin)) throw new VolumeError(`could not find block volume plugin ${which}`);
    return plugin.constructBlockVolumeSpec(podUID, specName, path);
  }
  const { spec } = await plugin.constructVolumeSpec(specName, path);
  if (!spec) throw new VolumeError(`failed to reconstruct volume for plugin ${which}: got nil`);
  return spec;
}

/** Device-mountable first, so that a CSI driver need not be asked whether it attaches. */
export async function sharesDevice(manager: OperationContext["manager"], spec: Spec): Promise<boolean> {
  if (await manager.findDeviceMountablePluginBySpec(spec)) return true;
  return (await manager.findAttachablePluginBySpec(spec)) !== undefined;
}

/** The pod is known by its uid alone here. */
async function checkMounter(plugin: VolumePlugin, spec: Spec, folder: FoundFolder): Promise<void> {
  const { podUID, specName, mode } = folder;
  const pod = { metadata: { uid: podUID }, spec: { containers: [] } };
  try {
    if (mode === "Block" && isBlockPlugin(plugin)) await plugin.newBlockVolumeMapper(spec, pod);
    if (mode === "Filesystem") await plugin.newMounter(spec, pod);
  } catch (error) {
    const what = mode === "Block" ? "NewBlockVolumeMapper" : "NewMounter";
    const which = `volume ${goQuote(specName)} (spec.Name: ${goQuote(specName)}) pod ${goQuote(podUID)} (UID: ${goQuote(podUID)})`;
    throw new VolumeError(`reconstructVolume.${what} failed for ${which} with: ${messageOf(error)}`, "volume-error", error);
  }
}

/** A global mount that can't be named is left to the mount operation that comes, or to the clean-up of what nobody wants. */
export async function globalPathOf(manager: OperationContext["manager"], spec: Spec): Promise<string | undefined> {
  try {
    const mounter = await (await manager.findDeviceMountablePluginBySpec(spec))?.newDeviceMounter();
    return await mounter?.getDeviceMountPath(spec);
  } catch {
    return undefined;
  }
}
