import { describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import { AttachDetachHost } from "@/server/hosts/attach-detach-host";
import { expandControllerHost, persistentVolumeControllerHost } from "@/server/hosts/controller-hosts";
import { createMemoryHost } from "@/server/hosts/memory";
import { VolumeError } from "@/server/volume/errors";
import { isAttachDetachVolumeHost, isCSIDriverVolumeHost, isKubeletVolumeHost } from "@/server/volume/host";
import type { VolumeHost } from "@/server/volume/host";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { Spec } from "@/server/volume/spec";
import { newSpecFromVolume } from "@/server/volume/spec";
import type { Mounter } from "@/server/volume/volume";

const pod: Pod = { metadata: { name: "pod", namespace: "ns", uid: "u" }, spec: { containers: [] } };
const spec = newSpecFromVolume({ name: "v", emptyDir: {} });

/** A plugin of which only the two methods of the wrapper matter. */
function pluginWith(newMounter: (spec: Spec) => Promise<Mounter | undefined>): VolumePlugin {
  const unused = (): never => {
    throw new Error("not asked by the wrapper");
  };
  return {
    init: unused,
    getPluginName: () => "kubernetes.io/empty-dir",
    getVolumeName: unused,
    canSupport: unused,
    requiresRemount: unused,
    newMounter,
    newUnmounter: async () => undefined,
    constructVolumeSpec: unused,
    supportsMountOption: unused,
    supportsSELinuxContextMount: unused,
  };
}

describe("paths of a kubelet host", () => {
  const { host } = createMemoryHost();
  it.each([
    ["plugin", host.getPluginDir("kubernetes.io/csi"), "/var/lib/kubelet/plugins/kubernetes.io/csi"],
    ["device plugin", host.getVolumeDevicePluginDir("kubernetes.io/fc"), "/var/lib/kubelet/plugins/kubernetes.io/fc/volumeDevices"],
    ["pods", host.getPodsDir(), "/var/lib/kubelet/pods"],
    ["pod volume", host.getPodVolumeDir("u", "kubernetes.io~nfs", "v"), "/var/lib/kubelet/pods/u/volumes/kubernetes.io~nfs/v"],
    ["pod plugin", host.getPodPluginDir("u", "kubernetes.io~nfs"), "/var/lib/kubelet/pods/u/plugins/kubernetes.io~nfs"],
    ["pod devices", host.getPodVolumeDeviceDir("u", "kubernetes.io~fc"), "/var/lib/kubelet/pods/u/volumeDevices/kubernetes.io~fc"],
  ])("%s", (_, path, expected) => {
    expect(path).toBe(expected);
  });
});

describe("a kubelet host", () => {
  it("without an API refuses objects and has no listers", async () => {
    const { host } = createMemoryHost({ noKubeClient: true });
    const text = "not supported due to running kubelet in standalone mode";
    await expect(host.getSecretFunc()("ns", "s")).rejects.toThrow(text);
    await expect(host.getConfigMapFunc()("ns", "c")).rejects.toThrow(text);
    expect(host.getKubeClient()).toBeUndefined();
    expect(host.csiDriverLister()).toBeUndefined();
    expect(host.getInformerFactory()).toBeUndefined();
    await expect(host.waitForCacheSync()).rejects.toThrow("csiDriversSynced not found on KubeletVolumeHost");
  });

  it("gives objects of the API and a server's text for what is missing", async () => {
    const { host } = createMemoryHost({ secrets: [{ metadata: { name: "s", namespace: "ns" }, data: { k: "dg==" } }] });
    expect((await host.getSecretFunc()("ns", "s")).data).toEqual({ k: "dg==" });
    await expect(host.getSecretFunc()("other", "s")).rejects.toMatchObject({ code: "not-found", message: 'secrets "s" not found' });
    await expect(host.getConfigMapFunc()("ns", "c")).rejects.toThrow('configmaps "c" not found');
  });

  it("says that the node could not be retrieved", async () => {
    const { host } = createMemoryHost({ nodeError: new Error("no node") });
    await expect(host.getNodeAllocatable()).rejects.toThrow("error retrieving node: no node");
    await expect(host.getNodeLabels()).rejects.toThrow("error retrieving node: no node");
    await expect(host.getAttachedVolumesFromNodeStatus()).rejects.toThrow("error retrieving node: no node");
  });

  it("knows what is attached to its node", async () => {
    const { host } = createMemoryHost({ volumesAttached: [{ name: "kubernetes.io/csi/d^h", devicePath: "/dev/x" }] });
    expect(await host.getAttachedVolumesFromNodeStatus()).toEqual(new Map([["kubernetes.io/csi/d^h", "/dev/x"]]));
  });

  it("waits till the drivers are listed", async () => {
    let asked = 0;
    const { host, clock } = createMemoryHost({ api: { csiDriversSynced: () => ++asked > 2 } });
    const waiting = host.waitForCacheSync();
    await clock.advance(1000);
    await waiting;
    expect(asked).toBe(3);
  });

  it("hands the plugin a renamed copy of a wrapped spec", async () => {
    const names: (string | undefined)[] = [];
    const { host } = createMemoryHost({
      findPluginBySpec: async (wrapped) => {
        names.push(wrapped.volume?.name);
        return pluginWith(async () => undefined);
      },
    });
    await expect(host.newWrapperMounter("inner", spec, pod)).rejects.toThrow(
      "failed to instantiate mounter for volume: wrapped_inner using plugin: kubernetes.io/empty-dir with a root cause:",
    );
    expect(names).toEqual(["wrapped_inner"]);
    expect(spec.volume?.name).toBe("v");
  });

  it("wraps the texts of a failed look-up for the mounter, not for the unmounter", async () => {
    const { host } = createMemoryHost({
      findPluginBySpec: async () => {
        throw new VolumeError("no volume plugin matched", "no-plugin-matched");
      },
    });
    await expect(host.newWrapperMounter("x", spec, pod)).rejects.toMatchObject({
      code: "no-plugin-matched",
      message: "can't use volume plugins for wrapped_x: no volume plugin matched",
    });
    await expect(host.newWrapperUnmounter("x", spec, "u")).rejects.toMatchObject({ message: "no volume plugin matched" });
  });
});

describe("controller hosts", () => {
  const { ports } = createMemoryHost();
  const hosts: readonly [string, VolumeHost, string, string, string][] = [
    [
      "attachDetachController",
      new AttachDetachHost({ ports }),
      "GetNodeLabels() unsupported in Attach/Detach controller",
      "NewWrapperMounter not supported by Attach/Detach controller's VolumeHost implementation",
      "NewWrapperUnmounter not supported by Attach/Detach controller's VolumeHost implementation",
    ],
    [
      "expandController",
      expandControllerHost({ ports }),
      "GetNodeLabels unsupported in expandController",
      "NewWrapperMounter not supported by expand controller's VolumeHost implementation",
      "NewWrapperUnmounter not supported by expand controller's VolumeHost implementation",
    ],
    [
      "PersistentVolumeController",
      persistentVolumeControllerHost({ ports }),
      "GetNodeLabels() unsupported in PersistentVolumeController",
      "PersistentVolumeController.NewWrapperMounter is not implemented",
      "PersistentVolumeController.NewWrapperMounter is not implemented",
    ],
  ];

  it.each(hosts)("%s refuses what only a node can do", async (component, host, labels, mounter, unmounter) => {
    await expect(host.getSecretFunc()("n", "s")).rejects.toThrow(`GetSecret unsupported in ${component}`);
    await expect(host.getConfigMapFunc()("n", "c")).rejects.toThrow(`GetConfigMap unsupported in ${component}`);
    await expect(host.getServiceAccountTokenFunc()("n", "s", { audiences: [] })).rejects.toThrow(`GetServiceAccountToken unsupported in ${component}`);
    await expect(host.getNodeLabels()).rejects.toThrow(labels);
    await expect(host.newWrapperMounter("v", spec, pod)).rejects.toThrow(mounter);
    await expect(host.newWrapperUnmounter("v", spec, "u")).rejects.toThrow(unmounter);
  });

  it.each(hosts)("%s has no paths, no mounter and no node", async (_, host) => {
    expect([host.getPodsDir(), host.getPluginDir("p"), host.getPodVolumeDir("u", "p", "v"), host.getNodeName()]).toEqual(["", "", "", ""]);
    expect(host.getMounter()).toBeUndefined();
    expect(await host.getNodeAllocatable()).toEqual({});
    expect(isKubeletVolumeHost(host)).toBe(false);
  });

  it("only the attach/detach host has its listers, and no recorder", () => {
    expect(hosts.map(([, host]) => isAttachDetachVolumeHost(host))).toEqual([true, false, false]);
    expect(hosts.map(([, host]) => isCSIDriverVolumeHost(host))).toEqual([true, false, false]);
    const events = { event: () => undefined };
    expect(new AttachDetachHost({ ports, eventRecorder: events }).getEventRecorder()).toBeUndefined();
    expect(expandControllerHost({ ports, eventRecorder: events }).getEventRecorder()).toBe(events);
  });
});
