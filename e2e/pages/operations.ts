import type { Locator, Page } from "@playwright/test";
import type { StatusWord } from "@/lib/words";

/** The list of operations, newest first. */
export class OperationsPage {
  readonly filter: Locator;
  readonly table: Locator;
  readonly rows: Locator;

  constructor(readonly page: Page) {
    this.filter = page.getByRole("textbox", { name: "Filter" });
    this.table = page.getByRole("region", { name: "Operations" });
    this.rows = this.table.locator("tr[data-key]");
  }

  /** Operations on a subject, such as `shop/data-web-0` or `shop/cache / hot`. */
  of(subject: string): Locator {
    return this.rows.filter({ hasText: subject });
  }

  async openFirst(subject: string): Promise<void> {
    await this.of(subject).first().getByRole("link").click();
  }
}

/** One operation: steps with what shows them, how it ended, its journal. */
export class OperationPage {
  readonly title: Locator;
  readonly steps: Locator;
  readonly journal: Locator;

  constructor(readonly page: Page) {
    this.title = page.getByRole("heading", { level: 1 });
    this.steps = page.getByRole("region", { name: "Steps" }).getByRole("listitem");
    this.journal = page.getByRole("region", { name: "Journal" }).getByRole("listitem");
  }

  titleIn(word: StatusWord): Locator {
    return this.title.filter({ has: this.page.locator(".st", { hasText: word }) });
  }
}
