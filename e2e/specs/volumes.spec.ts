import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";

let app: RunningApp;
const hot = { namespace: "shop", pod: "cache", volume: "hot" };
const lost = { namespace: "shop", pod: "legacy", volume: "lost" };

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
});

test.beforeEach(async ({ page }) => {
  const shell = new Shell(page);
  await shell.open(app.url);
  await shell.go("Volumes");
});

test("a memory volume is mounted, and the page proves it by its line", async ({ page }) => {
  const volumes = new VolumesPage(page);
  await expect(volumes.rowIn(hot, "ok")).toBeVisible({ timeout: 30_000 });
  await volumes.openVolume(hot);
  const volume = new VolumePage(page);
  await expect(volume.stageIn("publish", "done")).toContainText("tmpfs");
  await expect(volume.paths()).toContainText("kubernetes.io~empty-dir");
  await expect(volume.answer("kubernetes.io/empty-dir")).toContainText("could");
});

test("a volume that matches no plugin is stuck at match, and every plugin says why not", async ({ page }) => {
  const volumes = new VolumesPage(page);
  await expect(volumes.rowIn(lost, "stuck")).toBeVisible();
  await volumes.openVolume(lost);
  const volume = new VolumePage(page);
  await expect(volume.title).toContainText("stuck at match");
  await expect(volume.match).toContainText("no volume plugin matched");
  await expect(volume.answer("kubernetes.io/empty-dir")).toContainText("could not");
});

test("filter, ledger and sort stand in the address", async ({ page }) => {
  const volumes = new VolumesPage(page);
  await volumes.filter.fill("plugin:empty-dir");
  await expect(page).toHaveURL(/q=plugin/);
  await expect(volumes.row(hot)).toBeVisible();
  await expect(volumes.row(lost)).toBeHidden();
  await volumes.filter.fill("");
  await expect(page).not.toHaveURL(/q=/);
  await volumes.choose("stuck");
  await expect(page).toHaveURL(/status=stuck/);
  await expect(volumes.row(hot)).toBeHidden();
  await expect(volumes.row(lost)).toBeVisible();
  await page.goBack();
  await expect(volumes.row(hot)).toBeVisible();
  await volumes.sortBy("Size");
  await expect(page).toHaveURL(/sort=size/);
});

test("rows are reached and opened by the keyboard", async ({ page }) => {
  const volumes = new VolumesPage(page);
  await expect(volumes.row(hot)).toBeVisible();
  const [first, second] = await volumes.keys();
  await volumes.table.getByRole("link").first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(volumes.table.locator(`tr[data-key="${second}"]`).getByRole("link")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(volumes.table.locator(`tr[data-key="${first}"]`).getByRole("link")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText(first?.split("/")[2] ?? "");
});

test("YAML is read on demand, folded, and holds what the API holds", async ({ page }) => {
  const volumes = new VolumesPage(page);
  await volumes.openVolume(hot);
  const yaml = await new VolumePage(page).yaml("Pod");
  await expect(yaml).toContainText("sizeLimit: 64Mi");
  await expect(yaml).not.toContainText("managedFields");
});

test("a link to an earlier pod of the name says that it was replaced", async ({ page }) => {
  const shell = new Shell(page);
  await shell.openPath(`/c/${shell.cluster()}/volumes/shop/cache/hot?uid=another`);
  await expect(shell.banner).toContainText("This pod was replaced");
});
