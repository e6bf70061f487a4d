/** The plugins on this machine's own mounts: what the in-memory host promises must hold here. */
import { mkdirSync, readFileSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { parseQuantity } from "@/lib/quantity";
import { KubeletHost } from "@/server/hosts/kubelet-host";
import { createLinuxHost, type LinuxHost } from "@/server/hosts/linux";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { MemoryKubeClient, MemoryLog } from "@/server/hosts/memory";
import { mountsAtOrBelow } from "@/server/hosts/mount-queries";
import { VolumeError } from "@/server/volume/errors";
import { isResizableEphemeralPlugin, type VolumePlugin } from "@/server/volume/plugin";
import { newKubeletPlugins } from "@/server/volume/plugins";
import { newSpecFromVolume } from "@/server/volume/spec";

const uid = "0c1d";
const pod: Pod = { metadata: { name: "web", namespace: "shop", uid, labels: { app: "web" } }, spec: { containers: [] } };
const isRoot = process.geteuid?.() === 0;

let folder: string;
let linux: LinuxHost;
let plugins: readonly VolumePlugin[];

/** A start of the program over the same data folder. */
async function start(): Promise<void> {
  linux = await createLinuxHost({ root: join(folder, "data"), log: new MemoryLog() });
  const kubeClient = new MemoryKubeClient({
    configMaps: [{ metadata: { name: "cm", namespace: "shop" }, data: { foo: "1" } }],
    secrets: [{ metadata: { name: "sec", namespace: "shop" }, data: { pass: Buffer.from("s3cret").toString("base64") } }],
  });
  const node = async () => ({ metadata: { name: "n" }, status: { allocatable: { memory: "1Gi" } } });
  plugins = newKubeletPlugins();
  const host = new KubeletHost({
    rootDir: linux.root,
    nodeName: "n",
    ports: linux.ports,
    mounter: linux.mounter,
    hostUtils: linux.hostUtils,
    node: { getNode: node, getNodeAnyWay: node },
    findPluginBySpec: async (spec) => {
      const found = plugins.find((plugin) => plugin.canSupport(spec));
      if (!found) throw new VolumeError("no volume plugin matched", "no-plugin-matched");
      return found;
    },
    api: {
      kubeClient,
      getSecret: (namespace, name) => kubeClient.getSecret(namespace, name),
      getConfigMap: (namespace, name) => kubeClient.getConfigMap(namespace, name),
      getServiceAccountToken: () => Promise.reject(new VolumeError("this node gives no tokens")),
      deleteServiceAccountToken: () => undefined,
    },
  });
  for (const plugin of plugins) await plugin.init(host);
}

beforeEach(async () => {
  folder = isolatedFolder();
  await start();
});

afterEach(async () => {
  const left = mountsAtOrBelow(await linux.mounter.mountInfo(), linux.root);
  for (const path of [...left].reverse()) await linux.mounter.unmount(path);
  await linux.namespace?.end();
  await linux.close();
  removeFolder(folder);
  expect(left).toEqual([]);
});

function pluginOf(volume: Volume): VolumePlugin {
  const plugin = plugins.find((candidate) => candidate.canSupport(newSpecFromVolume(volume)));
  if (!plugin) throw new Error("no plugin");
  return plugin;
}

async function setUp(volume: Volume, fsGroup?: number): Promise<string> {
  const mounter = await pluginOf(volume).newMounter(newSpecFromVolume(volume), pod);
  await mounter?.setUp({ fsGroup });
  return mounter?.getPath() ?? "";
}

async function tearDown(volume: Volume): Promise<void> {
  await (await pluginOf(volume).newUnmounter(volume.name, uid))?.tearDown();
}

/** Where a path of the host is seen from outside of a user namespace. */
const seen = (path: string) => `${linux.namespace?.prefix ?? ""}${path}`;

async function mountsOf(path: string): Promise<number> {
  return (await linux.mounter.list()).filter((mount) => mount.path === path).length;
}

const memory: Volume = { name: "cache", emptyDir: { medium: "Memory", sizeLimit: "16Mi" } };
const volumes: readonly { volume: Volume; mounts: number; file?: string; text?: string }[] = [
  { volume: { name: "scratch", emptyDir: {} }, mounts: 0 },
  { volume: memory, mounts: 1 },
  { volume: { name: "conf", configMap: { name: "cm", defaultMode: 0o644 } }, mounts: 0, file: "foo", text: "1" },
  { volume: { name: "keys", secret: { secretName: "sec", defaultMode: 0o400 } }, mounts: 1, file: "pass", text: "s3cret" },
  {
    volume: { name: "info", downwardAPI: { items: [{ path: "d/app", fieldRef: { fieldPath: "metadata.labels['app']" } }], defaultMode: 0o644 } },
    mounts: 1,
    file: "d/app",
    text: "web",
  },
  {
    volume: { name: "all", projected: { sources: [{ configMap: { name: "cm" } }, { secret: { name: "sec" } }], defaultMode: 0o644 } },
    mounts: 1,
    file: "pass",
    text: "s3cret",
  },
];

describe("set up, restart, set up, tear down twice", () => {
  it.each(volumes)("$volume", async ({ volume, mounts, file, text }) => {
    const path = await setUp(volume);
    await setUp(volume);
    expect(await mountsOf(path)).toBe(mounts);
    if (file !== undefined) expect(readFileSync(seen(`${path}/${file}`), "utf8")).toBe(text);

    await linux.close();
    await start();
    await setUp(volume);
    expect(await mountsOf(path)).toBe(mounts);
    if (file !== undefined) expect(readFileSync(seen(`${path}/${file}`), "utf8")).toBe(text);

    await tearDown(volume);
    await tearDown(volume);
    expect(await mountsOf(path)).toBe(0);
    expect(() => statSync(seen(path))).toThrow("ENOENT");
  });
});

describe("a memory volume", () => {
  it("has the size asked for, and another after a resize, with its data kept", async () => {
    const path = await setUp(memory);
    writeFileSync(seen(`${path}/data`), "kept");
    const sizeOf = () => statfsSync(seen(path), { bigint: true });
    expect(sizeOf().blocks * sizeOf().bsize).toBe(16n << 20n);

    const plugin = pluginOf(memory);
    if (!isResizableEphemeralPlugin(plugin)) throw new Error("not resizable");
    await plugin.resizeEphemeralVolume(newSpecFromVolume(memory), pod, parseQuantity("32Mi"));
    expect(sizeOf().blocks * sizeOf().bsize).toBe(32n << 20n);
    expect(readFileSync(seen(`${path}/data`), "utf8")).toBe("kept");
    await tearDown(memory);
  });

  it("refuses to shrink below its use, in the kernel's way, and stays as it is", async () => {
    const path = await setUp(memory);
    writeFileSync(seen(`${path}/data`), Buffer.alloc(4 << 20, 1));
    const plugin = pluginOf(memory);
    if (!isResizableEphemeralPlugin(plugin)) throw new Error("not resizable");
    await expect(plugin.resizeEphemeralVolume(newSpecFromVolume(memory), pod, parseQuantity("1Mi"))).rejects.toThrow("mount failed: exit status 32");
    expect(statSync(seen(`${path}/data`)).size).toBe(4 << 20);
    await tearDown(memory);
  });
});

it.runIf(isRoot)("an fsGroup owns a disk volume, whatever the umask, and a secret it may read", async () => {
  const secret: Volume = { name: "keys", secret: { secretName: "sec", defaultMode: 0o400 } };
  const scratch: Volume = { name: "scratch", emptyDir: {} };
  const path = await setUp(scratch, 2000);
  expect(statSync(path)).toMatchObject({ gid: 2000, mode: 0o42777 });
  const keys = await setUp(secret, 2000);
  expect(statSync(`${keys}/pass`)).toMatchObject({ gid: 2000, mode: 0o100440 });
  await tearDown(scratch);
  await tearDown(secret);
});

it("a host path outside the data folder is refused before anything is made", async () => {
  const outside = join(folder, "outside");
  mkdirSync(outside);
  const volume: Volume = { name: "host", hostPath: { path: join(outside, "new"), type: "DirectoryOrCreate" } };
  await expect(setUp(volume)).rejects.toThrow("outside the data folder and not allowed");
  expect(() => statSync(join(outside, "new"))).toThrow("ENOENT");
  await expect(setUp({ name: "host", hostPath: { path: "/etc" } })).rejects.toThrow("hostPath /etc may not be used on this node");
});
