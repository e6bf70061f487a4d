import { readFile, statfs } from "node:fs/promises";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { ClaimPage, ClaimsPage } from "@/e2e/pages/claims";
import { NodePage, NodesPage } from "@/e2e/pages/nodes";
import { OperationPage, OperationsPage } from "@/e2e/pages/operations";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";

let app: RunningApp;
const claimKey = { namespace: "shop", name: "data-web-0" };
const fixed = { namespace: "shop", name: "archive" };
const data = { namespace: "shop", pod: "web-0", volume: "data" };
const hot = { namespace: "shop", pod: "cache", volume: "hot" };
const mebi = 1024 * 1024;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
});

test.beforeEach(async ({ page }) => {
  await new Shell(page).open(app.url);
});

/** The path at which the node has mounted a volume, read from its page. */
async function publishPath(volume: VolumePage): Promise<string> {
  const text = (await volume.paths().locator("dd").first().locator(".proof").textContent()) ?? "";
  return text.trim();
}

test("a claim is grown, followed to its end, and the kernel says the new size", async ({ page }) => {
  const shell = new Shell(page);
  await shell.go("Claims");
  await new ClaimsPage(page).openClaim(claimKey);
  const claim = new ClaimPage(page);
  await expect(claim.titleIn("ok")).toBeVisible({ timeout: 30_000 });
  const dialog = await claim.grow();
  await dialog.type("400Mi");
  await expect(dialog.check("Class allows growing")).toContainText("pass");
  await expect(dialog.dryRun).toContainText("Accepted");
  await dialog.confirm();
  await expect(dialog.outcome("ok")).toBeVisible({ timeout: 45_000 });
  await dialog.close();
  await expect(claim.size("Granted", "400Mi")).toBeVisible();

  await shell.go("Volumes");
  await new VolumesPage(page).openVolume(data);
  const { blocks, bsize } = await statfs(await publishPath(new VolumePage(page)));
  expect(blocks * bsize).toBeGreaterThan(330 * mebi);

  await shell.go("Operations");
  const operations = new OperationsPage(page);
  await expect(operations.of("shop/data-web-0").first()).toContainText("400Mi");
  await operations.openFirst("shop/data-web-0");
  await expect(new OperationPage(page).titleIn("ok")).toBeVisible();
});

test("a smaller size is refused, by whom and why, and the button stays", async ({ page }) => {
  await new Shell(page).go("Claims");
  await new ClaimsPage(page).openClaim(claimKey);
  const dialog = await new ClaimPage(page).grow();
  await dialog.type("much");
  await expect(dialog.dialog).toContainText("is not a size");
  await dialog.type("1Mi");
  await expect(dialog.check("Larger than granted")).toContainText("refuse");
  await expect(dialog.button()).toHaveAttribute("aria-disabled", "true");
  await expect(dialog.refusal()).toContainText("Larger than granted");
});

test("a class that forbids growth refuses, and the dialog says who can change it", async ({ page }) => {
  await new Shell(page).go("Claims");
  await new ClaimsPage(page).openClaim(fixed);
  const dialog = await new ClaimPage(page).grow();
  await dialog.type("400Mi");
  await expect(dialog.check("Class allows growing")).toContainText("Whoever owns the class voldeck-fixed");
  await expect(dialog.button()).toHaveAttribute("aria-disabled", "true");
});

test("a memory volume is resized, and the mount table says so", async ({ page }) => {
  const shell = new Shell(page);
  await shell.go("Volumes");
  await new VolumesPage(page).openVolume(hot);
  const volume = new VolumePage(page);
  await expect(volume.stageIn("publish", "done")).toBeVisible({ timeout: 30_000 });
  const path = await publishPath(volume);
  const dialog = await volume.resize();
  await dialog.type("80Mi");
  await dialog.confirm();
  await expect(dialog.outcome("ok")).toBeVisible({ timeout: 45_000 });
  await dialog.close();
  const line = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").find((each) => each.includes(` ${path} `));
  expect(line).toContain(`size=${80 * 1024}k`);

  await shell.go("Nodes");
  await new NodesPage(page).table.getByRole("link").first().click();
  await expect(await new NodePage(page).tab("Mounts")).toContainText(path);
});
