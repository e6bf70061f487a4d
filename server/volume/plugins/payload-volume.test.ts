import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import { createMemoryHost, type MemoryHost, type MemoryHostOptions } from "@/server/hosts/memory";
import { newConfigMapPlugin } from "@/server/volume/plugins/configmap";
import { newDownwardAPIPlugin } from "@/server/volume/plugins/downward-api";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newProjectedPlugin } from "@/server/volume/plugins/projected";
import { newSecretPlugin } from "@/server/volume/plugins/secret";
import { newSpecFromVolume } from "@/server/volume/spec";
import type { MounterArgs } from "@/server/volume/volume";

const uid = "0c1d";
const pod: Pod = {
  metadata: { name: "web", namespace: "shop", uid, labels: { app: "web" } },
  spec: { containers: [{ name: "c", volumeMounts: [{ name: "vol", mountPath: "/etc/web" }, { name: "x", mountPath: "/etc/web/nested" }] }] },
};
const base64 = (text: string) => Buffer.from(text).toString("base64");
const objects = {
  configMaps: [{ metadata: { name: "cm", namespace: "shop" }, data: { foo: "1" } }],
  secrets: [{ metadata: { name: "sec", namespace: "shop" }, data: { pass: base64("s3cret") } }],
};

const kinds = [
  { what: "configmap", newPlugin: newConfigMapPlugin, volume: { configMap: { name: "cm", defaultMode: 0o640 } }, file: "foo", text: "1", mounts: 0 },
  { what: "secret", newPlugin: newSecretPlugin, volume: { secret: { secretName: "sec", defaultMode: 0o640 } }, file: "pass", text: "s3cret", mounts: 1 },
  {
    what: "downward-api",
    newPlugin: newDownwardAPIPlugin,
    volume: { downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels['app']" } }], defaultMode: 0o640 } },
    file: "l",
    text: "web",
    mounts: 1,
  },
  {
    what: "projected",
    newPlugin: newProjectedPlugin,
    volume: {
      projected: {
        sources: [{ configMap: { name: "cm" } }, { secret: { name: "sec", items: [{ key: "pass", path: "foo" }] } }],
        defaultMode: 0o640,
      },
    },
    file: "foo",
    text: "s3cret",
    mounts: 1,
  },
];

type Kind = Pick<(typeof kinds)[number], "newPlugin"> & { readonly volume: Omit<Volume, "name"> };

async function start({ newPlugin, volume }: Kind, options: MemoryHostOptions = {}) {
  const emptyDir = newEmptyDirPlugin();
  const memory = createMemoryHost({ ...objects, nodeAllocatable: { memory: "4Gi" }, findPluginBySpec: async () => emptyDir, ...options });
  await emptyDir.init(memory.host);
  const plugin = newPlugin();
  await plugin.init(memory.host);
  const mounter = await plugin.newMounter(newSpecFromVolume({ name: "vol", ...volume }), pod);
  const dir = mounter?.getPath() ?? "";
  return {
    memory,
    dir,
    setUp: async (args: MounterArgs = {}) => mounter?.setUp(args),
    tearDown: async () => (await plugin.newUnmounter("vol", uid))?.tearDown(),
  };
}

async function mountsAt(memory: MemoryHost, path: string): Promise<number> {
  return (await memory.mounter.list()).filter((mount) => mount.path === path).length;
}

describe.each(kinds)("$what", (kind) => {
  it("writes its files, once however often it is set up, and leaves nothing after a tear down, which may come twice", async () => {
    const { memory, dir, setUp, tearDown } = await start(kind);
    await setUp();
    const data = await memory.files.readLink(`${dir}/..data`);
    await setUp();
    expect(await memory.files.readLink(`${dir}/..data`)).toBe(data);
    expect(await memory.files.readText(`${dir}/${kind.file}`)).toBe(kind.text);
    expect((await memory.files.stat(`${dir}/${kind.file}`))?.mode).toBe(0o640);
    expect((await memory.files.stat(`${dir}/nested`))?.kind).toBe("directory");
    expect(await mountsAt(memory, dir)).toBe(kind.mounts);

    await tearDown();
    await tearDown();
    expect(await mountsAt(memory, dir)).toBe(0);
    expect(await memory.files.lstat(dir)).toBeUndefined();
    expect(await memory.files.readDir(`/var/lib/kubelet/pods/${uid}/plugins/kubernetes.io~empty-dir`)).toEqual([]);
  });

  it("lets the fsGroup read and nobody of it write", async () => {
    const { memory, dir, setUp } = await start(kind);
    await setUp({ fsGroup: 2000 });
    expect(await memory.files.stat(`${dir}/${kind.file}`)).toMatchObject({ gid: 2000, mode: 0o640 });
    expect(await memory.files.stat(dir)).toMatchObject({ gid: 2000 });
  });

  it("leaves nothing when writing fails", async () => {
    const { memory, dir, setUp } = await start(kind);
    memory.files.failOn("rename", `${dir}/..data_tmp`, new Error("disk is broken"));
    await expect(setUp()).rejects.toThrow("disk is broken");
    expect(await memory.files.lstat(dir)).toBeUndefined();
    expect(await mountsAt(memory, dir)).toBe(0);
  });

  it("needs a default mode", async () => {
    const [field, source] = Object.entries(kind.volume)[0] ?? [];
    const { setUp } = await start({ ...kind, volume: { [String(field)]: { ...source, defaultMode: undefined } } });
    await expect(setUp()).rejects.toThrow("no defaultMode used, not even the default value for it");
  });
});

it("a reboot that left the ready marker and took the directory: the data is written again", async () => {
  const { memory, dir, setUp } = await start({ newPlugin: newConfigMapPlugin, volume: { configMap: { name: "cm", defaultMode: 0o644 } } });
  await setUp();
  await memory.files.removeAll(dir);
  await setUp();
  expect(await memory.files.readText(`${dir}/foo`)).toBe("1");
});

describe("what is missing", () => {
  it.each([
    [newConfigMapPlugin, { configMap: { name: "none", defaultMode: 0o644 } }, 'configmaps "none" not found'],
    [newConfigMapPlugin, { configMap: { name: "cm", defaultMode: 0o644, items: [{ key: "no", path: "p" }] } }, "configmap references non-existent config key: no"],
    [newSecretPlugin, { secret: { secretName: "none", defaultMode: 0o644 } }, 'secrets "none" not found'],
    [newSecretPlugin, { secret: { secretName: "sec", defaultMode: 0o644, items: [{ key: "no", path: "p" }] } }, "references non-existent secret key: no"],
    [
      newProjectedPlugin,
      { projected: { defaultMode: 0o644, sources: [{ secret: { name: "s" } }, { configMap: { name: "c" } }] } },
      '[secrets "s" not found, configmaps "c" not found]',
    ],
  ])("%o: %j leaves nothing on disk", async (newPlugin, volume: Omit<Volume, "name">, text) => {
    const { memory, dir, setUp } = await start({ newPlugin, volume });
    await expect(setUp()).rejects.toThrow(text);
    expect(await memory.files.lstat(dir)).toBeUndefined();
  });

  it.each([
    [newConfigMapPlugin, { configMap: { name: "none", optional: true, defaultMode: 0o644 } }],
    [newSecretPlugin, { secret: { secretName: "none", optional: true, defaultMode: 0o644 } }],
  ])("%o: an optional object leaves an empty volume", async (newPlugin, volume: Omit<Volume, "name">) => {
    const { memory, dir, setUp } = await start({ newPlugin, volume });
    await setUp();
    expect(await memory.files.readDir(`${dir}/..data`)).toEqual([]);
  });

  it("an error other than absence counts for optional objects too", async () => {
    const { setUp } = await start(
      { newPlugin: newSecretPlugin, volume: { secret: { secretName: "sec", optional: true, defaultMode: 0o644 } } },
      { api: { getSecret: () => Promise.reject(new Error("forbidden")) } },
    );
    await expect(setUp()).rejects.toThrow("forbidden");
  });

  it("a value that is not base64 is named and not shown", async () => {
    const secrets = [{ metadata: { name: "sec", namespace: "shop" }, data: { pass: "hunter2!" } }];
    const { setUp } = await start({ newPlugin: newSecretPlugin, volume: { secret: { secretName: "sec", defaultMode: 0o644 } } }, { secrets });
    await expect(setUp()).rejects.toThrow(/^secret shop\/sec: data\.pass is not base64$/);
  });
});

describe("projected", () => {
  const volume = { projected: { sources: [{ serviceAccountToken: { path: "token" } }], defaultMode: 0o644 } };

  it("needs an API client", async () => {
    const { setUp } = await start({ newPlugin: newProjectedPlugin, volume }, { noKubeClient: true });
    await expect(setUp()).rejects.toThrow("cannot setup projected volume vol because kube client is not configured");
  });

  it("closes a token's file to all but the pod's user and group", async () => {
    const api = { getServiceAccountToken: async () => ({ token: "t", expirationTimestamp: "" }) };
    const { memory, dir, setUp } = await start({ newPlugin: newProjectedPlugin, volume }, { api });
    await setUp({ fsUser: 1000, fsGroup: 2000 });
    expect(await memory.files.stat(`${dir}/token`)).toMatchObject({ uid: 1000, gid: 2000, mode: 0o640 });
  });

  it("forgets the pod's tokens on tear down", async () => {
    const forgotten: string[] = [];
    const { tearDown } = await start({ newPlugin: newProjectedPlugin, volume }, { api: { deleteServiceAccountToken: (podUID) => forgotten.push(podUID) } });
    await tearDown();
    expect(forgotten).toEqual([uid]);
  });

  it("is for a kubelet's host only", async () => {
    await expect(newProjectedPlugin().init(undefined)).rejects.toMatchObject({ code: "nil-dereference" });
  });
});
