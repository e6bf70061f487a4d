/** Changes of a real cluster from the browser, held against what its API server and kubelets say. */
import { expect, test } from "@playwright/test";
import { resetData, startApp, type RunningApp } from "@/e2e/app";
import { ClaimPage, ClaimsPage } from "@/e2e/pages/claims";
import { OperationsPage } from "@/e2e/pages/operations";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage, VolumesPage } from "@/e2e/pages/volumes";
import type { ApiClient } from "@/server/cluster/client";
import { hasCgroupV1, Namespace, readyNodes, script, userName } from "./bed";
import { openTestCluster } from "./test-cluster";

const node = "node1";
let client: ApiClient;
let space: Namespace;
let app: RunningApp;

const startWith = (kubeconfig: string, dataFolder?: string) => startApp({ args: ["--kubeconfig", kubeconfig], ...(dataFolder === undefined ? {} : { dataFolder }) });
const adminKubeconfig = process.env["VOLDECK_TEST_KUBECONFIG"] ?? "";

test.beforeAll(async () => {
  client = await openTestCluster(process.env);
  test.skip(!(await readyNodes(client)).includes(node), `needs a ready ${node}`);
  space = await Namespace.create(client, "changes");
  await space.createClaim("data", "loop-xfs", "400Mi");
  await space.createClaim("fixed", "loop-fixed", "300Mi");
  await space.createPod("web", node, [
    { name: "data", persistentVolumeClaim: { claimName: "data" } },
    { name: "hot", emptyDir: { medium: "Memory", sizeLimit: "64Mi" } },
  ]);
  app = await startWith(adminKubeconfig);
});

test.afterAll(async () => {
  await app?.stop();
  await space?.remove();
  await client?.close();
});

test("lists and matches are those of the API", async ({ page }) => {
  const shell = new Shell(page);
  const cluster = await shell.enter(app.url);
  const claims = new ClaimsPage(page);
  await shell.openPath(`/c/${cluster}/claims?q=${encodeURIComponent(`namespace:${space.name}`)}`);
  for (const name of ["data", "fixed"]) {
    const { spec, status } = await space.claim(name);
    const row = claims.row({ namespace: space.name, name });
    await expect(row).toContainText(spec.storageClassName ?? "?");
    await expect(row).toContainText(status?.capacity?.["storage"] ?? "?");
  }
  const volumes = new VolumesPage(page);
  await volumes.open(cluster, `namespace:${space.name}`);
  const pod = await space.pod("web");
  expect(pod.spec.nodeName).toBe(node);
  await expect(volumes.row({ namespace: space.name, pod: "web", volume: "data" })).toContainText("kubernetes.io/csi");
  await expect(volumes.row({ namespace: space.name, pod: "web", volume: "hot" })).toContainText("kubernetes.io/empty-dir");
  const shown = await volumes.keys();
  const named = (pod.spec.volumes ?? []).filter(({ name }) => !name.startsWith("kube-api-access-"));
  expect([...shown].sort()).toEqual(named.map(({ name }) => `${space.name}/web/${name}`).sort());
});

test("a claim is grown to its real end, and the pod sees the new size; a restart in between loses nothing", async ({ page }) => {
  test.skip(script === undefined, "needs the script of the test bed");
  const shell = new Shell(page);
  const claim = new ClaimPage(page);
  const cluster = await shell.enter(app.url);
  await claim.open(cluster, { namespace: space.name, name: "data" });
  const dialog = await claim.grow();
  await dialog.type("600Mi");
  await expect(dialog.dryRun).toContainText("Accepted");
  await dialog.confirm();
  await expect(dialog.outcome("working").or(dialog.outcome("waiting"))).toBeVisible();
  const { dataFolder } = app;
  await app.kill();
  try {
    app = await startWith(adminKubeconfig, dataFolder);
    await shell.enter(app.url);
    await shell.openPath(`/c/${cluster}/operations`);
    const row = new OperationsPage(page).of(`${space.name}/data`);
    await expect(row.locator(".st", { hasText: "ok" })).toBeVisible({ timeout: 120_000 });
    await expect(row).toContainText(await userName(client));
    await expect(row).toHaveCount(1);
    expect((await space.claim("data")).status?.capacity).toEqual({ storage: "600Mi" });
    const sizeKiB = Number(script?.("kubectl", "-n", space.name, "exec", "web", "--", "df", "-k", "/data").split("\n").at(-1)?.split(/\s+/)[1]);
    expect(sizeKiB).toBeGreaterThan(500 * 1024);
    expect(sizeKiB).toBeLessThanOrEqual(600 * 1024);
  } finally {
    await app.stop();
    await resetData(dataFolder);
    app = await startWith(adminKubeconfig);
  }
});

const refusals = [
  {
    name: "a size that is too small",
    claim: "data",
    size: "100Mi",
    words: 'PersistentVolumeClaim "data" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  },
  {
    name: "a class that allows no growing",
    claim: "fixed",
    size: "500Mi",
    words: 'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  },
];
for (const { name, claim: of, size, words } of refusals) {
  test(`${name} is refused, in the words of the API server`, async ({ page }) => {
    const claim = new ClaimPage(page);
    const cluster = await new Shell(page).enter(app.url);
    await claim.open(cluster, { namespace: space.name, name: of });
    const dialog = await claim.grow();
    await dialog.type(size);
    await expect(dialog.dryRun).toContainText(`Refused word for word:${words}`);
    await expect(dialog.button()).toHaveAttribute("aria-disabled", "true");
  });
}

test("a memory-backed volume that the kubelet can't resize ends as failed, in the kubelet's words", async ({ page }) => {
  test.skip(!hasCgroupV1, "needs nodes on cgroup v1");
  const volume = new VolumePage(page);
  const cluster = await new Shell(page).enter(app.url);
  await volume.open(cluster, { namespace: space.name, pod: "web", volume: "hot" });
  const dialog = await volume.resize();
  await dialog.type("100Mi");
  await dialog.confirm();
  await dialog.outcome("failed").waitFor({ timeout: 60_000 });
  const pending = (await space.pod("web")).status?.conditions?.find(({ type }) => type === "PodResizePending");
  expect(pending).toMatchObject({ status: "True", reason: "Infeasible" });
  await expect(dialog.dialog).toContainText(pending?.message ?? "?");
  await expect(dialog.dialog).toContainText("Infeasible");
});

test("a person without the right sees which one is missing, and the rule that gives it", async ({ page }) => {
  test.skip(script === undefined, "needs the script of the test bed");
  const viewed = await startWith(script?.("kubeconfig", "viewer") ?? "");
  try {
    const claim = new ClaimPage(page);
    const cluster = await new Shell(page).enter(viewed.url);
    await claim.open(cluster, { namespace: space.name, name: "data" });
    await expect(claim.growButton).toHaveAttribute("aria-disabled", "true");
    await expect(claim.growth).toContainText(`Missing: patch persistentvolumeclaims in ${space.name}`);
    await expect(claim.growth).toContainText(`kind: Role`);
    await claim.growButton.hover();
    await expect(page.getByRole("tooltip")).toContainText(`the right to patch persistentvolumeclaims in ${space.name} is missing`);
  } finally {
    await viewed.stop();
  }
});
