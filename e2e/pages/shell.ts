import type { Locator, Page } from "@playwright/test";

/** What the live light can say. `connecting`: this tab hears nothing from Voldeck. */
export type Freshness = "live" | "catching up" | "stale" | "recorded" | "simulated" | "connecting";

/**
 * The frame around every page: rail, breadcrumb, live light, theme.
 *
 * ```ts
 * const shell = new Shell(page);
 * await shell.open(app.url);            // the printed URL, token included
 * await shell.fresh("live").waitFor();  // a fact to wait for, never a time
 * await shell.go("Volumes");
 * ```
 */
export class Shell {
  readonly rail: Locator;
  readonly breadcrumb: Locator;
  readonly liveLight: Locator;
  readonly banner: Locator;
  readonly title: Locator;
  readonly tokenField: Locator;

  constructor(readonly page: Page) {
    this.rail = page.getByRole("navigation", { name: "Pages" });
    this.breadcrumb = page.getByRole("navigation", { name: "Where you are" });
    this.liveLight = page.getByTestId("live-light");
    this.banner = page.locator(".banner");
    this.title = page.getByRole("heading", { level: 1 });
    this.tokenField = page.getByLabel("Token or printed URL");
  }

  /** Opens the printed URL. The token is taken from the fragment and kept for this tab. */
  async open(printedUrl: string): Promise<void> {
    await this.page.goto(printedUrl);
  }

  /** Opens the printed URL and waits for the first page of its first cluster. Returns that cluster's slug. */
  async enter(printedUrl: string): Promise<string> {
    await this.open(printedUrl);
    await this.page.waitForURL(/\/c\/[^/]+\//);
    return this.cluster();
  }

  /** Opens a path of the app, such as `/c/voldeck-1a2b3c/volumes`, in a tab that has its token already. */
  async openPath(path: string): Promise<void> {
    await this.page.goto(new URL(path, this.page.url()).toString());
  }

  /** Follows a link of the rail; in a narrow window the menu is opened first. */
  async go(page: "Plugins" | "Volumes" | "Claims" | "Nodes" | "Operations"): Promise<void> {
    const menu = this.page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) await menu.click();
    await this.page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: page }).click();
    // Until the page has come, a field of the same name is the page before's.
    await this.page.waitForURL((url) => url.pathname.endsWith(`/${page.toLowerCase()}`));
  }

  /** The live light while it says this; `waitFor()` on it waits for the fact. */
  fresh(state: Freshness): Locator {
    return this.page.locator(`[data-testid="live-light"][data-state="${state}"]`);
  }

  /** The slug of the cluster, read from the address. */
  cluster(): string {
    return new URL(this.page.url()).pathname.split("/")[2] ?? "";
  }

  async theme(theme: "light" | "dark"): Promise<void> {
    const dark = await this.page.locator("html").evaluate((html) => html.classList.contains("dark"));
    if (dark !== (theme === "dark")) await this.page.getByRole("button", { name: "Dark or light" }).click();
  }
}
