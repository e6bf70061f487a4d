import type { Locator, Page } from "@playwright/test";

/**
 * Commands that pages show, taken along as a person takes them: with the copy button.
 *
 * ```ts
 * await allowClipboard(page);
 * const command = await copyOfPage(page);       // behind "As kubectl"
 * const same = await copyOf(dialog.dialog);     // below "Same with kubectl" in a dialog
 * ```
 */
export async function allowClipboard(page: Page): Promise<void> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
}

/** The command of the page's "As kubectl". */
export async function copyOfPage(page: Page): Promise<string> {
  await page.getByRole("button", { name: "As kubectl" }).click();
  const dialog = page.getByRole("dialog", { name: "As kubectl" });
  const command = await copyOf(dialog);
  await dialog.getByRole("button", { name: "Close" }).click();
  return command;
}

/** The command that a dialog shows. */
export async function copyOf(dialog: Locator): Promise<string> {
  await dialog.getByRole("button", { name: "Copy command" }).click();
  await dialog.getByRole("status").filter({ hasText: "Copied" }).first().waitFor({ state: "attached" });
  return dialog.page().evaluate(() => navigator.clipboard.readText());
}
