import { expect, test } from "@playwright/test";
import { startApp, type RunningApp } from "@/e2e/app";
import manifest from "@/package.json" with { type: "json" };

let app: RunningApp;

test.beforeAll(async () => {
  app = await startApp();
});

test.afterAll(async () => {
  expect(await app.stop()).toBe(0);
});

test("without a token the page asks for it, and tells where it is", async ({ page }) => {
  await page.goto(app.origin);
  await expect(page.getByRole("heading", { name: /token/i })).toBeVisible();
});

test("the printed URL opens the app and leaves no token in the address, and the rail tells the version", async ({ page }) => {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(app.url);
  await expect(page).not.toHaveURL(/token/);
  await expect(page.getByRole("heading").first()).toBeVisible();
  await expect(page.getByText(`Voldeck ${manifest.version}`, { exact: true })).toBeVisible();
  expect(errors).toEqual([]);
});
