import { describe, expect, it } from "vitest";
import { failureReasons, isOperationFailure, operationMessage, OperationFailure, step, successReasons, unprocessedMessage, type FailurePrefix, type SuccessPrefix } from "@/server/node/events";
import { VolumeError } from "@/server/volume/errors";

describe("texts of failures", () => {
  const prefixes: readonly (readonly [FailurePrefix, string | null])[] = [
    ["AttachVolume.FindAttachablePluginBySpec failed", "FailedAttachVolume"],
    ["AttachVolume.NewAttacher failed", "FailedAttachVolume"],
    ["AttachVolume.Attach failed", "FailedAttachVolume"],
    ["Waiting for detach", "FailedAttachVolume"],
    ["MountVolume.FindPluginBySpec failed", "FailedMount"],
    ["MountVolume.NodeAffinity check failed", "FailedMount"],
    ["MountVolume.NewMounter initialization failed", "FailedMount"],
    ["MountVolume.MountOptionSupport check failed", "FailedMount"],
    ["MountVolume.WaitForAttach failed", "FailedMount"],
    ["MountVolume.GetDeviceMountPath failed", "FailedMount"],
    ["MountVolume.MountDevice failed", "FailedMount"],
    ["MountVolume.SetUp failed", "FailedMount"],
    ["MountVolume.Setup failed while expanding volume", "FailedMount"],
    ["MapVolume.NodeAffinity check failed", "FailedMapVolume"],
    ["MapVolume.FindMapperPluginBySpec failed", "FailedMapVolume"],
    ["MapVolume.NewBlockVolumeMapper initialization failed", "FailedMapVolume"],
    ["MapVolume.WaitForAttach failed", "FailedMapVolume"],
    ["MapVolume.SetUpDevice failed", "FailedMapVolume"],
    ["MapVolume.GetGlobalMapPath failed", "FailedMapVolume"],
    ["MapVolume.MapPodDevice failed", "FailedMapVolume"],
    ["MapVolume.MapBlockVolume failed", "FailedMapVolume"],
    ["NodeExpandVolume.NodeExpandVolume failed", "VolumeResizeFailed"],
    ["UnmountVolume.TearDown failed", null],
    ["UnmountDevice failed", null],
    ["UnmapVolume.UnmapPodDevice failed", null],
    ["UnmapDevice.TearDownDevice failed", null],
    ["DetachVolume.Detach failed", null],
  ];

  it("have a case for every prefix", () => {
    expect(prefixes.map(([prefix]) => prefix)).toEqual(Object.keys(failureReasons));
  });

  it.each(prefixes)("%s: event %s", async (prefix, reason) => {
    const failure: unknown = await step(prefix, "pv-1", () => Promise.reject(new Error("no such device"))).catch((error: unknown) => error);
    expect(isOperationFailure(failure)).toBe(true);
    expect(failure).toMatchObject({ prefix, message: `${prefix} for volume "pv-1" : no such device` });
    expect(failureReasons[prefix]).toBe(reason);
  });

  it("quote names as Go does and keep the kind of the cause", () => {
    const failure = new OperationFailure("MountVolume.SetUp failed", 'a"b', new VolumeError("maybe", "uncertain"));
    expect(failure.message).toBe('MountVolume.SetUp failed for volume "a\\"b" : maybe');
    expect(failure.code).toBe("uncertain");
  });
});

describe("texts of successes", () => {
  const texts: readonly (readonly [SuccessPrefix, string, string, string])[] = [
    ["AttachVolume.Attach succeeded", "SuccessfulAttachVolume", "", 'AttachVolume.Attach succeeded for volume "pv" '],
    ["MapVolume.MapPodDevice succeeded", "SuccessfulMountVolume", 'globalMapPath "/g"', 'MapVolume.MapPodDevice succeeded for volume "pv" globalMapPath "/g"'],
    ["MountVolume.NodeExpandVolume succeeded", "FileSystemResizeSuccessful", "node-1", 'MountVolume.NodeExpandVolume succeeded for volume "pv" node-1'],
  ];
  it.each(texts)("%s is %s", (prefix, reason, suffix, text) => {
    expect(operationMessage(prefix, "pv", suffix)).toBe(text);
    expect(successReasons[prefix]).toBe(reason);
  });
});

it("unprocessed volumes are listed in order, with each reason", () => {
  expect(unprocessedMessage({ unmounted: ["b", "a"], unprocessed: ["b"] }, ["first", "second"])).toBe(
    "Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[], failed to process volumes=[b]: first; second",
  );
});
