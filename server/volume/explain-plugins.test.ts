/** The kubelet's real plugins in the published table: held to Kubernetes' answers and to their own canSupport. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Volume } from "@/lib/kube/volumes";
import { createMemoryHost } from "@/server/hosts/memory";
import { explain } from "@/server/volume/explain";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { errorOf, matchOf } from "@/server/volume/plugin-matcher";
import type { PluginTable } from "@/server/volume/plugin-table";
import { newKubeletPlugins } from "@/server/volume/plugins";
import type { Spec } from "@/server/volume/spec";
import { addOrUpdate, ManualClock, quietLog, scriptedProber, testPlugin } from "@/server/volume/test-plugins";

interface SpecLine {
  readonly id: string;
  readonly in: { readonly spec: Partial<Spec> };
  readonly out: { readonly kubelet: { readonly FindPluginBySpec: { readonly out?: string; readonly err?: string } } };
}

interface PluginSetLine {
  readonly out: readonly { name: string; interfaces: string[]; accessModes?: string[]; supportsMountOption: boolean }[];
}

const here = path.dirname(fileURLToPath(import.meta.url));
const lines: readonly { fn: string; in: { set?: string } }[] = gunzipSync(
  readFileSync(path.join(here, "../../e2e/goldens/data/volume/realplugins.jsonl.gz")),
)
  .toString("utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));

const flexPlugin = (driver: string): ReturnType<typeof testPlugin> =>
  testPlugin(driver, {
    canSupport: (spec) => (spec.volume?.flexVolume ?? spec.persistentVolume?.spec.flexVolume)?.driver === driver,
    sources: { volume: ["flexVolume"], persistentVolume: ["flexVolume"], driver },
  });

async function kubeletTable(...drivers: string[]): Promise<PluginTable> {
  const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
  const prober = scriptedProber(drivers.map((driver) => addOrUpdate(flexPlugin(driver))));
  await manager.initPlugins(newKubeletPlugins(), prober, createMemoryHost().host);
  return manager.published();
}

function whole(spec: Partial<Spec>): Spec {
  return { readOnly: false, inlineVolumeSpecForCSIMigration: false, migrated: false, ...spec };
}

describe("explain over the kubelet's plugins", () => {
  it("names the winner or the error that Kubernetes gives for each spec, and why each other plugin could not", async () => {
    const table = await kubeletTable();
    const specLines = lines.filter(({ fn }) => fn === "spec") as unknown as SpecLine[];
    expect(specLines.length).toBeGreaterThan(400);
    for (const { id, in: input, out } of specLines) {
      const spec = whole(input.spec);
      const { winner, error, plugins } = explain(table, spec);
      const { out: name, err } = out.kubelet.FindPluginBySpec;
      expect([id, winner, error?.message]).toEqual([id, name, err]);
      const match = table.matcher.match(spec);
      expect([id, match.outcome === "found" ? match.entry.name : errorOf(match)?.message]).toEqual([id, name ?? err]);
      expect(plugins.filter(({ could, field }) => !could && !/^(volume|persistentVolume\.spec)\.\w+/.test(field))).toEqual([]);
    }
  });
});

describe("the published table of a kubelet", () => {
  it("shows of each plugin what Kubernetes' own has", async () => {
    const { rows } = await kubeletTable();
    const kubelet = lines.find((line) => line.fn === "pluginSet" && line.in.set === "kubelet") as unknown as PluginSetLine;
    expect(
      rows.map(({ name, interfaces, accessModes, capabilities }) => ({
        name,
        interfaces: [...interfaces].sort(),
        accessModes,
        supportsMountOption: capabilities?.mountOptions,
      })),
    ).toEqual(
      kubelet.out.map(({ name, interfaces, accessModes = [], supportsMountOption }) => ({
        name,
        interfaces: [...interfaces].sort(),
        accessModes,
        supportsMountOption,
      })),
    );
    expect(rows.filter(({ kind, state, serving }) => kind !== "in-tree" || state !== "ok" || !serving)).toEqual([]);
  });

  it("tells SELinux mounts as the plugins answer them", async () => {
    const { rows } = await kubeletTable();
    const answers = Object.fromEntries(rows.map(({ name, capabilities }) => [name, capabilities?.seLinuxMount]));
    expect(answers).toMatchObject({ "kubernetes.io/iscsi": "yes", "kubernetes.io/fc": "yes", "kubernetes.io/csi": "per driver" });
    expect(Object.values(answers).filter((answer) => answer !== "no")).toHaveLength(3);
  });

  const fields = [
    "emptyDir", "gitRepo", "hostPath", "nfs", "secret", "iscsi", "downwardAPI", "fc", "configMap", "projected", "csi", "image", "flexVolume",
    "local", "rbd", "persistentVolumeClaim", "ephemeral", "toString", "constructor",
  ];
  const sources = fc.subarray(fields).chain((chosen) =>
    fc.constantFrom("vendor/a", "vendor/b", "vendor/none").map((driver) => Object.fromEntries(chosen.map((name) => [name, { driver }]))),
  );

  it("matches what each plugin's canSupport says, whatever fields a spec has", async () => {
    const { matcher } = await kubeletTable("vendor/a", "vendor/b");
    const anySpec = fc.record(
      {
        volume: sources.map((source) => ({ ...source, name: "v" }) as unknown as Volume),
        persistentVolume: sources.map((spec) => ({ metadata: { name: "pv" }, spec })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(anySpec, (parts) => {
        const spec = whole(parts);
        expect(matcher.match(spec)).toEqual(matchOf(matcher.entries.filter(({ plugin }) => plugin.canSupport(spec))));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });
});
