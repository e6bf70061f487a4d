/** Volumes put together by what they share. */
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { inspectAll } from "@/e2e/pages/accessibility";
import { Shell } from "@/e2e/pages/shell";
import { VolumesPage } from "@/e2e/pages/volumes";

const lost = { namespace: "shop", pod: "legacy", volume: "lost" };
let app: RunningApp;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
});

test("volumes stand below heads that count them; the address keeps it, and the keyboard passes over a head", async ({ page }) => {
  test.setTimeout(120_000);
  const shell = new Shell(page);
  const cluster = await shell.enter(app.url);
  const volumes = new VolumesPage(page);
  await volumes.open(cluster);
  await volumes.rowIn(lost, "stuck").waitFor({ timeout: 60_000 });
  await volumes.groupBy("Plugin");
  await expect(volumes.groupHead("kubernetes.io/configmap")).toHaveText("kubernetes.io/configmap · 2");
  await expect(volumes.groupHead("none")).toHaveText("none · 1");
  expect((await volumes.keys()).slice(0, 3)).toEqual(["shop/web-0/config", "shop/web-1/config", "shop/cache/cold"]);
  await expect(volumes.count).toHaveText("11 of 11 shown");
  await expect(page).toHaveURL(/group=plugin/);
  await page.reload();
  await expect(volumes.groupHead("none")).toBeVisible();
  await volumes.row({ namespace: "shop", pod: "web-1", volume: "config" }).getByRole("link").focus();
  await page.keyboard.press("ArrowDown");
  await expect(volumes.row({ namespace: "shop", pod: "cache", volume: "cold" }).getByRole("link")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(volumes.row({ namespace: "shop", pod: "web-1", volume: "config" }).getByRole("link")).toBeFocused();
  expect((await inspectAll(page)).map(({ violations, sidewaysPx }) => [violations, sidewaysPx])).toEqual(Array(4).fill([[], 0]));
  await page.setViewportSize({ width: 1280, height: 800 });
  await volumes.groupBy("Claim");
  await expect(volumes.groupHead("shop/data-web-0")).toHaveText("shop/data-web-0 · 1");
  await expect(volumes.groupHead("no claim")).toHaveText("no claim · 7");
  await volumes.groupBy("No groups");
  await expect(volumes.table.getByRole("rowheader")).toHaveCount(0);
});
