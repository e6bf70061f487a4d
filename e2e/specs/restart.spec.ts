import { expect, test } from "@playwright/test";
import { resetData, startApp, type RunningApp } from "@/e2e/app";
import { mountsBelow, type MountLine } from "@/e2e/mounts";
import { Shell } from "@/e2e/pages/shell";
import { VolumesPage } from "@/e2e/pages/volumes";

const hot = { namespace: "shop", pod: "cache", volume: "hot" };
let app: RunningApp | undefined;

test.afterAll(async () => {
  await app?.stop();
  if (app) await resetData(app.dataFolder);
});

/** The tmpfs of the sample's cache, as the kernel has it. */
function cacheMounts(dataFolder: string): readonly MountLine[] {
  return mountsBelow(dataFolder).filter((mount) => mount.target.endsWith("/kubernetes.io~empty-dir/hot"));
}

test("what is mounted is found again after a kill, and nothing is mounted twice", async ({ page }) => {
  app = await startApp();
  const volumes = new VolumesPage(page);
  await new Shell(page).open(app.url);
  await new Shell(page).go("Volumes");
  await expect(volumes.ledger.getByRole("button", { name: "ok" })).toContainText("10", { timeout: 30_000 });
  const before = mountsBelow(app.dataFolder);
  expect(cacheMounts(app.dataFolder)).toMatchObject([{ fsType: "tmpfs", superOptions: expect.arrayContaining(["size=65536k"]) }]);

  await app.kill();
  expect(mountsBelow(app.dataFolder)).toEqual(before);

  app = await startApp({ dataFolder: app.dataFolder });
  await new Shell(page).open(app.url);
  await new Shell(page).go("Volumes");
  await expect(volumes.rowIn(hot, "ok")).toBeVisible({ timeout: 30_000 });
  await expect(volumes.ledger.getByRole("button", { name: "ok" })).toContainText("10");
  expect(mountsBelow(app.dataFolder)).toEqual(before);
});
