import type { Locator, Page } from "@playwright/test";
import type { StatusWord } from "@/lib/words";

/**
 * The dialog of every change: type a size, read the checks, confirm, follow.
 *
 * ```ts
 * const dialog = await claim.grow();
 * await dialog.type("400Mi");
 * await dialog.confirm();
 * await dialog.outcome("ok").waitFor();
 * ```
 */
export class ChangeDialog {
  readonly dialog: Locator;
  readonly size: Locator;
  readonly checks: Locator;
  readonly dryRun: Locator;

  constructor(readonly page: Page) {
    this.dialog = page.getByRole("dialog");
    this.size = this.dialog.getByLabel("New size");
    this.checks = this.dialog.locator(".checks > li");
    this.dryRun = this.dialog.locator(".part", { hasText: "Dry run" });
  }

  async type(size: string): Promise<void> {
    await this.size.fill(size);
  }

  /** A check by its title; its text holds the verdict (`pass`, `refuse`, `unknown`, `note`) and the object that decides. */
  check(title: string): Locator {
    return this.checks.filter({ hasText: title });
  }

  /** The button that says verb, object and size. It stays when refused, disabled, and the foot says why. */
  button(): Locator {
    return this.dialog.locator("footer .btn-main");
  }

  /** Why it can't be confirmed now; empty when it can. */
  refusal(): Locator {
    return this.dialog.locator("footer .say-s");
  }

  /** Waits until the checks allow it, and confirms. */
  async confirm(): Promise<void> {
    await this.dialog.locator('footer .btn-main:not([aria-disabled="true"])').click();
  }

  /** The followed operation while it shows this word. */
  outcome(word: StatusWord): Locator {
    return this.dialog.getByRole("status").filter({ hasText: word });
  }

  /** The command line that does the same. */
  async kubectl(): Promise<string> {
    return (await this.dialog.getByRole("region", { name: "Command" }).textContent()) ?? "";
  }

  async close(): Promise<void> {
    await this.dialog.getByRole("button", { name: "Close" }).first().click();
  }
}
