/** Addresses that lead nowhere, and pages of a cluster that takes no changes from here. */
import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { kubeconfigOf } from "@/e2e/cluster-of";
import { inspectAll } from "@/e2e/pages/accessibility";
import { Shell } from "@/e2e/pages/shell";

let app: RunningApp;
let live: RunningApp;

test.describe.configure({ timeout: 120_000 });

test.beforeAll(async () => {
  app = await startApp();
  live = await startApp({ args: ["--kubeconfig", kubeconfigOf(app)] });
});

test.afterAll(async () => {
  await live.stop();
  await app.stop();
});

test("an address that does not decode is a page that is not there", async ({ page }) => {
  for (const path of ["/c/%E0%A4%A/plugins", "/%", "/c/x/nodes/%zz"]) {
    const answer = await page.goto(`${app.origin}${path}`);
    expect(answer?.status(), path).toBe(404);
    await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  }
});

test("a cluster that is not there is said to be none, with the way to those that are", async ({ page }) => {
  const shell = new Shell(page);
  const cluster = await shell.enter(app.url);
  for (const slug of ["nope-123456", "NOPE", "a%20b"]) {
    await shell.openPath(`/c/${slug}/volumes`);
    await expect(page.getByRole("heading", { name: "There is no such cluster" })).toBeVisible();
    await expect(shell.liveLight).toHaveText("no such cluster");
  }
  expect((await inspectAll(page)).map(({ violations, sidewaysPx }) => [violations, sidewaysPx])).toEqual(Array(4).fill([[], 0]));
  await page.getByRole("main").getByRole("link").click();
  await page.waitForURL(new RegExp(`/c/${cluster}/`));
  expect(app.output()).not.toMatch(/TRPCError|INTERNAL_SERVER_ERROR|There is no cluster/);
});

test("a live cluster that nothing was changed in has no operations, and says so", async ({ page }) => {
  const shell = new Shell(page);
  const cluster = await shell.enter(live.url);
  await shell.fresh("live").waitFor({ timeout: 60_000 });
  const heads = { operations: "Nothing was changed from here yet", "operations/some-id": "No such operation" };
  for (const [path, name] of Object.entries(heads)) {
    await shell.openPath(`/c/${cluster}/${path}`);
    await expect(page.getByRole("heading", { name })).toBeVisible();
  }
  expect((await inspectAll(page)).map(({ violations, sidewaysPx }) => [violations, sidewaysPx])).toEqual(Array(4).fill([[], 0]));
});
