/** What pages say while the API fails, in the words of a real API server, and that they come back by themselves. */
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { kubeconfigOf, kubeOf, proceduresOf } from "@/e2e/cluster-of";
import { startFaultProxy, type Fault, type FaultProxy } from "@/e2e/fault-proxy";
import { ClaimPage } from "@/e2e/pages/claims";
import { Shell } from "@/e2e/pages/shell";
import { VolumesPage } from "@/e2e/pages/volumes";
import { resourcePath } from "@/server/cluster/resources";

const hot = { namespace: "shop", pod: "cache", volume: "hot" };
const data = { namespace: "shop", name: "data-web-0" };
let shop: RunningApp;
let live: RunningApp;
let proxy: FaultProxy<"world" | "shut">;

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async () => {
  shop = await startApp({ args: ["--no-pages"] });
  proxy = await startFaultProxy(kubeconfigOf(shop), { world: "none", shut: "forbidden" });
  live = await startApp({ args: ["--kubeconfig", proxy.kubeconfig] });
});

test.afterAll(async () => {
  await live.stop();
  await proxy.close();
  await shop.stop();
});

const slugOf = async (name: string) => (await proceduresOf(live).cluster.list.query()).find((each) => each.name === name)?.id ?? "";

const breaks: readonly (readonly [fault: Fault, words: RegExp])[] = [
  ["internal-error", /failed to read one or more things/],
  ["cut", /can't reach the API server|connection/i],
];

for (const [fault, words] of breaks) {
  test(`a picture that was live turns stale, says why, keeps its rows, and comes back: ${fault}`, async ({ page }) => {
    const shell = new Shell(page);
    await shell.enter(live.url);
    const volumes = new VolumesPage(page);
    await volumes.open(await slugOf("world"));
    await shell.fresh("live").waitFor({ timeout: 60_000 });
    await expect(volumes.row(hot)).toBeVisible();
    proxy.set("world", fault);
    await shell.fresh("stale").waitFor({ timeout: 60_000 });
    await expect(shell.banner).toContainText(words);
    await expect(volumes.row(hot)).toBeVisible();
    proxy.set("world", "none");
    await shell.fresh("live").waitFor({ timeout: 60_000 });
  });
}

test("history that the server has forgotten is read anew, and what changed meanwhile is there", async ({ page }) => {
  const shell = new Shell(page);
  await shell.enter(live.url);
  const claim = new ClaimPage(page);
  await claim.open(await slugOf("world"), data);
  await expect(claim.size("Requested", "320Mi")).toBeVisible({ timeout: 60_000 });
  const kube = kubeOf(shop);
  proxy.set("world", "expired");
  await kube.patch(resourcePath("persistentvolumeclaims", data), { type: "merge", body: { spec: { resources: { requests: { storage: "330Mi" } } } } });
  await kube.close();
  await expect(claim.size("Requested", "330Mi")).toBeVisible({ timeout: 60_000 });
  proxy.set("world", "none");
  await shell.fresh("live").waitFor({ timeout: 60_000 });
});

test("what may not be read is named with the rule that would allow it, and is never called gone", async ({ page }) => {
  const shell = new Shell(page);
  await shell.enter(live.url);
  const slug = await slugOf("shut");
  await shell.openPath(`/c/${slug}/volumes`);
  await expect(page.getByRole("heading", { name: "You may not list pods in this cluster" })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByRole("region", { name: "Rule" })).toContainText("resources: [pods]");
  await expect(shell.banner).toContainText("Nothing of this cluster may be read. Missing: get, list, watch on nodes, namespaces, storageclasses.storage.k8s.io,");
  await shell.banner.getByRole("button", { name: "The rule" }).click();
  await expect(page.getByRole("dialog", { name: "Missing rights" }).getByRole("region", { name: "Rule" })).toContainText("persistentvolumeclaims, pods");
  await page.keyboard.press("Escape");
  await new ClaimPage(page).open(slug, data);
  await expect(page.getByRole("heading", { name: "Claim data-web-0 could not be read" })).toBeVisible();
  await expect(page.getByRole("main")).not.toContainText("deleted");
});
