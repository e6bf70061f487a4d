import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { mountsBelow } from "@/e2e/mounts";
import { NodesPage } from "@/e2e/pages/nodes";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";

const hot = { namespace: "shop", pod: "cache", volume: "hot" };

let app: RunningApp;

test.beforeAll(async () => {
  app = await startApp({ args: ["--simulated"] });
});

test.afterAll(async () => {
  expect(await app.stop()).toBe(0);
});

test("a simulated node sets up the sample in memory alone, and every page says so", async ({ page }) => {
  const shell = new Shell(page);
  await shell.open(app.url);
  await shell.go("Volumes");
  const volumes = new VolumesPage(page);
  await expect(volumes.rowIn(hot, "ok")).toBeVisible({ timeout: 30_000 });
  await volumes.openVolume(hot);
  await expect(new VolumePage(page).stageIn("publish", "done")).toContainText("tmpfs");
  for (const name of ["Plugins", "Volumes", "Claims", "Nodes", "Operations"] as const) {
    await shell.go(name);
    await expect(shell.fresh("simulated")).toBeVisible();
    await expect(page.getByText("This node is a memory host")).toBeVisible();
  }
  await shell.go("Nodes");
  const row = new NodesPage(page).table.locator("tr[data-key]").first();
  await expect(row.getByText("this node is simulated and has no disk")).toHaveCount(2);
  await shell.go("Plugins");
  await expect(page.getByRole("region", { name: "Plugins" })).toContainText("voldeck.dev/share");
  expect(mountsBelow(app.dataFolder)).toEqual([]);
});
