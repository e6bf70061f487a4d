import { describe, expect, it } from "vitest";
import { newSpecFromVolume } from "@/server/volume/spec";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import {
  addSELinuxMountOption,
  fixedTranslator,
  getMountSELinuxLabel,
  isMultipleSELinuxLabels,
  type LabelQuestion,
  type SELinuxLabelTranslator,
} from "@/server/volume/selinux";
import { ManualClock, quietLog, testPlugin } from "@/server/volume/test-plugins";

const label = "system_u:object_r:container_file_t:s0:c1";
const question: LabelQuestion = {
  spec: newSpecFromVolume({ name: "v" }),
  containerOptions: [{ level: "s0:c1" }, { level: "s0:c1" }],
  podSecurityContext: undefined,
};

async function managerWith(supports: boolean): Promise<VolumePluginManager> {
  const manager = new VolumePluginManager({ clock: new ManualClock(), log: quietLog });
  await manager.initPlugins([testPlugin("p", { supportsSELinuxContextMount: async () => supports })], undefined, undefined);
  return manager;
}

async function ask(changes: Partial<LabelQuestion>, supports = true, translator: SELinuxLabelTranslator = fixedTranslator): Promise<unknown> {
  return getMountSELinuxLabel({ ...question, ...changes }, await managerWith(supports), translator).catch((error: unknown) => error);
}

describe("getMountSELinuxLabel", () => {
  it("mounts with the one label where the plugin can", async () => {
    expect(await ask({})).toEqual({ mountLabel: label, processLabel: label, pluginSupportsContextMount: true });
    expect(await ask({}, false)).toEqual({ mountLabel: "", processLabel: label, pluginSupportsContextMount: false });
  });
  it("leaves the mount alone where the pod wants its files relabelled", async () => {
    expect(await ask({ podSecurityContext: { seLinuxChangePolicy: "Recursive" } })).toMatchObject({ mountLabel: "", processLabel: label });
  });
  it("refuses two labels, a container without one included", async () => {
    const error = await ask({ containerOptions: [{ level: "s0:c1" }, undefined] });
    expect(isMultipleSELinuxLabels(error) && error.labels).toEqual(["", label]);
    expect(error).toMatchObject({ message: `multiple SELinux labels found: ,${label}` });
  });
  it("asks nothing on a node without SELinux", async () => {
    expect(await ask({}, true, { ...fixedTranslator, selinuxEnabled: () => false })).toMatchObject({ pluginSupportsContextMount: false });
  });
  it("names the options the policy refuses", async () => {
    const refusing: SELinuxLabelTranslator = {
      selinuxEnabled: () => true,
      optionsToFileLabel: () => {
        throw new Error("unknown level");
      },
    };
    expect(await ask({}, true, refusing)).toMatchObject({
      message: String.raw`failed to construct SELinux label from context "{\"level\":\"s0:c1\"}": unknown level`,
    });
  });
});

describe("addSELinuxMountOption", () => {
  it("quotes the context and leaves the given list alone", () => {
    const options = ["ro"];
    expect(addSELinuxMountOption(options, "a:b:c:s0:c1,c2")).toEqual(["ro", 'context="a:b:c:s0:c1,c2"']);
    expect(options).toEqual(["ro"]);
  });
});
