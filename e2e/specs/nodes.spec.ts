/** What a node's page lists of its disk, as files come and go there. */
import { chmod, mkdir, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { NodePage, NodesPage } from "@/e2e/pages/nodes";
import { Shell } from "@/e2e/pages/shell";

let app: RunningApp;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
});

test("the drivers that are installed on a node are listed, and one that can't run says why", async ({ page }) => {
  test.setTimeout(120_000);
  const shell = new Shell(page);
  await shell.enter(app.url);
  await shell.go("Nodes");
  await new NodesPage(page).table.locator("tr[data-key]").first().getByRole("link").click();
  const drivers = await new NodePage(page).tab("Drivers and sockets");
  await expect(drivers.getByRole("row").filter({ hasText: "voldeck.dev/share" })).toContainText("executable");
  const folder = join(app.dataFolder, "flexvolume/voldeck.dev~plain");
  const executable = join(folder, "plain");
  await mkdir(folder);
  await writeFile(executable, "#!/bin/sh\n");
  await chmod(executable, 0o644);
  const row = drivers.getByRole("row").filter({ hasText: "voldeck.dev/plain" });
  await expect(row).toContainText("may not be executed", { timeout: 30_000 });
  await unlink(executable);
  await rmdir(folder);
  await expect(row).toBeHidden({ timeout: 30_000 });
});
