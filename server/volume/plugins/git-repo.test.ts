import { expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import { createMemoryHost } from "@/server/hosts/memory";
import { newEmptyDirPlugin } from "@/server/volume/plugins/empty-dir/plugin";
import { newGitRepoPlugin } from "@/server/volume/plugins/git-repo";
import { newSpecFromVolume } from "@/server/volume/spec";

const pod: Pod = { metadata: { name: "web", uid: "u" }, spec: { containers: [] } };
const dir = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~git-repo/v";

async function start() {
  const emptyDir = newEmptyDirPlugin();
  const memory = createMemoryHost({ findPluginBySpec: async () => emptyDir });
  await emptyDir.init(memory.host);
  const plugin = newGitRepoPlugin();
  await plugin.init(memory.host);
  return { memory, plugin };
}

it("is set up nowhere, runs nothing and says why", async () => {
  const { memory, plugin } = await start();
  const mounter = await plugin.newMounter(newSpecFromVolume({ name: "v", gitRepo: { repository: "https://x.example.com/r.git" } }), pod);
  await expect(mounter?.setUp({})).rejects.toMatchObject({ code: "refused", message: expect.stringMatching(/^git-repo volume plugin has been disabled;/) });
  await expect(mounter?.setUpAt(dir, {})).rejects.toMatchObject({ code: "refused" });
  expect(memory.exec.calls).toEqual([]);
  expect(await memory.files.lstat(dir)).toBeUndefined();
});

it("tears down what an older node left, and twice is fine", async () => {
  const { memory, plugin } = await start();
  memory.files.seed({ [`${dir}/repo/README`]: "hello" });
  const unmounter = await plugin.newUnmounter("v", "u");
  await unmounter?.tearDown();
  await unmounter?.tearDown();
  expect(await memory.files.lstat(dir)).toBeUndefined();
});

it.each([
  [{ repository: "--foo" }, '"--foo" is an invalid value for repository'],
  [{ repository: "r", revision: "--bar" }, '"--bar" is an invalid value for revision'],
  [{ repository: "r", directory: "-b" }, '"-b" is an invalid value for directory'],
  [{ repository: "r", revision: "main", directory: "a\\b" }, '"a\\\\b" is not a valid directory, it must not contain a directory separator'],
])("refuses %j", async (gitRepo, text) => {
  const { plugin } = await start();
  await expect(plugin.newMounter(newSpecFromVolume({ name: "v", gitRepo }), pod)).rejects.toThrow(text);
});
