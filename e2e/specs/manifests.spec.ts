/** The manifests folder, edited under an open page: errors with file and line, and a removal that waits for a person. */
import { spawnSync } from "node:child_process";
import { readdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { dataFolderPrefix, project, startApp, type RunningApp } from "@/e2e/app";
import { kubeOf } from "@/e2e/cluster-of";
import { inspectAll } from "@/e2e/pages/accessibility";
import { Manifests } from "@/e2e/pages/manifests";
import { NodePage, NodesPage } from "@/e2e/pages/nodes";
import { Shell } from "@/e2e/pages/shell";
import { VolumesPage } from "@/e2e/pages/volumes";
import { codeOf } from "@/lib/errors";
import { resourcePath } from "@/server/cluster/resources";

const hot = { namespace: "shop", pod: "cache", volume: "hot" };
let app: RunningApp;
let folder: string;

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async () => {
  app = await startApp();
  folder = join(app.dataFolder, "manifests");
});

test.afterAll(async () => {
  await app.stop();
});

async function fileOf(text: string): Promise<string> {
  for (const name of await readdir(folder)) if ((await readFile(join(folder, name), "utf8")).includes(text)) return join(folder, name);
  throw new Error(`no manifest names ${text}`);
}

test("a file that breaks is named with its line, and its last good objects stay", async ({ page }) => {
  const shell = new Shell(page);
  const cluster = await shell.enter(app.url);
  const volumes = new VolumesPage(page);
  await volumes.open(cluster);
  await volumes.rowIn(hot, "ok").waitFor({ timeout: 60_000 });
  const manifests = new Manifests(page);
  await expect(manifests.banner).toBeHidden();
  const file = await fileOf("name: cache");
  const good = await readFile(file, "utf8");
  await writeFile(file, good.replace("kind: Pod", "kind: [Pod"));
  const line = good.slice(0, good.indexOf("kind: Pod")).split("\n").length;
  const name = file.slice(folder.length + 1);
  await expect(manifests.banner).toContainText(`${name}, line`);
  await manifests.open();
  await expect(manifests.errors.first()).toContainText(new RegExp(`^${name}:(${line}|${line + 1})`));
  expect((await inspectAll(page)).map(({ violations, sidewaysPx }) => [violations, sidewaysPx])).toEqual(Array(4).fill([[], 0]));
  await manifests.close();
  await expect(volumes.row(hot)).toBeVisible();
  await writeFile(file, good);
  await expect(manifests.banner).toBeHidden();
});

test("a refusal by the API's rules is named with the line of the field", async ({ page }) => {
  await new Shell(page).enter(app.url);
  const file = join(folder, "zz-odd.yaml");
  await writeFile(file, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: odd, namespace: shop }\nspec:\n  accessModes: [Odd]\n  resources: { requests: { storage: 1Gi } }\n");
  const manifests = new Manifests(page);
  await expect(manifests.banner).toContainText("zz-odd.yaml, line 5");
  await expect(manifests.banner).toContainText("Odd");
  await unlink(file);
  await expect(manifests.banner).toBeHidden();
});

test("files and kinds that are only kept stand on the node's page", async ({ page }) => {
  const shell = new Shell(page);
  await shell.enter(app.url);
  await writeFile(join(folder, "zz-gadget.yaml"), "apiVersion: example.com/v1\nkind: Gadget\nmetadata: { name: g, namespace: shop }\n");
  await shell.go("Nodes");
  await new NodesPage(page).table.locator("tr[data-key]").first().getByRole("link").click();
  const details = await new NodePage(page).tab("Manifests");
  await expect(details.getByRole("list", { name: "Kinds that are only kept" })).toContainText("Gadget example.com/v1 · 1 object");
  await expect(details.getByRole("list", { name: "Files of the manifests" })).toContainText("zz-gadget.yaml");
  expect((await inspectAll(page)).map(({ violations, sidewaysPx }) => [violations, sidewaysPx])).toEqual(Array(4).fill([[], 0]));
  await unlink(join(folder, "zz-gadget.yaml"));
});

test("an emptied folder takes nothing away before a person has seen what would go", async ({ page }) => {
  const shell = new Shell(page);
  const cluster = await shell.enter(app.url);
  const volumes = new VolumesPage(page);
  await volumes.open(cluster);
  await expect(volumes.row(hot)).toBeVisible();
  for (const name of await readdir(folder)) await unlink(join(folder, name));
  const manifests = new Manifests(page);
  await expect(manifests.banner).toContainText("A removal waits for you", { timeout: 30_000 });
  await expect(volumes.row(hot)).toBeVisible();
  await manifests.open();
  await expect(manifests.waiting.filter({ hasText: "Pod shop/cache" })).toBeVisible();
  await expect(manifests.waiting.filter({ hasText: "shop/data-web-0" })).toBeVisible();
  expect((await inspectAll(page)).map(({ violations, sidewaysPx }) => [violations, sidewaysPx])).toEqual(Array(4).fill([[], 0]));
  await manifests.removeButton.click();
  await expect(manifests.dialog).toBeHidden();
  await expect(manifests.banner).toBeHidden();
  await expect(volumes.row(hot)).toBeHidden({ timeout: 60_000 });
  const kube = kubeOf(app);
  const gone = () => kube.get(resourcePath("pods", { namespace: "shop", name: "cache" })).then(() => "there", codeOf);
  await expect.poll(gone, { timeout: 60_000 }).toBe("not-found");
  await kube.close();
});

for (const [what, manifests, words] of [
  ["is not there", "/nonexistent/manifests", "the manifests folder /nonexistent/manifests is not there"],
  ["is a file", "/proc/self/status", "the manifests folder /proc/self/status is not a folder"],
] as const) {
  test(`a start is refused when the manifests folder ${what}`, () => {
    const data = `${dataFolderPrefix()}-refused`;
    const args = [join(project, "server/start.ts"), "--no-build", "--no-pages", "--port", "0", "--data", data, "--manifests", manifests];
    const ended = spawnSync(join(project, "node_modules/.bin/node"), args, { cwd: project, env: { ...process.env, KUBECONFIG: "", HOME: "/nonexistent" }, encoding: "utf8" });
    expect(ended.stderr).toBe(`voldeck: ${words}\n`);
    expect(ended.status).toBe(1);
    const reset = spawnSync(join(project, "node_modules/.bin/node"), [join(project, "server/start.ts"), "reset", "--yes", "--data", data, "--no-build"], { cwd: project, encoding: "utf8" });
    expect(reset.status, reset.stderr).toBe(0);
  });
}
