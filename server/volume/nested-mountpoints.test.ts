import { describe, expect, it } from "vitest";
import type { Container, Pod } from "@/lib/kube/pods";
import { createMemoryHost } from "@/server/hosts/memory";
import { makeNestedMountpoints, nestedMountpoints } from "@/server/volume/nested-mountpoints";

type Mounts = readonly (readonly [name: string, mountPath: string])[];

const container = (mounts: Mounts): Container => ({ name: "c", volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })) });
const podOf = (mounts: Mounts, init: Mounts = []): Pod => ({
  metadata: { name: "p", uid: "u" },
  spec: { containers: [container(mounts)], initContainers: [container(init)] },
});

describe("nestedMountpoints", () => {
  it.each<{ case: string; pod: Pod; nested: string[] }>([
    { case: "nothing below", pod: podOf([["vol", "/dir"], ["other", "/else"]]), nested: [] },
    { case: "one below", pod: podOf([["vol", "/dir"], ["other", "/dir/nested"]]), nested: ["nested"] },
    {
      case: "siblings in any order, and only the first level",
      pod: podOf([["a", "/dir/nested/double"], ["b", "/dir/nested-vol"], ["vol", "/dir"], ["c", "/dir/nested.vol"], ["d", "/dir/nested"], ["e", "/dir/nested2"]]),
      nested: ["nested", "nested-vol", "nested.vol", "nested2"],
    },
    { case: "a volume mounted twice", pod: podOf([["vol", "/a"], ["vol", "/b"], ["x", "/a/one"], ["y", "/b/two"]]), nested: ["one", "two"] },
    { case: "init containers first", pod: podOf([["vol", "/a"], ["x", "/a/late"]], [["vol", "/i"], ["x", "/i/early"]]), nested: ["early", "late"] },
    { case: "paths that are not clean", pod: podOf([["vol", "/dir/"], ["x", "/dir//sub/./deep/"]]), nested: ["sub/deep"] },
  ])("$case", ({ pod, nested }) => {
    expect([...nestedMountpoints("vol", pod)].sort()).toEqual([...nested].sort());
  });

  it("refuses a mount path that leaves the root", () => {
    expect(() => nestedMountpoints("vol", podOf([["vol", "foo/../../dir"]]))).toThrow("invalid container mount point ../dir");
  });
});

describe("makeNestedMountpoints", () => {
  it("makes directories inside the volume", async () => {
    const { files } = createMemoryHost({ files: { "/vol": { kind: "directory" } } });
    await makeNestedMountpoints(files, { name: "vol", dir: "/vol", pod: podOf([["vol", "/d"], ["x", "/d/a/b"]]) });
    expect(await files.stat("/vol/a/b")).toMatchObject({ kind: "directory", mode: 0o755 });
  });

  it("says what it was doing when it can't", async () => {
    const { files } = createMemoryHost({ files: { "/vol/a": "a file" } });
    const made = makeNestedMountpoints(files, { name: "vol", dir: "/vol", pod: podOf([["vol", "/d"], ["x", "/d/a/b"]]) });
    await expect(made).rejects.toThrow(/^unable to create nested volume mountpoints: .*not a directory$/);
  });
});
