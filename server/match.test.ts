import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { json, startFakeApi, statusBody } from "@/server/cluster/fake-api";
import { worstOf } from "@/server/diagnosis/manifest-match";
import { match, parseMatchOptions, type MatchOptions } from "@/server/match";
import { matchText } from "@/server/match-text";
import { jsonText } from "@/server/print";

async function matchOf(text: string, options: Partial<MatchOptions> = {}) {
  const folder = mkdtempDisposableSync(join(tmpdir(), "voldeck-match-"));
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "pod.yaml");
  writeFileSync(file, text);
  return match({ files: [file], kubeconfigs: [], context: undefined, namespace: undefined, json: false, verbose: false, ...options });
}

const podOf = (volume: string) => `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: []
  volumes:
  - ${volume}
`;

const claim = `---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {volumeName: pv-1, storageClassName: fast}
`;
const volumeOf = (source: string) => `---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {capacity: {storage: 1Gi}, ${source}}
`;
const classOf = (allows: string) => `---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.example.com
${allows}
`;
const claimed = podOf("{name: data, persistentVolumeClaim: {claimName: data}}");

describe("the plugin of a volume in a manifest", () => {
  it.each([
    ["an emptyDir", podOf("{name: v, emptyDir: {}}"), "kubernetes.io/empty-dir", "none"],
    ["a configMap", podOf("{name: v, configMap: {name: c}}"), "kubernetes.io/configmap", "none"],
    ["an inline csi volume, which nobody attaches", podOf("{name: v, csi: {driver: d}}"), "kubernetes.io/csi", "none"],
    ["a claim of a csi driver", claimed + claim + volumeOf("csi: {driver: d, volumeHandle: h}"), "kubernetes.io/csi", "kubernetes.io/csi"],
    ["an iscsi volume, which a controller attaches too", podOf("{name: v, iscsi: {targetPortal: p, iqn: i, lun: 0}}"), "kubernetes.io/iscsi", "kubernetes.io/iscsi"],
    ["a claim bound in the same files", claimed + claim + volumeOf("nfs: {server: s, path: /x}"), "kubernetes.io/nfs", "none"],
  ])("of %s", async (_what, text, node, attach) => {
    const [volume] = await matchOf(text);
    expect(volume?.node).toMatchObject({ kind: "one", plugin: node });
    expect(volume?.attachController).toMatchObject(attach === "none" ? { kind: "none" } : { kind: "one", plugin: attach });
  });

  it("is none, with the kubelet's words, for a source whose plugin was removed", async () => {
    const volumes = await matchOf(podOf("{name: v, glusterfs: {endpoints: e, path: p}}"));
    expect(volumes[0]?.node).toMatchObject({ kind: "none", text: "no volume plugin matched" });
    expect(volumes[0]?.verdicts).toHaveLength(13);
    expect(worstOf(volumes)).toBe("unserved");
  });

  it.each([
    ["a FlexVolume driver, which only its node sees", podOf("{name: v, flexVolume: {driver: a/b}}"), "can't be known from here"],
    ["a claim that is nowhere", claimed, "there is no claim data in these files"],
    ["a claim whose volume is nowhere", claimed + claim, "bound to pv-1, which is not in these files"],
    ["a claim that is not bound", claimed + claim.replace("volumeName: pv-1, ", "") + classOf(""), "the volume that csi.example.com makes for it decides"],
  ])("is unknown for %s", async (_what, text, why) => {
    const volumes = await matchOf(text);
    expect(volumes[0]?.node).toMatchObject({ kind: "unknown", why: expect.stringContaining(why) });
    expect(worstOf(volumes)).toBe("unknown");
  });

  it("comes for every workload, and for the claims that a StatefulSet makes", async () => {
    const template = "template: {metadata: {labels: {a: b}}, spec: {containers: [], volumes: [{name: tmp, emptyDir: {}}]}}";
    const workload = (kind: string, version: string, spec: string) => `---\napiVersion: ${version}\nkind: ${kind}\nmetadata: {name: w, namespace: shop}\nspec: {${spec}}\n`;
    const selector = "selector: {matchLabels: {a: b}}";
    const volumes = await matchOf(
      workload("Deployment", "apps/v1", `${selector}, ${template}`) +
        workload("CronJob", "batch/v1", `schedule: "* * * * *", jobTemplate: {spec: {${template}}}`) +
        workload("StatefulSet", "apps/v1", `serviceName: w, ordinals: {start: 3}, ${selector}, ${template}, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]`) +
        classOf("allowVolumeExpansion: true"),
    );
    expect(volumes.map(({ owner, volume, claim: name }) => [owner, volume, name])).toEqual([
      ["Deployment shop/w", "tmp", undefined],
      ["CronJob shop/w", "tmp", undefined],
      ["StatefulSet shop/w", "data", "data-w-3"],
      ["StatefulSet shop/w", "tmp", undefined],
    ]);
    expect(volumes[2]?.grows).toEqual({ answer: "yes", why: "class fast: allowVolumeExpansion is true" });
  });
});

describe("whether a volume may grow", () => {
  it.each([
    ["its class allows it", claimed + claim + classOf("allowVolumeExpansion: true"), "yes", "allowVolumeExpansion is true"],
    ["its class forbids it", claimed + claim + classOf("allowVolumeExpansion: false"), "no", "allowVolumeExpansion is false"],
    ["its class does not say", claimed + claim + classOf(""), "no", "allowVolumeExpansion is absent"],
    ["its class is not there", claimed + claim, "unknown", "class fast is not in these files"],
    ["it has no class", claimed + claim.replace("storageClassName: fast", 'storageClassName: ""'), "no", "a claim without a class cannot grow"],
    ["a default class decides", claimed + claim.replace("volumeName: pv-1, storageClassName: fast", "volumeMode: Block"), "unknown", "the cluster's default class decides"],
    ["it lies in memory, with a limit", podOf("{name: v, emptyDir: {medium: Memory, sizeLimit: 1Mi}}"), "yes", "pods/resize"],
    ["it lies in memory, without one", podOf("{name: v, emptyDir: {medium: Memory}}"), "no", "none can be added"],
    ["it lies on disk", podOf("{name: v, emptyDir: {sizeLimit: 1Mi}}"), "no", "has no size that can be changed"],
  ])("when %s", async (_when, text, answer, why) => {
    const [volume] = await matchOf(text);
    expect(volume?.grows).toEqual({ answer, why: expect.stringContaining(why) });
  });
});

describe("faults of a manifest", () => {
  it.each([
    ["an unknown field", podOf("{name: v, emptydir: {}}"), 'pod.yaml:8: unknown field "spec.volumes[0].emptydir"'],
    ["a value of the wrong type", podOf("{name: v, emptyDir: 5}"), "pod.yaml:"],
    ["no YAML", "a: [", "pod.yaml:1:"],
    ["no pod at all", claim, "holds no pod and no workload that makes pods"],
  ])("are refused with file and line: %s", async (_what, text, message) => {
    await expect(matchOf(text)).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(message) });
  });

  it.each([
    ["no file", [], "-f: no manifest is named"],
    ["a kubeconfig without a context", ["-f", "x", "--kubeconfig", "y"], "--kubeconfig: needs --context"],
    ["an unknown flag", ["--file", "x"], "Unknown option '--file'"],
  ])("and of the command line: %s", (_what, args, message) => {
    expect(() => parseMatchOptions(args)).toThrow(message);
  });

  it("are told for a context that no kubeconfig has", async () => {
    await expect(matchOf(podOf("{name: v, emptyDir: {}}"), { context: "nowhere", kubeconfigs: [] })).rejects.toThrow('--context: there is no context "nowhere"');
  });
});

it("looks up in the context what a claim of the files is bound to", async () => {
  const volume = { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: "pv-1" }, spec: { nfs: { server: "s", path: "/x" } } };
  const api = await startFakeApi((response, { url }) =>
    url.pathname === "/api/v1/persistentvolumes/pv-1" ? json(response, 200, volume) : json(response, 404, statusBody(404, "NotFound", "not found")),
  );
  onTestFinished(() => api.close());
  const folder = mkdtempDisposableSync(join(tmpdir(), "voldeck-match-"));
  onTestFinished(() => folder.remove());
  const kubeconfig = join(folder.path, "config");
  writeFileSync(kubeconfig, `clusters: [{name: c, cluster: {server: "${api.context.server}"}}]\nusers: []\ncontexts: [{name: shop, context: {cluster: c, user: ""}}]\n`);
  const [found] = await matchOf(claimed + claim, { context: "shop", kubeconfigs: [kubeconfig] });
  expect(found).toMatchObject({ persistentVolume: "pv-1", node: { kind: "one", plugin: "kubernetes.io/nfs" } });
});

it("prints nothing of a manifest that could steer a terminal", async () => {
  const volumes = await matchOf(podOf('{name: v, hostPath: {path: "/\\e[31mred"}}').replace("name: web", 'name: "web\\e[2J\\u009b1m\\nPod fake"'));
  const steers = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;
  expect(matchText(volumes, { verbose: true })).not.toMatch(steers);
  expect(matchText(volumes, { verbose: true }).split("\n").filter((line) => line.startsWith("Pod "))).toHaveLength(1);
  expect(jsonText(volumes)).not.toMatch(steers);
  expect(JSON.parse(jsonText(volumes))).toMatchObject([{ owner: volumes[0]?.owner }]);
});
