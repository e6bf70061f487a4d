import type { Locator, Page } from "@playwright/test";

/** What the pages of a standalone cluster say of its manifests: the banner, and the dialog behind it. */
export class Manifests {
  readonly banner: Locator;
  readonly dialog: Locator;
  /** `file:line` and what is wrong there. */
  readonly errors: Locator;
  /** Objects that no file names any more and that stay until somebody confirms. */
  readonly waiting: Locator;
  readonly kept: Locator;
  readonly removeButton: Locator;

  constructor(readonly page: Page) {
    this.banner = page.locator(".banner");
    this.dialog = page.getByRole("dialog", { name: "Manifests" });
    this.errors = this.dialog.getByRole("list", { name: "Errors of the manifests" }).getByRole("listitem");
    this.waiting = this.dialog.getByRole("list", { name: "Objects that wait for removal" }).getByRole("listitem");
    this.kept = this.dialog.getByRole("list", { name: "Kinds that are only kept" }).getByRole("listitem");
    this.removeButton = this.dialog.getByRole("button", { name: /^Remove/ });
  }

  /** Opens the dialog by the banner's own button. */
  async open(): Promise<void> {
    await this.banner.getByRole("button").click();
    await this.dialog.waitFor();
  }

  async close(): Promise<void> {
    await this.dialog.getByRole("button", { name: /Close|Keep waiting/ }).last().click();
  }
}
