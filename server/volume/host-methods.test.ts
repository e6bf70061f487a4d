import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createMemoryHost } from "@/server/hosts/memory";
import { hostMethods, leftOut, type HostMethod } from "@/server/volume/host-methods";

const methods: [string, HostMethod][] = Object.entries(hostMethods);

/** VolumeHost, KubeletVolumeHost, CSIDriverVolumeHost and AttachDetachVolumeHost of the seed, in Go's case. */
const ofTheSeed = `
  GetPluginDir GetVolumeDevicePluginDir GetPodsDir GetPodVolumeDir GetPodPluginDir GetPodVolumeDeviceDir GetKubeClient NewWrapperMounter
  NewWrapperUnmounter GetMounter GetNodeAllocatable GetSecretFunc GetConfigMapFunc GetServiceAccountTokenFunc DeleteServiceAccountTokenFunc
  GetNodeLabels GetNodeName GetAttachedVolumesFromNodeStatus GetEventRecorder GetSubpather SetKubeletError GetInformerFactory
  CSIDriverLister CSIDriversSynced WaitForCacheSync GetHostUtil GetTrustAnchorsByName GetTrustAnchorsBySigner
  GetPodCertificateCredentialBundle CSINodeLister VolumeAttachmentLister IsAttachDetachController`.trim().split(/\s+/);

const serverFolder = path.join(path.dirname(fileURLToPath(import.meta.url)), "..");

function sourcesBelow(place: string): string[] {
  const at = path.join(serverFolder, place);
  return readdirSync(at, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(at, name))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && statSync(name).isFile())
    .map((name) => readFileSync(name, "utf8"));
}

describe("the table of host methods", () => {
  it("has every method of the seed's hosts", () => {
    const inOurCase = (name: string): string => name.replace(/^CSI/, "csi").replace(/^./, (first) => first.toLowerCase());
    const known = [...Object.keys(hostMethods), ...Object.keys(leftOut)];
    expect(known.toSorted()).toEqual(ofTheSeed.map(inOurCase).toSorted());
  });

  it.each(methods)("%s is called where the table says", (name, { calledBy }) => {
    const silent = calledBy.filter((place) => !sourcesBelow(place).some((source) => source.includes(`.${name}(`)));
    expect(silent).toEqual([]);
  });

  it.each(methods.filter(([, { answeredBy }]) => answeredBy.includes("kubelet")))("%s is answered by a kubelet", (name) => {
    expect(typeof Reflect.get(createMemoryHost().host, name)).toBe("function");
  });
});

describe("a kubelet without an API", () => {
  const { host } = createMemoryHost({ noKubeClient: true });
  const source = { namespace: "ns", podName: "p", podUID: "u", volumeName: "v", sourceIndex: 0 };
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    getSecretFunc: () => host.getSecretFunc()("ns", "s"),
    getConfigMapFunc: () => host.getConfigMapFunc()("ns", "c"),
    getServiceAccountTokenFunc: () => host.getServiceAccountTokenFunc()("ns", "sa", { audiences: [] }),
    waitForCacheSync: () => host.waitForCacheSync(),
    getTrustAnchorsByName: () => host.getTrustAnchorsByName("n", false),
    getTrustAnchorsBySigner: () => host.getTrustAnchorsBySigner("s", undefined, false),
    getPodCertificateCredentialBundle: () => host.getPodCertificateCredentialBundle(source),
  };

  it("refuses exactly what the table says it refuses", () => {
    expect(Object.keys(asked)).toEqual(methods.flatMap(([name, { standalone }]) => (standalone === undefined ? [] : [name])));
  });

  it.each(Object.entries(asked))("refuses %s with the text of the table", async (name, ask) => {
    const text = methods.find(([method]) => method === name)?.[1].standalone;
    await expect(ask()).rejects.toThrow(text);
  });
});
