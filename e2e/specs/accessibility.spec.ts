import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import { inspectAll, violations } from "@/e2e/pages/accessibility";
import { Shell } from "@/e2e/pages/shell";

let app: RunningApp;
let ran = 0;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  console.log(`${ran} combinations of page, state, theme and width`);
  await app.stop();
});

const states: readonly (readonly [string, string, string])[] = [
  ["plugins, filled", "plugins", "Probe events"],
  ["plugins, empty", "plugins?q=nothing-of-this-name", "No plugins match"],
  ["one plugin", "plugins/kubernetes.io~empty-dir", "What it can do"],
  ["a plugin that is not there", "plugins/nobody~nothing", "No plugin"],
  ["volumes, filled", "volumes", "shown"],
  ["volumes, empty", "volumes?q=nothing-of-this-name", "No volumes match"],
  ["one volume", "volumes/shop/cache/hot", "Where it stands"],
  ["claims, filled", "claims", "shown"],
  ["claims, empty", "claims?q=nothing-of-this-name", "No claims match"],
  ["one claim", "claims/shop/data-web-0", "Requested"],
  ["a claim that is not there", "claims/shop/nothing", "is not here"],
  ["nodes, filled", "nodes", "shown"],
  ["nodes, empty", "nodes?q=nothing-of-this-name", "No nodes match"],
  ["operations, empty", "operations", "Nothing was changed"],
  ["a volume that is not there", "volumes/shop/cache/nothing", "is not here"],
];

for (const [name, path, text] of states) {
  test(`no violation, and nothing scrolls sideways: ${name}`, async ({ page }) => {
    const shell = new Shell(page);
    await shell.open(app.url);
    await expect(shell.title).toBeVisible();
    await shell.openPath(`/c/${shell.cluster()}/${path}`);
    await expect(page.getByText(text).first()).toBeVisible();
    const combinations = await inspectAll(page);
    ran += combinations.length;
    for (const { violations: found, sidewaysPx } of combinations) expect({ found, sidewaysPx }).toEqual({ found: [], sidewaysPx: 0 });
  });
}

test("the page that asks for a token", async ({ page }) => {
  await page.goto(app.origin);
  await expect(new Shell(page).tokenField).toBeVisible();
  ran += 1;
  expect(await violations(page)).toEqual([]);
});
