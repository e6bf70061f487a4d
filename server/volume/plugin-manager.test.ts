import { describe, expect, it } from "vitest";
import type { VolumeHost } from "@/server/volume/host";
import { isNoopExpandablePlugin } from "@/server/volume/noop-expandable-plugin";
import type { DynamicPluginProber, VolumePlugin } from "@/server/volume/plugin";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newSpecFromVolume, type Spec } from "@/server/volume/spec";
import {
  addOrUpdate,
  ManualClock,
  noPlugin,
  quietLog,
  removal,
  scriptedProber,
  settled,
  supportsVolumeField,
  testPlugin,
} from "@/server/volume/test-plugins";

const emptySpec: Spec = newSpecFromVolume({ name: "v" });
const nfsSpec = newSpecFromVolume({ name: "v", nfs: { server: "srv", path: "/x" } });
const flexSpec = newSpecFromVolume({ name: "v", flexVolume: { driver: "vendor/driver" } });
const hostNamed = (name: string): VolumeHost => ({ getNodeName: () => name }) as VolumeHost;

async function managerOf(
  plugins: readonly VolumePlugin[],
  prober?: DynamicPluginProber,
): Promise<{ manager: VolumePluginManager; clock: ManualClock }> {
  const clock = new ManualClock();
  const manager = new VolumePluginManager({ clock, log: quietLog });
  await manager.initPlugins(plugins, prober, undefined);
  return { manager, clock };
}

describe("one registered plugin, no prober, no host", () => {
  const plugin = testPlugin("kubernetes.io/testPlugin");

  it("is found by name and by an empty spec, and refuses a nil spec", async () => {
    const { manager } = await managerOf([plugin]);
    expect(await manager.findPluginByName("kubernetes.io/testPlugin")).toBe(plugin);
    expect(await manager.findPluginBySpec(emptySpec)).toBe(plugin);
    await expect(manager.findPluginBySpec(undefined)).rejects.toThrow("could not find plugin because volume spec is nil");
  });
});

describe("a prober that gives its one event at its first probe", () => {
  it("serves a hundred finders by name and a hundred by spec at once", async () => {
    const driver = testPlugin("vendor/driver");
    const { manager } = await managerOf([], scriptedProber([], [addOrUpdate(driver)]));
    const finds = Array.from({ length: 100 }, () => manager.findPluginByName("vendor/driver"));
    finds.push(...Array.from({ length: 100 }, () => manager.findPluginBySpec(emptySpec)));
    expect(new Set(await Promise.all(finds))).toEqual(new Set([driver]));
  });
});

describe("initPlugins", () => {
  it("keeps the first of two with one name, skips bad names and failed ones, and gives every error", async () => {
    const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
    const first = testPlugin("a/b");
    const failing = testPlugin("a/c", { init: () => Promise.reject(new Error("no device")) });
    const failed = manager.initPlugins([first, testPlugin("a/b"), failing, testPlugin("a/b/c")], undefined, undefined);
    await expect(failed).rejects.toMatchObject({
      message: expect.stringMatching(/^\[volume plugin "a\/b" was registered more than once, no device, volume plugin has invalid name: "a\/b\/c": a valid label key/),
    });
    expect(await manager.findPluginByName("a/b")).toBe(first);
    expect(manager.published().rows).toMatchObject([
      { name: "a/b", state: "ok", serving: true },
      { name: "a/c", state: "failed", serving: false, error: "no device" },
      { name: "a/b/c", state: "failed", serving: false },
    ]);
  });

  it("puts a prober that finds nothing in the place of one that fails to start, for good", async () => {
    const prober = scriptedProber([addOrUpdate(testPlugin("vendor/driver"))]);
    const { manager } = await managerOf([], { ...prober, init: () => Promise.reject(new Error("no folder")) });
    await expect(manager.findPluginByName("vendor/driver")).rejects.toThrow("no volume plugin matched name: vendor/driver");
    expect(prober.probes).toBe(0);
    expect(manager.published().inits).toMatchObject([{ proberError: "no folder", registered: [], errors: [] }]);
  });

  it("adds to what is there and replaces host and prober when called again", async () => {
    const { manager } = await managerOf([testPlugin("a/a", noPlugin)], scriptedProber());
    const second = scriptedProber();
    await manager.initPlugins([testPlugin("b/b")], second, hostNamed("node-1"));
    expect(manager.host?.getNodeName()).toBe("node-1");
    expect((await manager.findPluginBySpec(emptySpec)).getPluginName()).toBe("b/b");
    expect(second.probes).toBe(2);
  });
});

describe("findPluginBySpec", () => {
  it("asks the registered plugins before it probes", async () => {
    const order: string[] = [];
    const registered = testPlugin("a/a", { canSupport: () => order.push("registered") > 0 });
    const prober = { init: async () => {}, probe: async () => ({ events: [], error: order.push("probe") > 99 }) };
    const { manager } = await managerOf([registered], prober);
    order.length = 0;
    await manager.findPluginBySpec(emptySpec);
    expect(order).toEqual(["registered", "probe"]);
  });

  it("does not probe for a nil spec", async () => {
    const prober = scriptedProber();
    const { manager } = await managerOf([], prober);
    await expect(manager.findPluginBySpec(undefined)).rejects.toThrow();
    expect(prober.probes).toBe(1);
  });

  it("lists several sorted, the registered ones first", async () => {
    const prober = scriptedProber([addOrUpdate(testPlugin("p/z")), addOrUpdate(testPlugin("p/y"))]);
    const { manager } = await managerOf([testPlugin("s/b"), testPlugin("s/a")], prober);
    await expect(manager.findPluginBySpec(emptySpec)).rejects.toThrow("multiple volume plugins matched: s/a,s/b,p/y,p/z");
  });

  it("says with a code that none matched", async () => {
    const { manager } = await managerOf([testPlugin("a/a", noPlugin)]);
    await expect(manager.findPluginBySpec(emptySpec)).rejects.toMatchObject({ code: "no-plugin-matched" });
  });
});

describe("probed plugins", () => {
  it("keep serving the earlier instance when a later one fails to start", async () => {
    const first = testPlugin("vendor/driver");
    const broken = testPlugin("vendor/driver", { init: () => Promise.reject(new Error("exit status 1")) });
    const { manager } = await managerOf([], scriptedProber([addOrUpdate(first)], [addOrUpdate(broken)]));
    expect(await manager.findPluginByName("vendor/driver")).toBe(first);
    expect(manager.published().rows).toMatchObject([
      { name: "vendor/driver", state: "failed", serving: true, error: "failed to load volume plugin vendor/driver, error: exit status 1" },
    ]);
  });

  it("clash with a registered plugin of the same name only when looked up", async () => {
    const { manager } = await managerOf([testPlugin("a/a")], scriptedProber([addOrUpdate(testPlugin("a/a"))]));
    await expect(manager.findPluginByName("a/a")).rejects.toThrow("multiple volume plugins matched: a/a and a/a");
  });

  it("lose the rest of a batch to an event without a plugin, and the lock is free again", async () => {
    const batch = [{ pluginName: "vendor/x", op: 2 }, addOrUpdate(testPlugin("vendor/y"))];
    const { manager } = await managerOf([testPlugin("a/a")], scriptedProber([], batch));
    await expect(manager.findPluginByName("a/a")).rejects.toMatchObject({
      code: "nil-dereference",
      message: 'plugin of the probe event for "vendor/x" is nil',
    });
    expect(await manager.findPluginByName("a/a")).toMatchObject({});
    await expect(manager.findPluginByName("vendor/y")).rejects.toThrow("no volume plugin matched name");
  });

  it("are taken in beside an error of the same probe", async () => {
    const prober = scriptedProber({ events: [addOrUpdate(testPlugin("vendor/y"))], error: new Error("one driver is broken") });
    const { manager } = await managerOf([], prober);
    expect((await manager.findPluginByName("vendor/y")).getPluginName()).toBe("vendor/y");
  });
});

describe("other finders", () => {
  it("give the no-op expander for FlexVolume when none or several match, and throw for a nil spec", async () => {
    for (const plugins of [[], [testPlugin("a/a"), testPlugin("b/b")]]) {
      const { manager } = await managerOf(plugins);
      const found = await manager.findExpandablePluginBySpec(flexSpec);
      expect(found && isNoopExpandablePlugin(found) && found.getPluginName()).toBe("vendor/driver");
      await expect(manager.findExpandablePluginBySpec(undefined)).rejects.toMatchObject({ code: "nil-dereference" });
    }
  });

  it("hide the cause from who looks for a persistent plugin", async () => {
    const { manager } = await managerOf([]);
    await expect(manager.findPersistentPluginBySpec(nfsSpec)).rejects.toThrow("could not find volume plugin for spec: &volume.Spec{Volume:");
  });
});

describe("the published table", () => {
  it("is read while a driver's init sleeps, and shows the driver when it is awake", async () => {
    let wake: () => void = () => {};
    const slow = testPlugin("vendor/slow", { init: () => new Promise((resolve) => (wake = resolve)) });
    const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
    const initialised = manager.initPlugins([testPlugin("a/nfs", supportsVolumeField("nfs"))], scriptedProber([addOrUpdate(slow)]), undefined);
    await settled();
    const early = manager.published();
    expect(early.rows.map(({ name }) => name)).toEqual(["a/nfs"]);
    expect(early.matcher.match(nfsSpec)).toMatchObject({ outcome: "found", entry: { name: "a/nfs" } });
    wake();
    await initialised;
    expect(manager.published().rows.map(({ name }) => name)).toEqual(["a/nfs", "vendor/slow"]);
    expect(early.rows).toHaveLength(1);
  });

  it("is told to listeners when something changed, and only then", async () => {
    const prober = scriptedProber([], [addOrUpdate(testPlugin("vendor/y"))], [removal("vendor/y"), removal("vendor/z")]);
    const { manager } = await managerOf([], prober);
    const seen: string[][] = [];
    const stop = manager.onPublished((table) => seen.push(table.rows.map(({ name }) => name)));
    manager.onPublished(() => {
      throw new Error("a page failed");
    });
    await manager.findPluginByName("vendor/y");
    await manager.findPluginByName("vendor/y").catch(() => undefined);
    await manager.findPluginByName("vendor/y").catch(() => undefined);
    expect(seen).toEqual([["vendor/y"], []]);
    expect(manager.published().probes).toMatchObject([
      { id: 1, op: "add or update", pluginName: "vendor/y", outcome: "loaded" },
      { id: 2, op: "remove", pluginName: "vendor/y", outcome: "removed" },
      { id: 3, op: "remove", pluginName: "vendor/z", outcome: "ignored" },
    ]);
    stop();
    await manager.initPlugins([], undefined, undefined);
    expect(seen).toHaveLength(2);
  });

  it("counts a driver that fails again and again as one event, and forgets it when it is removed", async () => {
    const failures = [{ pluginName: "vendor/bad", path: "/exec/vendor~bad", message: "permission denied" }];
    const broken = { events: [], error: new Error("[permission denied]"), failures };
    const { manager } = await managerOf([], scriptedProber(broken, broken, broken, [removal("vendor/bad")]));
    for (let find = 0; find < 2; find += 1) await manager.findPluginByName("x").catch(() => undefined);
    expect(manager.published()).toMatchObject({
      rows: [{ name: "vendor/bad", state: "failed", serving: false, path: "/exec/vendor~bad", error: "permission denied" }],
      probes: [{ outcome: "failed" }],
    });
    await manager.findPluginByName("x").catch(() => undefined);
    expect(manager.published()).toMatchObject({ rows: [], probes: [{ outcome: "failed", count: 3 }, { outcome: "ignored" }] });
  });

  it("cannot be changed by a reader", async () => {
    const { manager } = await managerOf([testPlugin("a/a")]);
    expect(() => Object.assign(manager.published().rows, { length: 0 })).toThrow(TypeError);
    expect(() => Object.assign(manager.published(), { version: 0 })).toThrow(TypeError);
  });
});

describe("a refresh asked for", () => {
  it("begins at most once a second, however often it is asked for", async () => {
    const prober = scriptedProber();
    const { manager, clock } = await managerOf([], prober);
    const ask = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time += 1) manager.requestRefresh();
      await settled();
    };
    await ask(5);
    expect(prober.probes).toBe(2);
    await ask(5);
    expect(prober.probes).toBe(2);
    await clock.advance(999);
    expect(prober.probes).toBe(2);
    await clock.advance(1);
    expect(prober.probes).toBe(3);
    await clock.advance(5_000);
    expect(prober.probes).toBe(3);
  });

  it("comes from the prober that is in use, and not from one that was replaced", async () => {
    const told: (() => void)[] = [];
    const watching = (): DynamicPluginProber & { probes: number } => ({ ...scriptedProber(), onChange: (listener) => told.push(listener) });
    const [first, second] = [watching(), watching()];
    const { manager, clock } = await managerOf([], first);
    await manager.initPlugins([], second, undefined);
    for (const tell of told) tell();
    await clock.advance(10_000);
    expect([first.probes, second.probes]).toEqual([1, 2]);
  });
});
