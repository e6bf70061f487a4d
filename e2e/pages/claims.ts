import type { Locator, Page } from "@playwright/test";
import type { StatusWord } from "@/lib/words";
import { ChangeDialog } from "./change-dialog";

export interface ClaimKey {
  readonly namespace: string;
  readonly name: string;
}

/** The list of claims. */
export class ClaimsPage {
  readonly filter: Locator;
  readonly table: Locator;
  readonly ledger: Locator;

  constructor(readonly page: Page) {
    this.filter = page.getByRole("textbox", { name: "Filter" });
    this.table = page.getByRole("region", { name: "Claims" });
    this.ledger = page.getByRole("navigation", { name: "Claims by status" });
  }

  row({ namespace, name }: ClaimKey): Locator {
    return this.table.locator(`tr[data-key="${namespace}/${name}"]`);
  }

  async openClaim(key: ClaimKey): Promise<void> {
    await this.row(key).getByRole("link").click();
  }
}

/** One claim: its sizes, where it stands, what was done to it, who uses it. */
export class ClaimPage {
  readonly title: Locator;
  readonly way: Locator;
  readonly earlier: Locator;
  /** What stands for and against growing it, before a size is typed. */
  readonly growth: Locator;
  readonly growButton: Locator;

  constructor(readonly page: Page) {
    this.title = page.getByRole("heading", { level: 1 });
    this.way = page.getByRole("region", { name: "Where it stands" });
    this.earlier = page.getByRole("region", { name: "Earlier changes", exact: true });
    this.growth = page.getByRole("region", { name: "May it grow?" });
    this.growButton = page.getByRole("button", { name: "Grow" });
  }

  async open(cluster: string, { namespace, name }: ClaimKey): Promise<void> {
    const path = ["c", cluster, "claims", namespace, name].map(encodeURIComponent).join("/");
    await this.page.goto(new URL(`/${path}`, this.page.url()).toString());
  }

  /** One of the four sizes, while it says this: `size("Granted", "400Mi")`. */
  size(label: "Requested" | "Granted" | "Real" | "Used", text: string): Locator {
    return this.page
      .getByRole("region", { name: "Size" })
      .locator("dl > div")
      .filter({ has: this.page.locator("dt", { hasText: label }) })
      .filter({ has: this.page.locator("dd", { hasText: new RegExp(`^${text}$`) }) });
  }

  /** A check of `growth` by its title; its text holds the verdict and the object that decides. */
  growthCheck(title: string): Locator {
    return this.growth.locator(".checks > li").filter({ hasText: title });
  }

  /** The title while the claim shows this word. */
  titleIn(word: StatusWord): Locator {
    return this.title.filter({ has: this.page.locator(".st", { hasText: word }) });
  }

  /** Opens the dialog that grows it. */
  async grow(): Promise<ChangeDialog> {
    await this.growButton.click();
    return new ChangeDialog(this.page);
  }
}
