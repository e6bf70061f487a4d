import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PersistentVolumeSource, VolumeSource } from "@/lib/kube/volumes";
import { errorOf, matchOf, PluginMatcher, type PluginEntry } from "@/server/volume/plugin-matcher";
import type { Spec } from "@/server/volume/spec";
import { testPlugin } from "@/server/volume/test-plugins";

const volumeFields = ["nfs", "hostPath", "emptyDir", "flexVolume"] as const satisfies readonly (keyof VolumeSource)[];
const persistentVolumeFields = ["nfs", "local", "csi", "flexVolume"] as const satisfies readonly (keyof PersistentVolumeSource)[];

const anyPlugin = fc.record({
  origin: fc.constantFrom("registered", "probed"),
  volume: fc.subarray([...volumeFields]),
  persistentVolume: fc.subarray([...persistentVolumeFields]),
  driver: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
  declares: fc.boolean(),
});

const sourceOf = fc.constantFrom({ driver: "a" }, { driver: "b" }, {}, null);
const anySpec = fc.record(
  {
    volume: fc.tuple(fc.subarray([...volumeFields]), sourceOf).map(([fields, source]) => fieldsWith(fields, source)),
    persistentVolume: fc
      .tuple(fc.subarray([...persistentVolumeFields]), sourceOf)
      .map(([fields, source]) => ({ metadata: { name: "pv" }, spec: fieldsWith(fields, source) })),
  },
  { requiredKeys: [] },
);

function fieldsWith(fields: readonly string[], source: object | null): Record<string, unknown> {
  return { name: "v", capacity: {}, ...Object.fromEntries(fields.map((field) => [field, source])) };
}

/** A plugin that reads what it declares, or declares nothing and reads the same. */
function entryOf(input: typeof anyPlugin extends fc.Arbitrary<infer T> ? T : never, index: number): PluginEntry {
  const { origin, volume, persistentVolume, driver, declares } = input;
  const says = (part: object | undefined, field: string): boolean => {
    const source: unknown = part && Reflect.get(part, field);
    if (typeof source !== "object" || source === null) return false;
    return driver === undefined || Reflect.get(source, "driver") === driver;
  };
  const plugin = testPlugin(`p/${index}`, {
    sources: declares ? { volume, persistentVolume, driver } : undefined,
    canSupport: (spec) =>
      volume.some((field) => says(spec.volume, field)) ||
      persistentVolume.some((field) => says(spec.persistentVolume?.spec, field)),
  });
  return { name: `p/${index}`, origin: origin === "probed" ? "probed" : "registered", plugin };
}

describe("PluginMatcher", () => {
  it("answers what asking every plugin answers, for any plugins and any spec", () => {
    fc.assert(
      fc.property(fc.array(anyPlugin, { maxLength: 8 }), fc.array(anySpec, { minLength: 1, maxLength: 10 }), (inputs, specs) => {
        const entries = inputs.map(entryOf);
        const matcher = new PluginMatcher(entries);
        for (const input of specs) {
          const spec = { readOnly: false, inlineVolumeSpecForCSIMigration: false, migrated: false, ...input } as Spec;
          expect(matcher.match(spec)).toEqual(matchOf(entries.filter(({ plugin }) => plugin.canSupport(spec))));
        }
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  it("does not take the plugin twice that supports both parts of a spec", () => {
    const entry: PluginEntry = {
      name: "nfs",
      origin: "registered",
      plugin: testPlugin("nfs", { sources: { volume: ["nfs"], persistentVolume: ["nfs"] } }),
    };
    const source = { server: "srv", path: "/x" };
    const spec: Spec = {
      volume: { name: "v", nfs: source },
      persistentVolume: { metadata: { name: "pv" }, spec: { nfs: source } },
      readOnly: false,
      inlineVolumeSpecForCSIMigration: false,
      migrated: false,
    };
    expect(new PluginMatcher([entry]).match(spec)).toEqual({ outcome: "found", entry });
  });
});

describe("errorOf", () => {
  const entry = (name: string, origin: PluginEntry["origin"]): PluginEntry => ({ name, origin, plugin: testPlugin(name) });

  it("is none for one plugin", () => {
    expect(errorOf(matchOf([entry("a", "probed")]))).toBeUndefined();
  });
  it("is the sentinel for no plugin", () => {
    expect(errorOf(matchOf([]))).toMatchObject({ code: "no-plugin-matched", message: "no volume plugin matched" });
  });
  it("names several in order, the registered ones first", () => {
    const match = matchOf([entry("b", "registered"), entry("z", "probed"), entry("a", "probed"), entry("a", "registered")]);
    expect(errorOf(match)?.message).toBe("multiple volume plugins matched: a,b,a,z");
  });
});
