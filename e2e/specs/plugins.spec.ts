import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { PluginPage, PluginsPage } from "@/e2e/pages/plugins";
import { Shell } from "@/e2e/pages/shell";

let app: RunningApp;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
});

test.beforeEach(async ({ page }) => {
  const shell = new Shell(page);
  await shell.open(app.url);
  await shell.go("Plugins");
});

test("every plugin of the kubelet is registered, in the order it is asked", async ({ page }) => {
  const plugins = new PluginsPage(page);
  await expect(plugins.row("kubernetes.io/empty-dir")).toContainText("registered");
  const names = await plugins.table.locator('tr[data-key^="kubernetes.io/"]').evaluateAll((rows) => rows.map((row) => row.getAttribute("data-key")));
  expect(names).toEqual(
    ["empty-dir", "git-repo", "host-path", "nfs", "secret", "iscsi", "downward-api", "fc", "configmap", "projected", "local-volume", "csi", "image"].map(
      (name) => `kubernetes.io/${name}`,
    ),
  );
});

test("a filter stands in the address and comes back with it", async ({ page }) => {
  const plugins = new PluginsPage(page);
  await plugins.filter.fill("empty");
  await expect(plugins.row("kubernetes.io/nfs")).toBeHidden();
  await expect(page).toHaveURL(/q=empty/);
  await page.reload();
  await expect(plugins.filter).toHaveValue("empty");
  await expect(plugins.row("kubernetes.io/empty-dir")).toBeVisible();
  await expect(plugins.row("kubernetes.io/nfs")).toBeHidden();
});

test("of a single node the list shows what each plugin can do", async ({ page }) => {
  const plugins = new PluginsPage(page);
  await expect(plugins.row("kubernetes.io/local-volume")).toBeVisible();
  expect(await plugins.capability("kubernetes.io/local-volume", "Block")).toBe("yes");
  expect(await plugins.capability("kubernetes.io/local-volume", "Attach")).toBe("no");
  expect(await plugins.capability("kubernetes.io/csi", "SELinux")).toBe("per driver");
});

test("a plugin's page says what it can do, and for whom", async ({ page }) => {
  const plugins = new PluginsPage(page);
  await plugins.openPlugin("kubernetes.io/empty-dir");
  const plugin = new PluginPage(page);
  await expect(plugin.title).toContainText("kubernetes.io/empty-dir");
  await expect(page).toHaveURL(/plugins\/kubernetes\.io~empty-dir$/);
  await expect(plugin.capability("Resize ephemeral")).toContainText("yes");
  await expect(plugin.capability("Attach")).toContainText("no");
  await expect(plugin.volumes).toContainText("hot");
});

test("a plugin whose gate is locked off says so, and others say nothing", async ({ page }) => {
  const plugins = new PluginsPage(page);
  await plugins.openPlugin("kubernetes.io/git-repo");
  const plugin = new PluginPage(page);
  await expect(plugin.note).toContainText("GitRepoVolumeDriver is locked off since 1.36");
  await new Shell(page).go("Plugins");
  await plugins.openPlugin("kubernetes.io/empty-dir");
  await expect(plugin.capabilities).toBeVisible();
  await expect(plugin.note).toHaveCount(0);
});

test("an address that leads to no plugin says so", async ({ page }) => {
  const shell = new Shell(page);
  await shell.openPath(`/c/${shell.cluster()}/plugins/nobody~nothing`);
  await expect(page.getByRole("heading", { name: "No plugin nobody/nothing" })).toBeVisible();
});
