import type { Locator, Page } from "@playwright/test";

/** The list of plugins: nodes side by side, one plugin or CSI driver a row, and what the probers said. */
export class PluginsPage {
  readonly filter: Locator;
  readonly table: Locator;
  readonly events: Locator;

  constructor(readonly page: Page) {
    this.filter = page.getByRole("textbox", { name: "Filter" });
    this.table = page.getByRole("region", { name: "Plugins by node" });
    this.events = page.getByRole("region", { name: "Probe events" }).getByRole("listitem");
  }

  /** Opens the list of a cluster by its slug. `filter` is a filter line such as `kind:flex`. */
  async open(cluster: string, filter = ""): Promise<void> {
    const query = filter === "" ? "" : `?q=${encodeURIComponent(filter)}`;
    await this.page.goto(new URL(`/c/${cluster}/plugins${query}`, this.page.url()).toString());
  }

  /** The row of a plugin by its whole name, such as `kubernetes.io/empty-dir` or `voldeck.dev/share`. */
  row(name: string): Locator {
    return this.table.locator(`tr[data-key="${name}"]`);
  }

  /** What a plugin of a cluster with one node says below a short head, such as `Block`: `yes`, `no`, or `per driver`. */
  async capability(name: string, head: string): Promise<string> {
    const heads = await this.table.getByRole("columnheader").allInnerTexts();
    return this.row(name).getByRole("cell").nth(heads.map((text) => text.trim()).indexOf(head)).innerText();
  }

  /** The error lines below a plugin's row. */
  errors(text: string | RegExp): Locator {
    return this.table.locator("tr.err").filter({ hasText: text });
  }

  /** Lines of the strip of probe events about one plugin, newest first. */
  eventsOf(name: string): Locator {
    return this.events.filter({ hasText: name });
  }

  /** Opens the plugin's own page. */
  async openPlugin(name: string): Promise<void> {
    await this.row(name).getByRole("link").click();
  }
}

/** One plugin or CSI driver. */
export class PluginPage {
  readonly title: Locator;
  /** A sentence under the title, such as a gate that is locked off; most plugins have none. */
  readonly note: Locator;
  readonly nodes: Locator;
  readonly capabilities: Locator;
  readonly volumes: Locator;
  readonly history: Locator;

  constructor(readonly page: Page) {
    this.title = page.getByRole("heading", { level: 1 });
    this.note = page.getByRole("note");
    this.nodes = page.getByRole("region", { name: "On each node" });
    this.capabilities = page.getByRole("region", { name: "Capabilities" });
    this.volumes = page.getByRole("region", { name: "Volumes it serves" });
    this.history = page.getByRole("region", { name: "History" });
  }

  /** The row of a capability by its title, such as `Resize ephemeral`; its cells say yes or no. */
  capability(title: string): Locator {
    return this.capabilities.getByRole("row").filter({ has: this.page.getByRole("rowheader", { name: title }) });
  }
}
