import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { kubeOf, kubeconfigOf } from "@/e2e/cluster-of";
import { mountOf, sizeOf } from "@/e2e/mounts";
import { ClaimPage, ClaimsPage } from "@/e2e/pages/claims";
import { NodePage, NodesPage } from "@/e2e/pages/nodes";
import { OperationPage, OperationsPage } from "@/e2e/pages/operations";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import type { ApiClient } from "@/server/cluster/client";
import { resourcePath } from "@/server/cluster/resources";

const mebi = 1024 * 1024;
const data = { namespace: "shop", name: "data-web-0" };
const share = { namespace: "shop", name: "share" };
const hot = { namespace: "shop", pod: "cache", volume: "hot" };
let app: RunningApp;
let kube: ApiClient;
let cluster: string;

test.beforeAll(async () => {
  app = await startApp();
  kube = kubeOf(app);
});

test.afterAll(async () => {
  await kube.close();
  await app.stop();
});

test.beforeEach(async ({ page }) => {
  cluster = await new Shell(page).enter(app.url);
});

/** Where the disk of a claim is mounted for its pod. */
async function diskOf(claim: { namespace: string; name: string }): Promise<string> {
  const { spec } = await kube.get<PersistentVolumeClaim>(resourcePath("persistentvolumeclaims", claim));
  return mountOf(app.dataFolder, "kubernetes.io/local-volume", spec.volumeName ?? "").target;
}

test("a loop claim grows from its page, is followed step by step, and its mount holds the new size", async ({ page }) => {
  const shell = new Shell(page);
  await shell.go("Volumes");
  await expect(new VolumesPage(page).rowIn({ namespace: "shop", pod: "web-0", volume: "data" }, "ok")).toBeVisible({ timeout: 30_000 });
  const before = sizeOf(await diskOf(data));

  await shell.go("Claims");
  await new ClaimsPage(page).openClaim(data);
  const claim = new ClaimPage(page);
  await expect(claim.size("Granted", "320Mi")).toBeVisible();
  const checks = ["Claim is bound", "Class allows growing", "No other change is running", "What grows", "Somebody acts on it", "You may do it", "Room in the backend"];
  await expect(claim.growth.locator(".checks > li")).toHaveCount(checks.length);
  const said = new Map<string, string>();
  for (const title of checks) said.set(title, (await claim.growthCheck(title).textContent()) ?? "");
  expect(said.get("Class allows growing")).toContain("pass");
  const dialog = await claim.grow();
  await dialog.type("420Mi");
  for (const [title, text] of said) await expect(dialog.check(title)).toHaveText(text);
  await expect(dialog.check("Claim is bound")).toContainText("pass");
  await expect(dialog.check("Somebody acts on it")).toContainText("voldeck.dev/loop");
  await expect(dialog.dryRun).toContainText("Accepted");
  await expect(dialog.dryRun).toContainText("spec.resources.requests.storage: 320Mi → 420Mi");
  expect(await dialog.kubectl()).toBe(`kubectl --kubeconfig ${kubeconfigOf(app)} --context voldeck -n shop patch pvc data-web-0 --type=merge -p '{"spec":{"resources":{"requests":{"storage":"420Mi"}}}}'`);
  await expect(dialog.button()).toHaveText("Grow data-web-0 to 420Mi");
  await dialog.confirm();
  await dialog.outcome("ok").waitFor({ timeout: 30_000 });
  await expect(dialog.dialog).toContainText("data-web-0 holds 420Mi");

  expect(sizeOf(await diskOf(data)) - before).toBe(100 * mebi);
  await dialog.close();
  await expect(claim.size("Requested", "420Mi")).toBeVisible();
  await expect(claim.size("Granted", "420Mi")).toBeVisible();
  await expect(claim.earlier).toContainText("From 320Mi to 420Mi");

  await shell.go("Operations");
  await new OperationsPage(page).openFirst("shop/data-web-0");
  const operation = new OperationPage(page);
  await expect(operation.titleIn("ok")).toContainText("320Mi to 420Mi");
  for (const step of ["Request accepted", "Volume has grown", "Node grows the file system"]) {
    await expect(operation.steps.filter({ hasText: step })).toContainText("done");
  }
  for (const phase of ["intended", "read", "sending", "following", "ended"]) {
    await expect(operation.journal.filter({ hasText: phase }).first()).toBeVisible();
  }
});

test("a claim that somebody else grows through the API is seen to grow on an open page", async ({ page }) => {
  const claim = new ClaimPage(page);
  await claim.open(cluster, share);
  await expect(claim.size("Granted", "32Mi")).toBeVisible({ timeout: 30_000 });
  const body = { spec: { resources: { requests: { storage: "48Mi" } } } };
  await kube.patch(resourcePath("persistentvolumeclaims", share), { type: "merge", body });
  await expect(claim.size("Requested", "48Mi")).toBeVisible();
  await expect(claim.size("Granted", "48Mi")).toBeVisible({ timeout: 30_000 });
  expect(sizeOf(mountOf(app.dataFolder, "voldeck.dev/share", "share").target)).toBe(48 * mebi);
});

test("a smaller size is refused, by whom and why, and the button stays", async ({ page }) => {
  const claim = new ClaimPage(page);
  await claim.open(cluster, data);
  const dialog = await claim.grow();
  await dialog.type("much");
  await expect(dialog.dialog).toContainText("is not a size");
  await dialog.type("1Mi");
  await expect(dialog.check("Larger than granted")).toContainText("refuse");
  await expect(dialog.button()).toHaveAttribute("aria-disabled", "true");
  await expect(dialog.refusal()).toContainText("Larger than granted");
});

test("a memory volume is resized from its page, and the mount table shows it", async ({ page }) => {
  const volume = new VolumePage(page);
  await volume.open(cluster, hot);
  await expect(volume.stageIn("publish", "done")).toContainText("tmpfs", { timeout: 30_000 });
  const before = mountOf(app.dataFolder, "kubernetes.io/empty-dir", "hot");
  expect(before.superOptions).toContain("size=65536k");
  const dialog = await volume.resize();
  await dialog.type("96Mi");
  await expect(dialog.check("can do it")).toContainText("pass");
  await expect(dialog.dryRun).toContainText("spec.volumes[hot].emptyDir.sizeLimit: 64Mi → 96Mi");
  await dialog.confirm();
  await dialog.outcome("ok").waitFor({ timeout: 30_000 });
  const after = mountOf(app.dataFolder, "kubernetes.io/empty-dir", "hot");
  expect(after.superOptions).toContain("size=98304k");
  expect({ id: after.id, target: after.target }).toEqual({ id: before.id, target: before.target });
  await dialog.close();
  await new Shell(page).go("Operations");
  await expect(new OperationsPage(page).of("cache / hot").first()).toContainText("96Mi");

  await new Shell(page).go("Nodes");
  await new NodesPage(page).table.getByRole("link").first().click();
  await expect(await new NodePage(page).tab("Mounts")).toContainText(after.target);
});
