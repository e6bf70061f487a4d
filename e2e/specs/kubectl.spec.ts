/** Every command that a page shows is copied, run in a shell, and does what the page or the button does. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { proceduresOf } from "@/e2e/cluster-of";
import { mountOf } from "@/e2e/mounts";
import { allowClipboard, copyOf, copyOfPage } from "@/e2e/pages/as-kubectl";
import { ClaimPage } from "@/e2e/pages/claims";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";

const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "kubectl"));
const kubectl = process.env["KUBECTL"] ?? onPath.find((path) => existsSync(path)) ?? "";
const hot = { namespace: "shop", pod: "cache", volume: "hot" };
let app: RunningApp;
let cluster: string;

test.skip(kubectl === "", "no kubectl, neither by KUBECTL nor on PATH, to run the shown commands with");

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  await app.stop();
});

test.beforeEach(async ({ page }) => {
  await allowClipboard(page);
  cluster = await new Shell(page).enter(app.url);
});

/** Runs a copied text in a plain shell, every line, till one fails. The lines name their cluster themselves: the shell knows none. */
function run(command: string): string {
  const script = `set -eu\nkubectl() { "$KUBECTL" "$@"; }\n${command}\n`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8", env: { NODE_ENV: process.env.NODE_ENV, PATH: process.env["PATH"], KUBECTL: kubectl } });
}

test("the list of volumes gives the same rows", async ({ page }) => {
  const volumes = new VolumesPage(page);
  await volumes.open(cluster);
  await expect(volumes.row(hot)).toBeVisible();
  const keys = run(await copyOfPage(page)).trim().split("\n");
  expect(keys.toSorted()).toEqual((await volumes.keys()).toSorted());
});

test("the lists of claims and nodes give the same rows", async ({ page }) => {
  for (const noun of ["claims", "nodes"] as const) {
    await new Shell(page).openPath(`/c/${cluster}/${noun}`);
    const rows = page.locator("tr[data-key]");
    await expect(rows.first()).toBeVisible();
    const shown = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-key")?.split("/").at(-1)));
    const [, ...lines] = run(await copyOfPage(page)).trim().split("\n");
    const column = noun === "claims" ? 1 : 0;
    expect(lines.map((line) => line.split(/\s+/)[column]).toSorted()).toEqual(shown.toSorted());
  }
});

test("the commands of details give the objects that they show", async ({ page }) => {
  const node = (await proceduresOf(app).node.list.query({ cluster })).rows[0]?.name ?? "";
  const details = [
    { path: "volumes/shop/web-0/data", kinds: ["Pod", "PersistentVolumeClaim", "PersistentVolume"] },
    { path: "volumes/shop/cache/hot", kinds: ["Pod"] },
    { path: "claims/shop/data-web-0", kinds: ["PersistentVolumeClaim"] },
    { path: `nodes/${node}`, kinds: ["Node"] },
  ];
  for (const { path, kinds } of details) {
    await new Shell(page).openPath(`/c/${cluster}/${path}`);
    const objects = run(await copyOfPage(page));
    expect(objects.match(/^kind: \w+$/gm)).toEqual(kinds.map((kind) => `kind: ${kind}`));
  }
});

test("the command of the grow dialog grows the claim", async ({ page }) => {
  const claim = new ClaimPage(page);
  await claim.open(cluster, { namespace: "shop", name: "data-web-0" });
  await expect(claim.size("Granted", "320Mi")).toBeVisible({ timeout: 30_000 });
  const dialog = await claim.grow();
  await dialog.type("400Mi");
  const command = await copyOf(dialog.dialog);
  await dialog.close();
  expect(run(command)).toContain("data-web-0 patched");
  await expect(claim.size("Requested", "400Mi")).toBeVisible();
  await expect(claim.size("Granted", "400Mi")).toBeVisible({ timeout: 30_000 });
});

test("the command of the resize dialog resizes the memory volume", async ({ page }) => {
  const volume = new VolumePage(page);
  await volume.open(cluster, hot);
  await expect(volume.stageIn("publish", "done")).toContainText("tmpfs", { timeout: 30_000 });
  const dialog = await volume.resize();
  await dialog.type("80Mi");
  const command = await copyOf(dialog.dialog);
  await dialog.close();
  expect(run(command)).toContain("cache patched");
  await expect.poll(() => mountOf(app.dataFolder, "kubernetes.io/empty-dir", "hot").superOptions, { timeout: 30_000 }).toContain(`size=${80 * 1024}k`);
});

test("a refused change is refused with the same words", async ({ page }) => {
  const claim = new ClaimPage(page);
  await claim.open(cluster, { namespace: "shop", name: "archive" });
  await expect(claim.size("Granted", "320Mi")).toBeVisible({ timeout: 30_000 });
  const dialog = await claim.grow();
  await dialog.type("400Mi");
  const command = await copyOf(dialog.dialog);
  const words = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
  await expect(dialog.dryRun).toContainText(words);
  expect(() => run(command)).toThrow(words);
});
