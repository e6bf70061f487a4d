/** Plugin sockets and FlexVolume drivers as they lie on the disk: no socket is dialled, no driver is run. */
import { messageOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import type { NodeReport } from "@/lib/node-report";
import { listFolder, type OnUnread } from "@/server/node/reconstruct";
import { kubeletPaths, unescapeQualifiedName } from "@/server/volume/paths";
import { executablePath } from "@/server/volume/plugins/flexvolume/plugin";
import type { Files } from "@/server/volume/ports";

type Sockets = NodeReport["pluginSockets"];
type FlexDrivers = NodeReport["flexDrivers"];

const registrationSuffix = "-reg.sock";

/** Sockets that the kubelet's plugin watcher would see, and those in the drivers' own folders. */
export async function listPluginSockets(files: Files, root: string, onUnread: OnUnread): Promise<Sockets> {
  const { pluginsRegistrationDir, pluginsDir } = kubeletPaths(root);
  const registered = await socketsBelow(files, pluginsRegistrationDir, onUnread);
  const own: { path: string; driver: string }[] = [];
  for (const { name: driver, kind } of await listFolder(files, pluginsDir, onUnread)) {
    if (kind !== "directory") continue;
    const dir = joinPath(pluginsDir, driver);
    const sockets = (await listFolder(files, dir, onUnread)).filter((entry) => entry.kind === "socket");
    own.push(...sockets.map(({ name }) => ({ path: joinPath(dir, name), driver })));
  }
  return [...registered, ...own];
}

/** Folders are entered, names with a leading dot are not. Source: pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go of v1.37.2. */
async function socketsBelow(files: Files, dir: string, onUnread: OnUnread): Promise<Sockets> {
  const found: Sockets[number][] = [];
  for (const { name, kind } of await listFolder(files, dir, onUnread)) {
    const path = joinPath(dir, name);
    if (name.startsWith(".")) continue;
    if (kind === "directory") found.push(...(await socketsBelow(files, path, onUnread)));
    if (kind !== "socket") continue;
    const driver = name.endsWith(registrationSuffix) ? name.slice(0, -registrationSuffix.length) : "";
    found.push(driver === "" ? { path } : { path, driver });
  }
  return found;
}

/** The folders that the kubelet's prober would try. */
export async function listFlexDrivers(files: Files, pluginDir: string, onUnread: OnUnread): Promise<FlexDrivers> {
  const folders = (await listFolder(files, pluginDir, onUnread)).filter(({ name, kind }) => kind === "directory" && !name.startsWith("."));
  return Promise.all(
    folders.map(async ({ name: folder }) => {
      const path = executablePath(pluginDir, folder);
      const problem = await whyNotRunnable(files, path).catch(messageOf);
      return { name: unescapeQualifiedName(folder), path, ...(problem === undefined ? {} : { problem }) };
    }),
  );
}

async function whyNotRunnable(files: Files, path: string): Promise<string | undefined> {
  const stat = await files.stat(path);
  if (!stat) return "the driver's executable is missing";
  if (stat.kind !== "file") return `the driver's executable is a ${stat.kind}`;
  return (stat.mode & 0o111) === 0 ? "the driver's executable may not be executed" : undefined;
}
