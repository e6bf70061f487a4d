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

test("an address that leads to no plugin says so", async ({ page }) => {
  const shell = new Shell(page);
  await shell.openPath(`/c/${shell.cluster()}/plugins/nobody~nothing`);
  await expect(page.getByRole("heading", { name: "No plugin nobody/nothing" })).toBeVisible();
});
