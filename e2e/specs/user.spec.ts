import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";

test.skip(process.getuid?.() === 0, "as an ordinary user: npm run test:user");

let app: RunningApp;
const share = { namespace: "shop", pod: "files", volume: "share" };
const data = { namespace: "shop", pod: "web-0", volume: "data" };

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  expect(await app.stop()).toBe(0);
});

/** As a person edits the manifest. */
function growShare(): void {
  const file = join(app.dataFolder, "manifests/30-share.yaml");
  const text = readFileSync(file, "utf8");
  const grown = text.replace(/^ {6}storage: 32Mi$/m, "      storage: 48Mi");
  expect(grown).not.toBe(text);
  writeFileSync(file, grown);
}

test("without root the FlexVolume share is mounted and grows, and a loop claim says that it needs root", async ({ page }) => {
  const shell = new Shell(page);
  await shell.open(app.url);
  await shell.go("Volumes");
  const volumes = new VolumesPage(page);
  await expect(volumes.rowIn(share, "ok")).toBeVisible({ timeout: 30_000 });
  await volumes.openVolume(share);
  const volume = new VolumePage(page);
  await expect(volume.stageIn("publish", "done")).toContainText("tmpfs");
  growShare();
  await expect(volume.paths()).toContainText("size=49152k");
  await volume.open(shell.cluster(), data);
  await expect(volume.way).toContainText("needs root");
});
