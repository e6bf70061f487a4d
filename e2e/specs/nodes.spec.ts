/** What a node's page lists of its disk, as files come and go there. */
import { chmod, mkdir, rmdir, statfs, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { mountOf } from "@/e2e/mounts";
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

test("a node says how full its disk is, as statfs has it, and what each pod's volumes hold", async ({ page }) => {
  const shell = new Shell(page);
  await shell.enter(app.url);
  await shell.go("Nodes");
  const { blocks, bfree, files, ffree } = await statfs(app.dataFolder);
  const percent = (used: number, all: number) => new RegExp(`^(${[-1, 0, 1].map((step) => Math.floor((used / all) * 100) + step).join("|")}) %$`);
  const nodes = new NodesPage(page);
  await expect(nodes.disk()).toHaveText(percent(blocks - bfree, blocks));
  await nodes.table.locator("tr[data-key]").first().getByRole("link").click();
  const node = new NodePage(page);
  await expect(node.used("Disk")).toHaveText(percent(blocks - bfree, blocks));
  await expect(node.fact("Disk")).toContainText("available");
  if (files === 0) await expect(node.fact("Inodes")).toContainText("no fixed number");
  else await expect(node.used("Inodes")).toHaveText(percent(files - ffree, files));
  const use = await node.tab("Use by pod");
  const cache = use.getByRole("row").filter({ hasText: "cache" });
  await expect(cache).toContainText("shop", { timeout: 30_000 });
  const hot = mountOf(app.dataFolder, "kubernetes.io/empty-dir", "hot").target;
  await writeFile(join(hot, "filler"), Buffer.alloc(7 * 1024 * 1024));
  await expect(cache).toContainText("7Mi", { timeout: 60_000 });
  await unlink(join(hot, "filler"));
});
