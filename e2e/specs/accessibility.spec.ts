/**
 * WCAG 2.2 A and AA, and no sideways scroll: every page filled, empty, in error and forbidden, in both themes and both widths.
 * Error and forbidden states are clusters behind the fault proxy.
 */
import { expect, test, type Page } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { kubeconfigOf, proceduresOf } from "@/e2e/cluster-of";
import { startFaultProxy, type FaultProxy } from "@/e2e/fault-proxy";
import { inspectAll } from "@/e2e/pages/accessibility";
import { ClaimPage } from "@/e2e/pages/claims";
import { OperationsPage } from "@/e2e/pages/operations";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage } from "@/e2e/pages/volumes";

type State = "filled" | "empty" | "error" | "forbidden";

let shop: RunningApp;
let live: RunningApp;
let proxy: FaultProxy<"empty" | "error" | "forbidden">;
/** One tab per app: a page of its own for each state would load everything twice. */
let here: Page;
let there: Page;
const ran = new Map<string, number>();

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async ({ browser }) => {
  shop = await startApp();
  proxy = await startFaultProxy(kubeconfigOf(shop), { empty: "empty", error: "internal-error", forbidden: "forbidden" });
  live = await startApp({ args: ["--kubeconfig", proxy.kubeconfig] });
  // Axe opens a page beside the one it looks at: the context must be a named one.
  here = await (await browser.newContext()).newPage();
  there = await (await browser.newContext()).newPage();
  await new Shell(here).enter(shop.url);
  await new Shell(there).enter(live.url);
});

test.afterAll(async () => {
  const all = [...ran.values()].reduce((sum, each) => sum + each, 0);
  console.log(`${all} combinations of page, state, theme and width: ${[...ran].map(([state, count]) => `${state} ${count}`).join(", ")}`);
  await here.context().close();
  await there.context().close();
  await live.stop();
  await proxy.close();
  await shop.stop();
});

async function inspect(page: Page, state: State): Promise<void> {
  const combinations = await inspectAll(page);
  ran.set(state, (ran.get(state) ?? 0) + combinations.length);
  for (const { width, theme, violations, sidewaysPx } of combinations) {
    expect({ width, theme, violations, sidewaysPx }).toEqual({ width, theme, violations: [], sidewaysPx: 0 });
  }
}

/** On this machine: path, state, and a text that is there once the page has what it shows. */
const ofThisMachine: readonly (readonly [path: string, state: State, text: string])[] = [
  ["operations", "empty", "Nothing was changed"],
  ["plugins", "filled", "Probe events"],
  ["plugins?q=nothing-of-this-name", "empty", "No plugins match"],
  ["plugins/kubernetes.io~empty-dir", "filled", "What it can do"],
  ["plugins/kubernetes.io~git-repo", "filled", "is locked off since"],
  ["plugins/nobody~nothing", "empty", "No plugin nobody/nothing"],
  ["volumes", "filled", "shown"],
  ["volumes?q=nothing-of-this-name", "empty", "No volumes match"],
  ["volumes/shop/cache/hot", "filled", "Where it stands"],
  ["volumes/shop/legacy/lost", "filled", "no volume plugin matched"],
  ["volumes/shop/cache/nothing", "empty", "is not here"],
  ["claims", "filled", "shown"],
  ["claims?q=nothing-of-this-name", "empty", "No claims match"],
  ["claims/shop/data-web-0", "filled", "Room in the backend"],
  ["claims/shop/nothing", "empty", "is not here"],
  ["nodes", "filled", "shown"],
  ["nodes?q=nothing-of-this-name", "empty", "No nodes match"],
  ["nodes/nothing", "empty", "is not here"],
  ["operations/nothing", "empty", "No such operation"],
];

for (const [path, state, text] of ofThisMachine) {
  test(`${state}: ${path}`, async () => {
    const shell = new Shell(here);
    await shell.openPath(`/c/${shell.cluster()}/${path}`);
    await expect(here.getByText(text).first()).toBeVisible();
    await inspect(here, state);
  });
}

test("filled: a node, each of its views", async () => {
  const shell = new Shell(here);
  await shell.go("Nodes");
  await here.getByRole("region", { name: "Nodes" }).getByRole("link").first().click();
  for (const view of ["Wanted, reported, found", "Mounts", "Use by pod", "Drivers and sockets"]) {
    const tab = here.getByRole("button", { name: view });
    await tab.click();
    await expect(tab).toHaveAttribute("aria-current", "true");
    await inspect(here, "filled");
  }
});

test("filled: the dialogs of a claim, while a size is refused and while one is followed; its operation", async () => {
  const cluster = new Shell(here).cluster();
  const claim = new ClaimPage(here);
  await claim.open(cluster, { namespace: "shop", name: "data-web-0" });
  await expect(claim.size("Granted", "320Mi")).toBeVisible({ timeout: 30_000 });
  const dialog = await claim.grow();
  await dialog.type("1Mi");
  await expect(dialog.check("Larger than granted")).toContainText("refuse");
  await inspect(here, "filled");
  await dialog.type("400Mi");
  await dialog.confirm();
  await dialog.outcome("ok").waitFor({ timeout: 30_000 });
  await inspect(here, "filled");
  await dialog.close();
  await new Shell(here).openPath(`/c/${cluster}/operations`);
  await expect(new OperationsPage(here).of("shop/data-web-0")).toBeVisible();
  await inspect(here, "filled");
  await new OperationsPage(here).openFirst("shop/data-web-0");
  await expect(here.getByRole("region", { name: "Journal" })).toBeVisible();
  await inspect(here, "filled");
});

test("filled: the dialogs of a volume", async () => {
  const volume = new VolumePage(here);
  await volume.open(new Shell(here).cluster(), { namespace: "shop", pod: "cache", volume: "hot" });
  await volume.yaml("Pod");
  await inspect(here, "filled");
  await here.keyboard.press("Escape");
  const dialog = await volume.resize();
  await dialog.type("96Mi");
  await expect(dialog.dryRun).toContainText("Accepted");
  await inspect(here, "filled");
  await dialog.close();
  await here.getByRole("button", { name: "As kubectl" }).click();
  await expect(here.getByRole("dialog", { name: "As kubectl" })).toBeVisible();
  await inspect(here, "filled");
  await here.keyboard.press("Escape");
});

const details = ["plugins/kubernetes.io~empty-dir", "volumes/shop/cache/hot", "claims/shop/data-web-0", "nodes/some-node"];
const changes = [
  ["operations", "Nothing was changed from here yet"],
  ["operations/some-id", "No such operation"],
] as const;
const clusters: Readonly<Record<"empty" | "error" | "forbidden", readonly (readonly [path: string, text: string])[]>> = {
  empty: [
    ["plugins", "No host has published its plugins yet"],
    ["volumes", "No pod has a volume yet"],
    ["claims", "No claim is here yet"],
    ["nodes", "No node is here yet"],
  ],
  error: [
    ["plugins", "The plugins could not be read"],
    ["volumes", "The volumes could not be read"],
    ["claims", "The claims could not be read"],
    ["nodes", "The nodes could not be read"],
    ...details.map((path) => [path, "could not be read"] as const),
    ...changes,
  ],
  forbidden: [
    ["plugins", "You may not list nodes in this cluster"],
    ["volumes", "You may not list pods in this cluster"],
    ["claims", "You may not list persistentvolumeclaims in this cluster"],
    ["nodes", "You may not list nodes in this cluster"],
    ...details.map((path) => [path, "Ask a cluster admin to apply"] as const),
    ...changes,
  ],
};

for (const state of ["empty", "error", "forbidden"] as const) {
  for (const [path, text] of clusters[state]) {
    test(`${state}, behind a fault: ${path}`, async () => {
      const cluster = (await proceduresOf(live).cluster.list.query()).find(({ name }) => name === state);
      await new Shell(there).openPath(`/c/${cluster?.id}/${path}`);
      await expect(there.getByRole("main").getByText(text).first()).toBeVisible({ timeout: 30_000 });
      await inspect(there, state);
    });
  }
}

test("empty: the page that asks for a token", async ({ page }) => {
  await page.goto(shop.origin);
  await expect(new Shell(page).tokenField).toBeVisible();
  await inspect(page, "empty");
});
