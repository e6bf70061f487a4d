import { describe, expect, it } from "vitest";
import type { ReportedVolume } from "@/lib/node-report";
import { createMemoryHost, type MemoryHost } from "@/server/hosts/memory";
import { lookAtMounts } from "@/server/node/lost-mounts";
import { makeReport } from "@/server/node/report";
import { boundPod, testNode } from "@/server/node/test-node";
import type { VolumePlugin } from "@/server/volume/plugin";
import { newKubeletPlugins } from "@/server/volume/plugins";
import { newSpecFromVolume } from "@/server/volume/spec";

const root = "/var/lib/kubelet";
const pathOf = (plugin: string, volume: string) => `${root}/pods/uid-web/volumes/kubernetes.io~${plugin}/${volume}`;

const pod = boundPod("web", [
  { name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
  { name: "cold", emptyDir: {} },
  { name: "tls", secret: { secretName: "web", defaultMode: 0o400 } },
  { name: "config", configMap: { name: "web", defaultMode: 0o644 } },
  { name: "site", hostPath: { path: "/srv/site", type: "Directory" } },
  { name: "logs", hostPath: { path: "/var/log/none" } },
]);

async function mounted() {
  const found: { find?: (spec: Parameters<Awaited<ReturnType<typeof testNode>>["manager"]["findPluginBySpec"]>[0]) => Promise<VolumePlugin> } = {};
  const memory = createMemoryHost({
    secrets: [{ metadata: { name: "web", namespace: "shop" }, data: { key: "a2V5" } }],
    configMaps: [{ metadata: { name: "web", namespace: "shop" }, data: { motd: "hello" } }],
    nodeAllocatable: { memory: "4Gi" },
    files: { "/srv/site": { kind: "directory" } },
    findPluginBySpec: async (spec) => found.find?.(spec) ?? Promise.reject(new Error("no plugins yet")),
  });
  const node = await testNode({ host: memory.host, plugins: newKubeletPlugins() });
  found.find = (spec) => node.manager.findPluginBySpec(spec);
  node.cluster.put("pods", pod);
  await node.settle();
  return { memory, node };
}

type World = Awaited<ReturnType<typeof mounted>>;

async function reportOf({ memory, node }: World): Promise<ReadonlyMap<string | undefined, ReportedVolume>> {
  const { manager, actual, reconciler } = node;
  const report = await makeReport({
    host: memory.host,
    manager,
    root,
    flexVolumeDir: "/flex",
    mounter: "simulated",
    picture: reconciler.picture,
    actual,
    operations: reconciler.operations,
  });
  return new Map(report.volumes.map((volume) => [volume.volumeName, volume]));
}

const unmounts = (path: string) => (memory: MemoryHost) => memory.mounter.unmount(path);
const removes = (path: string) => (memory: MemoryHost) => memory.files.removeAll(path);

describe("a volume that was set up", () => {
  it("is mounted as long as nobody takes it away, whether or not its plugin mounts anything", async () => {
    const volumes = await reportOf(await mounted());
    expect([...volumes].map(([name, { state }]) => [name, state])).toEqual(["hot", "cold", "tls", "config", "site", "logs"].map((name) => [name, "mounted"]));
  });

  it.each([
    { name: "hot", what: "its tmpfs is unmounted", take: unmounts(pathOf("empty-dir", "hot")), again: "for a new pod", problem: `nothing is mounted at ${pathOf("empty-dir", "hot")} any more` },
    { name: "tls", what: "its tmpfs is unmounted", take: unmounts(pathOf("secret", "tls")), again: "at the next sync", problem: `nothing is mounted at ${pathOf("secret", "tls")} any more` },
    { name: "cold", what: "its folder is removed", take: removes(pathOf("empty-dir", "cold")), again: "for a new pod", problem: `${pathOf("empty-dir", "cold")} is not there any more` },
    { name: "config", what: "its folder is removed", take: removes(pathOf("configmap", "config")), again: "at the next sync", problem: `${pathOf("configmap", "config")} is not there any more` },
    { name: "site", what: "the node's own folder is removed", take: removes("/srv/site"), again: "for a new pod", problem: "/srv/site is not there any more" },
  ])("is lost when $what by somebody else ($name), and has no size then", async ({ name, take, again, problem }) => {
    const world = await mounted();
    await take(world.memory);
    await world.node.settle();
    const volumes = await reportOf(world);
    expect(volumes.get(name)).toMatchObject({ state: "lost", setUpAgain: again, problem });
    expect(volumes.get(name)).not.toHaveProperty("capacityBytes");
    expect([...volumes.values()].filter(({ state }) => state !== "mounted")).toHaveLength(1);
  });

  it("is set up again by the sync of a plugin that asks for it", async () => {
    const world = await mounted();
    await world.memory.mounter.unmount(pathOf("secret", "tls"));
    await world.memory.clock.advance(60_001);
    await world.node.settle();
    expect((await reportOf(world)).get("tls")?.state).toBe("mounted");
    expect(await world.memory.files.readText(`${pathOf("secret", "tls")}/key`)).toBe("key");
  });

  it("is left as it is by a node that runs on, and mounted again by one that restarts", async () => {
    const world = await mounted();
    await world.memory.mounter.unmount(pathOf("empty-dir", "hot"));
    await world.memory.clock.advance(120_000);
    await world.node.settle();
    expect((await reportOf(world)).get("hot")?.state).toBe("lost");
    const restarted = await testNode({ host: world.memory.host, plugins: newKubeletPlugins(), cluster: world.node.cluster });
    await restarted.settle();
    expect((await reportOf({ memory: world.memory, node: restarted })).get("hot")).toMatchObject({ state: "mounted", capacityBytes: String(64 * 1024 * 1024) });
  });

  it("is not called lost while an operation is under way, or when one ended during the look", async () => {
    const { memory, node } = await mounted();
    const { actual } = node;
    const hot = actual.mounts().find(({ specName }) => specName === "hot");
    if (!hot) throw new Error("hot is mounted");
    await memory.mounter.unmount(hot.path);
    const look = (isRunning: () => boolean) => lookAtMounts({ host: memory.host, actual, operations: { isRunning } });
    expect((await look(() => true)).lost.size).toBe(0);
    const looking = look(() => false);
    actual.putMount({ ...hot, spec: newSpecFromVolume({ name: "hot", emptyDir: {} }) });
    expect((await looking).lost.size).toBe(0);
    expect((await look(() => false)).lost.size).toBe(1);
  });
});
