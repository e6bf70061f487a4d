import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rmdir, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ServerContext } from "./context";
import { HandClock } from "./hand-clock";
import { KindTable } from "./kinds";
import { watchManifests, type ManifestWatch } from "./manifest-watch";
import { Store } from "./store";

let said: string[] = [];
const written: object[] = [];
const log = {
  info: (message: string, fields: object = {}) => void (message === "write" && written.push(fields)),
  warn: (message: string, fields: object = {}) => void said.push(`${message} ${JSON.stringify(fields)}`),
  error: (message: string) => void said.push(message),
};

function makeContext(clock: HandClock): ServerContext {
  let uid = 0;
  return {
    store: new Store({ file: ":memory:" }),
    kinds: new KindTable(),
    clock,
    newUid: () => `uid-${(uid += 1)}`,
    newSuffix: () => "abcde",
    findNode: () => undefined,
    gates: new Map(),
    readOnly: false,
    allowPrivileged: true,
    checkNamespaces: true,
    defaultServiceAccount: true,
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

describe("watchManifests", () => {
  let folder: string;
  let context: ServerContext;
  let clock: HandClock;
  let manifests: ManifestWatch;

  const write = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text);
  const stored = (resource: string): string[] => context.store.list({ group: "", resource }).map(({ key }) => key.name);
  const data = (name: string): unknown => context.store.get({ group: "", resource: "configmaps", namespace: "default", name })?.object["data"];

  async function start(): Promise<void> {
    manifests = await watchManifests(context, folder, log);
  }

  /** Two scans, far enough apart to believe what both of them lack. */
  async function rescanTwice(): Promise<void> {
    await manifests.rescan();
    clock.advance(3_000);
    await manifests.rescan();
  }

  const waitingUids = (): string[] => manifests.state().waiting?.objects.map(({ uid }) => uid) ?? [];

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "voldeck-manifests-"));
    clock = new HandClock();
    context = makeContext(clock);
    said = [];
    written.length = 0;
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
    clock.advance(60_000);
    await manifests.rescan();
    expect(manifests.state().errors[0]).toMatchObject({ file: "a.yaml", line: 1 });
    expect(stored("configmaps")).toEqual(["a", "b"]);
    await write("a.yaml", map("a", "{ k: w }"));
    await rescanTwice();
    expect(stored("configmaps")).toEqual(["a"]);
  });

  it("removes nothing before a second complete scan, three seconds after the first, lacks it too", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await write("b.yaml", map("b", "{ k: v }"));
    await start();
    await unlink(path.join(folder, "b.yaml"));
    await manifests.rescan();
    clock.advance(2_999);
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a", "b"]);
    clock.advance(1);
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a"]);
  });

  it("counts the three seconds anew for what was back meanwhile", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await write("b.yaml", map("b", "{ k: v }"));
    await start();
    await unlink(path.join(folder, "b.yaml"));
    await manifests.rescan();
    clock.advance(2_000);
    await write("b.yaml", map("b", "{ k: v }"));
    await manifests.rescan();
    await unlink(path.join(folder, "b.yaml"));
    await manifests.rescan();
    clock.advance(2_000);
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a", "b"]);
  });

  it("counts the three seconds anew when the clock was set back meanwhile", async () => {
    clock.advance(3_600_000);
    await write("a.yaml", map("a", "{ k: v }"));
    await write("b.yaml", map("b", "{ k: v }"));
    await start();
    await unlink(path.join(folder, "b.yaml"));
    await manifests.rescan();
    clock.advance(-3_600_000);
    await manifests.rescan();
    clock.advance(3_000);
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a"]);
  });

  it("looks again by itself when something is missing", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await start();
    await unlink(path.join(folder, "a.yaml"));
    await manifests.rescan();
    const scanned = () => new Promise<void>((resolve) => void manifests.onChange(resolve));
    // The edit itself may be heard before or after the scan above; whichever, the next scan is due by itself.
    while (stored("configmaps").length > 0) {
      const next = scanned();
      clock.advance(Math.min(...clock.naps));
      await next;
    }
    expect(clock.nowMs()).toBe(3_000);
  });

  it("says once what is wrong, and again only after it changed", async () => {
    await write("a.yaml", "kind: [");
    await start();
    await manifests.rescan();
    await manifests.rescan();
    expect(said.filter((line) => line.includes("a.yaml"))).toHaveLength(1);
    await write("a.yaml", map("a", "{ k: v }"));
    await manifests.rescan();
    await write("a.yaml", "kind: [");
    await manifests.rescan();
    expect(said.filter((line) => line.includes("a.yaml"))).toHaveLength(2);
  });

  it("keeps everything while its folder is not there, says so once, and goes on when it is back", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await start();
    const aside = `${folder}-aside`;
    await rename(folder, aside);
    await manifests.rescan();
    clock.advance(3_000);
    await manifests.rescan();
    expect(manifests.state().problem).toContain("ENOENT");
    expect(stored("configmaps")).toEqual(["a"]);
    expect(said.filter((line) => line.includes("can't be read"))).toHaveLength(1);
    await rename(aside, folder);
    await manifests.rescan();
    expect(manifests.state()).toMatchObject({ files: [{ file: "a.yaml", objects: 1 }] });
    expect(manifests.state().problem).toBeUndefined();
  });

  /** The scan that the clock brings, not the person. */
  async function scanByClock(ms: number): Promise<void> {
    const scanned = new Promise<void>((resolve) => void manifests.onChange(resolve));
    clock.advance(ms);
    await scanned;
  }

  it("sees files that come into a folder that took the place of another one", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await start();
    const aside = `${folder}-aside`;
    await rename(folder, aside);
    await mkdir(folder);
    await write("a.yaml", map("a", "{ k: v }"));
    await write("b.yaml", map("b", "{ k: v }"));
    await scanByClock(20_000);
    expect(stored("configmaps")).toEqual(["a", "b"]);
    await unlink(path.join(aside, "a.yaml"));
    await rmdir(aside);
  });

  it("sees an edit of a file elsewhere that a link leads to", async () => {
    const elsewhere = `${folder}-elsewhere.yaml`;
    await writeFile(elsewhere, map("a", "{ k: v }"));
    await symlink(elsewhere, path.join(folder, "a.yaml"));
    await start();
    await writeFile(elsewhere, map("a", "{ k: w }"));
    await scanByClock(20_000);
    expect(data("a")).toEqual({ k: "w" });
    await unlink(elsewhere);
  });

  it("names what is no regular file, opens no pipe, and goes on with the others", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    execFileSync("mkfifo", [path.join(folder, "pipe.yaml")]);
    await symlink("/dev/zero", path.join(folder, "zero.yaml"));
    await symlink("nowhere", path.join(folder, "nowhere.yaml"));
    await symlink(tmpdir(), path.join(folder, "tmp.yaml"));
    await start();
    expect(stored("configmaps")).toEqual(["a"]);
    expect(manifests.state().errors).toMatchObject([
      { file: "nowhere.yaml", message: expect.stringContaining("ENOENT") },
      { file: "pipe.yaml", message: "this is no regular file; manifests are read from files" },
      { file: "tmp.yaml", message: "this is a folder; manifests are read from files" },
      { file: "zero.yaml", message: "this is no regular file; manifests are read from files" },
    ]);
  });

  it("reads a file in UTF-16", async () => {
    await writeFile(path.join(folder, "a.yaml"), Buffer.from(`\ufeff${map("a", "{ k: v }")}`, "utf16le"));
    await start();
    expect(data("a")).toEqual({ k: "v" });
  });

  it("applies nothing anew while nothing changed", async () => {
    await write("a.yaml", map("a", "{ k: v }"));
    await start();
    let scans = 0;
    manifests.onChange(() => (scans += 1));
    await manifests.rescan();
    expect(scans).toBe(0);
    await write("b.yaml", map("b", "{ k: v }"));
    await manifests.rescan();
    expect(scans).toBe(1);
  });

  it("tries again what was refused, though its file is the same", async () => {
    const namespace = { group: "", resource: "namespaces", namespace: "", name: "default" };
    await start();
    context.store.put(namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", uid: "n", deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Terminating" } });
    await write("a.yaml", map("a", "{ k: v }"));
    await manifests.rescan();
    expect(manifests.state().errors).toHaveLength(1);
    context.store.put(namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "default", uid: "n" }, status: { phase: "Active" } });
    await manifests.rescan();
    expect(data("a")).toEqual({ k: "v" });
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
    await rescanTwice();
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c"]);
  });

  it("goes on after a scan that failed inside", async () => {
    await start();
    let failing = true;
    manifests.onChange(() => {
      if (failing) throw new Error("a listener failed");
    });
    await write("a.yaml", map("a", "{ k: v }"));
    await manifests.rescan();
    expect(said).toEqual(["the manifests could not be applied"]);
    failing = false;
    await manifests.rescan();
    expect(stored("configmaps")).toEqual(["a"]);
  });

  it("says with file and line what the rules refuse", async () => {
    await write("bad.yaml", claim("data").replace("ReadWriteOnce", "Odd"));
    await start();
    expect(manifests.state().errors).toEqual([{ file: "bad.yaml", line: 5, message: expect.stringContaining('Unsupported value: "Odd"') }]);
  });

  it("refuses an unknown field, with its line", async () => {
    await write("bad.yaml", `${claim("data")}  odd: 1\n`);
    await start();
    expect(manifests.state().errors).toMatchObject([{ line: 7, message: expect.stringContaining('unknown field "spec.odd"') }]);
  });

  it("refuses a value of the wrong type, with its line", async () => {
    const text = "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec:\n  containers:\n    - name: c\n      image: x\n      env:\n        - name: A\n          value: off\n";
    await write("bad.yaml", text);
    await start();
    const message = "json: cannot unmarshal bool into Go struct field EnvVar.spec.containers.env.value of type string";
    expect(manifests.state().errors).toMatchObject([{ line: 10, message }]);
  });

  it("stores an octal mode, a truth value of YAML 1.1 and what a merge brings as kubectl sends them", async () => {
    const volumes = "volumes: [{ name: a, configMap: { name: a, defaultMode: 0400 } }]";
    const mount = "{ <<: *mount, mountPath: /b, readOnly: yes }";
    const mounts = `volumeMounts: [&mount { name: a, mountPath: /a }, ${mount}]`;
    await write("pod.yaml", `apiVersion: v1\nkind: Pod\nmetadata: { name: p }\nspec: { ${volumes}, containers: [{ name: c, image: x, ${mounts} }] }\n`);
    await start();
    expect(manifests.state().errors).toEqual([]);
    expect(context.store.get({ group: "", resource: "pods", namespace: "default", name: "p" })?.object["spec"]).toMatchObject({
      volumes: [{ configMap: { defaultMode: 256 } }],
      containers: [{ volumeMounts: [{ mountPath: "/a" }, { name: "a", mountPath: "/b", readOnly: true }] }],
    });
  });

  it("waits for a person before half of the volumes go", async () => {
    await write("a.yaml", claim("a"));
    await write("b.yaml", claim("b"));
    await write("c.yaml", claim("c"));
    await start();
    await unlink(path.join(folder, "a.yaml"));
    await rescanTwice();
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c"]);
    await unlink(path.join(folder, "b.yaml"));
    await unlink(path.join(folder, "c.yaml"));
    await rescanTwice();
    expect(manifests.state().waiting).toMatchObject({
      volumes: 2,
      reason: "2 of 2 volumes and claims would be removed",
      objects: [
        { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "shop", name: "b", file: "b.yaml" },
        { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "shop", name: "c", file: "c.yaml" },
      ],
    });
    expect(stored("persistentvolumeclaims")).toEqual(["b", "c"]);
    await manifests.confirmRemoval(waitingUids(), "somebody");
    expect(written).toMatchObject([{ who: "somebody", objects: "PersistentVolumeClaim shop/b, PersistentVolumeClaim shop/c", result: "removed" }]);
    expect(manifests.state().waiting).toBeUndefined();
    expect(stored("persistentvolumeclaims")).toEqual([]);
  });

  describe("a removal that waits", () => {
    beforeEach(async () => {
      for (const name of ["a", "b", "c"]) await write(`${name}.yaml`, claim(name));
      await start();
      for (const name of ["a", "b"]) await unlink(path.join(folder, `${name}.yaml`));
      await rescanTwice();
      expect(waitingUids()).toHaveLength(2);
    });

    it("is refused when the person was shown another list", async () => {
      await expect(manifests.confirmRemoval(waitingUids().slice(1), "somebody")).rejects.toMatchObject({ code: "conflict" });
      await expect(manifests.confirmRemoval([], "somebody")).rejects.toMatchObject({ code: "conflict" });
      expect(stored("persistentvolumeclaims")).toEqual(["a", "b", "c"]);
    });

    it("takes nothing that was not shown", async () => {
      const shown = waitingUids();
      await unlink(path.join(folder, "c.yaml"));
      await manifests.confirmRemoval(shown, "somebody");
      expect(stored("persistentvolumeclaims")).toEqual(["c"]);
      clock.advance(3_000);
      await manifests.rescan();
      expect(manifests.state().waiting).toMatchObject({ objects: [{ name: "c" }] });
    });

    it("takes nothing that is back in the files", async () => {
      const shown = waitingUids();
      await write("a.yaml", claim("a"));
      await manifests.confirmRemoval(shown, "somebody");
      expect(stored("persistentvolumeclaims")).toEqual(["a", "c"]);
      expect(manifests.state().waiting).toBeUndefined();
    });

    it("is refused while a file can't be read", async () => {
      await write("c.yaml", "kind: [");
      await expect(manifests.confirmRemoval(waitingUids(), "somebody")).rejects.toMatchObject({ code: "precondition" });
      expect(stored("persistentvolumeclaims")).toEqual(["a", "b", "c"]);
    });

    it("says what kept it from being done", async () => {
      context.store.remove = () => {
        throw new Error("database or disk is full");
      };
      await expect(manifests.confirmRemoval(waitingUids(), "somebody")).rejects.toThrow("database or disk is full");
      expect(said).toContain("the manifests could not be applied");
    });

    it("ends when the files are back", async () => {
      for (const name of ["a", "b"]) await write(`${name}.yaml`, claim(name));
      await manifests.rescan();
      expect(manifests.state().waiting).toBeUndefined();
      expect(stored("persistentvolumeclaims")).toEqual(["a", "b", "c"]);
    });
  });

  it("keeps and lists kinds that it does not act on", async () => {
    await write("a.yaml", `${map("known", "{}")}---\napiVersion: example.com/v1\nkind: Gadget\nmetadata: { name: g, namespace: shop }\nspec: { any: [1] }\n`);
    await start();
    expect(manifests.state().kept).toEqual([{ apiVersion: "example.com/v1", kind: "Gadget", objects: 1 }]);
    expect(context.store.list({ group: "example.com", resource: "gadgets" })).toHaveLength(1);
  });
});
