import type { Locator, Page } from "@playwright/test";

/** The list of nodes. */
export class NodesPage {
  readonly table: Locator;

  constructor(readonly page: Page) {
    this.table = page.getByRole("region", { name: "Nodes" });
  }

  row(name: string): Locator {
    return this.table.locator(`tr[data-key="${name}"]`);
  }

  /** How full the disk of the first node is, such as `41 %`. */
  disk(): Locator {
    return this.table.locator("tr[data-key]").first().locator(".use").first();
  }

  async openNode(name: string): Promise<void> {
    await this.row(name).getByRole("link").click();
  }
}

/** One node: wanted, reported and found side by side; mounts; drivers and sockets. */
export class NodePage {
  readonly title: Locator;
  readonly compared: Locator;

  constructor(readonly page: Page) {
    this.title = page.getByRole("heading", { level: 1 });
    this.compared = page.getByRole("region", { name: "Wanted, reported, found" });
  }

  /** One of the facts under the title, such as `Disk` or `Inodes`. */
  fact(name: string): Locator {
    return this.page.locator(".node-facts > div").filter({ has: this.page.locator("dt", { hasText: name }) });
  }

  /** The used part of a fact, such as `41 %`; there is none where it is not known. */
  used(fact: "Disk" | "Inodes"): Locator {
    return this.fact(fact).locator(".use");
  }

  /** The line of one volume, such as `web-0 / data`. */
  volume(title: string): Locator {
    return this.compared.getByRole("row").filter({ hasText: title });
  }

  /** `Manifests` is there only on a standalone node. */
  async tab(name: "Wanted, reported, found" | "Mounts" | "Use by pod" | "Drivers and sockets" | "Manifests"): Promise<Locator> {
    await this.page.getByRole("button", { name }).click();
    return this.page.getByRole("region", { name });
  }
}
