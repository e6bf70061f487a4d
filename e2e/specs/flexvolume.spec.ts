import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { FlexDriver } from "@/e2e/flex-driver";
import { mountsBelow } from "@/e2e/mounts";
import { PluginPage, PluginsPage } from "@/e2e/pages/plugins";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";

let app: RunningApp;
const lost = { namespace: "shop", pod: "legacy", volume: "lost" };
const share = { namespace: "shop", pod: "files", volume: "share" };

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

test("a driver appears while the page is open, breaks and says why, is repaired, and goes", async ({ page }) => {
  const plugins = new PluginsPage(page);
  const driver = new FlexDriver(app.dataFolder, "example.com/news");
  await expect(plugins.row("kubernetes.io/empty-dir")).toBeVisible();
  await expect(plugins.row("example.com/news")).toBeHidden();

  await driver.put({ works: true });
  await expect(plugins.row("example.com/news")).toContainText("FlexVolume");
  // Not the newest: the kernel tells of a new folder and of the file in it, and the second news may be an "updated" of its own.
  await expect(plugins.eventsOf("example.com/news").filter({ hasText: "loaded" }).first()).toBeVisible();

  await driver.put({ works: false, why: "no route to the filer" });
  await expect(plugins.errors("no route to the filer")).toBeVisible();
  await expect(plugins.eventsOf("example.com/news").first()).toContainText("failed");
  await plugins.openPlugin("example.com/news");
  await expect(new PluginPage(page).history).toContainText("no route to the filer");
  await page.goBack();

  await driver.put({ works: true });
  await expect(plugins.errors("no route to the filer")).toBeHidden();
  await expect(plugins.row("example.com/news")).toBeVisible();

  await driver.remove();
  await expect(plugins.row("example.com/news")).toBeHidden();
  await expect(plugins.eventsOf("example.com/news").first()).toContainText("removed");
});

test("a volume that matched nothing is mounted once its driver is installed", async ({ page }) => {
  const volumes = new VolumesPage(page);
  const volume = new VolumePage(page);
  const cluster = new Shell(page).cluster();
  await volume.open(cluster, lost);
  await expect(volume.title).toContainText("stuck at match");
  await expect(volume.match).toContainText("no volume plugin matched");

  await new FlexDriver(app.dataFolder, "example.com/gone").put({ works: true });
  await expect(volume.answer("example.com/gone")).toContainText("could");
  await expect(volume.stageIn("publish", "done")).toContainText("tmpfs", { timeout: 60_000 });
  expect(mountsBelow(join(app.dataFolder, "node/pods")).filter((mount) => mount.target.includes("example.com~gone"))).toHaveLength(1);
  await volumes.open(cluster);
  await expect(volumes.rowIn(lost, "ok")).toBeVisible();
});

test("a volume's page tells why its driver was chosen, and why each other plugin was not", async ({ page }) => {
  const volume = new VolumePage(page);
  await volume.open(new Shell(page).cluster(), share);
  await expect(volume.match).toContainText("exactly one could serve it: voldeck.dev/share");
  await expect(volume.answer("voldeck.dev/share").getByText("could", { exact: true })).toBeVisible();
  await expect(volume.answer("kubernetes.io/nfs").getByText("could not", { exact: true })).toBeVisible();
  await expect(volume.answer("kubernetes.io/nfs")).toContainText("nfs");
});
