import { describe, expect, it } from "vitest";
import { interfacesOf } from "@/server/volume/plugin";
import { newControllerPlugins, newKubeletPlugins, type ControllerName } from "@/server/volume/plugins";

const names = (plugins: readonly { getPluginName(): string }[]) => plugins.map((plugin) => plugin.getPluginName().replace("kubernetes.io/", ""));

describe("newKubeletPlugins", () => {
  it("registers in the kubelet's order", () => {
    expect(names(newKubeletPlugins())).toEqual([
      "empty-dir", "git-repo", "host-path", "nfs", "secret", "iscsi", "downward-api", "fc", "configmap", "projected", "local-volume", "csi", "image",
    ]);
  });

  it("makes each plugin say which field decides", () => {
    expect(newKubeletPlugins().filter(({ decidingField, sources }) => !decidingField || !sources)).toEqual([]);
  });

  it.each([
    ["empty-dir", ["ResizableEphemeralVolumePlugin"]],
    ["host-path", ["PersistentVolumePlugin", "RecyclableVolumePlugin", "DeletableVolumePlugin", "ProvisionableVolumePlugin"]],
    ["nfs", ["PersistentVolumePlugin", "RecyclableVolumePlugin"]],
    ["secret", []],
    ["configmap", []],
    ["downward-api", []],
    ["projected", []],
    ["git-repo", []],
    ["image", []],
  ])("%s has the extension interfaces %j", (name, interfaces) => {
    const plugin = newKubeletPlugins().find((candidate) => candidate.getPluginName() === `kubernetes.io/${name}`);
    expect(plugin && interfacesOf(plugin)).toEqual(interfaces);
  });
});

describe("newControllerPlugins", () => {
  it.each<[ControllerName, string[]]>([
    ["attachDetach", ["fc", "iscsi", "csi"]],
    ["expand", []],
    ["binder", ["host-path", "nfs"]],
    ["seLinuxWarning", ["host-path", "nfs", "fc", "iscsi", "csi"]],
  ])("%s keeps %j", (controller, kept) => {
    expect(names(newControllerPlugins(controller))).toEqual(kept);
  });
});
