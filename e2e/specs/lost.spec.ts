import { execFileSync } from "node:child_process";
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { mountOf, mountsBelow } from "@/e2e/mounts";
import { ClaimPage } from "@/e2e/pages/claims";
import { NodePage, NodesPage } from "@/e2e/pages/nodes";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";
import { nodeName } from "@/server/machine";

test.skip(process.getuid?.() !== 0, "somebody else's umount needs root");

const hot = { namespace: "shop", pod: "cache", volume: "hot" };
const tls = { namespace: "shop", pod: "web-0", volume: "tls" };
const share = { namespace: "shop", pod: "files", volume: "share" };
const data = { namespace: "shop", pod: "web-1", volume: "data" };

let app: RunningApp;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  expect(await app.stop()).toBe(0);
});

/** Every pod mount of a plugin whose volume is named so; loop disks have the names of their persistent volumes. */
function unmountByHand(plugin: string, volume: RegExp): void {
  const end = new RegExp(`/pods/[^/]+/volumes/${plugin}/${volume.source}$`);
  const found = mountsBelow(app.dataFolder).filter(({ target }) => end.test(target));
  expect(found.length).toBeGreaterThan(0);
  for (const { target } of found) execFileSync("umount", [target]);
}

test("mounts that somebody takes away are told on the pages of volume, claim and node, and nothing invented in their place", async ({ page }) => {
  test.setTimeout(120_000);
  const shell = new Shell(page);
  const cluster = await shell.enter(app.url);
  await shell.go("Volumes");
  const volumes = new VolumesPage(page);
  for (const key of [hot, tls, share, data]) await expect(volumes.rowIn(key, "ok")).toBeVisible({ timeout: 30_000 });

  expect(mountOf(app.dataFolder, "kubernetes.io/empty-dir", "hot").fsType).toBe("tmpfs");
  unmountByHand("kubernetes.io~empty-dir", /hot/);
  unmountByHand("voldeck.dev~share", /share/);
  unmountByHand("kubernetes.io~local-volume", /[^/]+/);
  for (const key of [hot, share, data]) await expect(volumes.rowIn(key, "stuck")).toBeVisible({ timeout: 40_000 });

  await volumes.openVolume(hot);
  const volume = new VolumePage(page);
  await expect(volume.stageIn("publish", "stuck")).toContainText(/nothing is mounted at .*\/hot any more/);
  await expect(volume.stage("publish")).toContainText("delete the pod and make it again");

  const claim = new ClaimPage(page);
  await claim.open(cluster, { namespace: "shop", name: "share" });
  await expect(claim.titleIn("stuck")).toBeVisible();
  await expect(claim.size("Real", "no node reports it")).toBeVisible();

  await shell.go("Nodes");
  await new NodesPage(page).openNode(nodeName());
  await expect(new NodePage(page).volume("cache / hot")).toContainText("nothing mounted");

  // A secret comes back by itself; what it says until then is told by the tests of the way.
  unmountByHand("kubernetes.io~secret", /tls/);
  await expect.poll(() => mountsBelow(app.dataFolder).some(({ target }) => target.endsWith("/kubernetes.io~secret/tls")), { timeout: 75_000 }).toBe(true);
});
