import { mkdtemp, readdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectAt, textAt } from "./access";
import type { ServerContext } from "./context";
import { KindTable } from "./kinds";
import { parseManifest } from "./manifest-files";
import { watchManifests, type ManifestWatch } from "./manifest-watch";
import { Store } from "./store";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function makeContext(): ServerContext {
  let uid = 0;
  return {
    store: new Store({ file: ":memory:" }),
    kinds: new KindTable(),
    clock: { nowMs: () => 0, sleep: () => new Promise(() => undefined) },
    newUid: () => `uid-${(uid += 1)}`,
    newSuffix: () => "abcde",
    findNode: () => undefined,
    gates: new Map(),
    readOnly: false,
    allowPrivileged: true,
    checkNamespaces: true,
    retryTooLargeSeconds: 1,
  };
}

const claim = (name: string, more = ""): string => `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name}, namespace: shop${more} }
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 1Gi } }
`;
const map = (name: string, data: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: ${data}\n`;

describe("parseManifest", () => {
  it("reads several documents and lists, each object with its line", () => {
    const text = `# shop\n${map("a", "{}")}---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: { name: b }\n---\n`;
    const { objects, errors } = parseManifest("shop.yaml", text);
    expect(errors).toEqual([]);
    expect(objects.map(({ line, object }) => [line, textAt(objectAt(object, "metadata"), "name")])).toEqual([
      [2, "a"],
      [10, "b"],
    ]);
  });

  it("reads JSON", () => {
    expect(parseManifest("a.json", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}').objects).toHaveLength(1);
  });

  it.each([
    ["a: [1", 1],
    ["apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\n", 5],
    ["apiVersion: v1\nmetadata: {}\n", 1],
  ])("says where %j is wrong", (text, line) => {
    const { objects, errors } = parseManifest("a.yaml", text);
    expect(objects).toEqual([]);
    expect(errors[0]?.line).toBe(line);
  });

  it("finds the line of a field", () => {
    const { objects } = parseManifest("a.yaml", claim("data"));
    expect(objects[0]?.lineOf("spec.accessModes")).toBe(5);
    expect(objects[0]?.lineOf("spec.resources.requests.storage")).toBe(6);
  });
});

describe("watchManifests", () => {
  let folder: string;
  let context: ServerContext;
  let manifests: ManifestWatch;

  const write = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text);
  const stored = (resource: string): string[] => context.store.list({ group: "", resource }).map(({ key }) => key.name);
  const data = (name: string): unknown => context.store.get({ group: "", resource: "configmaps", namespace: "default", name })?.object["data"];

  async function start(): Promise<void> {
    manifests = await watchManifests(context, folder, log);
  }

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "voldeck-manifests-"));
    context = makeContext();
  });

  afterEach(async () => {
    manifests.close();
    context.store.close();
    for (const name of await readdir(folder)) await unlink(path.join(folder, name));
    await rmdir(folder);
  });

  it("applies a folder and makes the namespaces that it names", async () => {
    await write("shop.yaml", `${claim("data")}---\n${map("a", "{ k: v }")}`);
    await start();
    expect(manifests.state().errors).toEqual([]);
    expect(stored("persistentvolumeclaims")).toEqual(["data"]);
    expect(stored("namespaces").sort()).toEqual(["default", "shop"]);
  });

  it("merges an edit: what others wrote stays, what the file drops goes", async () => {
    await write("a.yaml", map("a", "{ mine: one, dropped: x }"));
    await start();
    const key = { group: "", resource: "configmaps", namespace: "default", name: "a" };
    const other = context.store.get(key)?.object;
    context.store.put(key, { ...other, data: { mine: "one", dropped: "x", theirs: "kept" } });
    await write("a.yaml", map("a", "{ mine: two }"));
    await manifests.rescan();
    expect(data("a")).toEqual({ mine: "two", theirs: "kept" });
  });

  it("leaves what a client changed or deleted alone while the file says the same", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await start();
    context.store.remove({ group: "", resource: "configmaps", namespace: "default", name: "a" });
    await manifests.rescan();
    expect(stored("configmaps")).toEqual([]);
  });

  it("keeps the objects of a file that does not parse, and removes nothing meanwhile", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await write("b.yaml", map("b", "{ k: v }"));
    await start();
    await write("a.yaml", "kind: [");
    await unlink(path.join(folder, "b.yaml"));
    await manifests.rescan();
    expect(manifests.state().errors[0]).toMatchObject({ file: "a.yaml", line: 1 });
    expect(stored("configmaps")).toEqual(["a", "b"]);
    await write("a.yaml", map("a", "{ k: w }"));
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a"]);
  });

  it.each([
    ["is empty, as while it is being written", ""],
    ["names an object no more", claim("data").replace("name: data", "nam: data")],
  ])("keeps the objects of a file that %s", async (_, text) => {
    await write("a.yaml", claim("data"));
    await write("b.yaml", `${claim("b")}---\n${claim("c")}`);
    await start();
    await write("a.yaml", text);
    await manifests.rescan();
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c", "data"]);
    expect(manifests.state().errors).toMatchObject([{ file: "a.yaml", line: 1 }]);
    await unlink(path.join(folder, "a.yaml"));
    await manifests.rescan();
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c"]);
  });

  it("goes on after a scan that failed inside", async () => {
    await start();
    let failing = true;
    manifests.onChange(() => {
      if (failing) throw new Error("a listener failed");
    });
    await manifests.rescan();
    failing = false;
    await write("a.yaml", map("a", "{ k: v }"));
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a"]);
  });

  it("says with file and line what the rules refuse", async () => {
    await write("bad.yaml", claim("data").replace("ReadWriteOnce", "Odd"));
    await start();
    expect(manifests.state().errors).toEqual([{ file: "bad.yaml", line: 5, message: expect.stringContaining('Unsupported value: "Odd"') }]);
  });

  it("refuses an unknown field", async () => {
    await write("bad.yaml", `${claim("data")}  odd: 1\n`);
    await start();
    expect(manifests.state().errors[0]?.message).toContain('unknown field "spec.odd"');
  });

  it("waits for a person before half of the volumes go", async () => {
    await write("a.yaml", claim("a"));
    await write("b.yaml", claim("b"));
    await write("c.yaml", claim("c"));
    await start();
    await unlink(path.join(folder, "a.yaml"));
    await manifests.rescan();
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c"]);
    await unlink(path.join(folder, "b.yaml"));
    await unlink(path.join(folder, "c.yaml"));
    await manifests.rescan();
    expect(manifests.state().waiting).toMatchObject({ volumes: 2, objects: ["PersistentVolumeClaim shop/b", "PersistentVolumeClaim shop/c"] });
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c"]);
    await manifests.confirmRemoval();
    expect(manifests.state().waiting).toBeUndefined();
    expect(stored("persistentvolumeclaims")).toEqual([]);
  });

  it("keeps kinds that it does not know", async () => {
    await write("a.yaml", "apiVersion: example.com/v1\nkind: Gadget\nmetadata: { name: g, namespace: shop }\nspec: { any: [1] }\n");
    await start();
    expect(context.store.list({ group: "example.com", resource: "gadgets" })).toHaveLength(1);
  });
});
