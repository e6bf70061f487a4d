import type { Locator, Page } from "@playwright/test";
import type { StatusWord } from "@/lib/words";
import { ChangeDialog } from "./change-dialog";

export interface VolumeKey {
  readonly namespace: string;
  readonly pod: string;
  readonly volume: string;
}

/** The list of volumes: one row per volume of a pod. */
export class VolumesPage {
  readonly filter: Locator;
  readonly table: Locator;
  readonly ledger: Locator;
  /** `13 of 18 shown` */
  readonly count: Locator;

  constructor(readonly page: Page) {
    this.filter = page.getByRole("textbox", { name: "Filter" });
    this.table = page.getByRole("region", { name: "Volumes" });
    this.ledger = page.getByRole("navigation", { name: "Volumes by status" });
    this.count = page.getByRole("status").filter({ hasText: "shown" });
  }

  /** Opens the list of a cluster by its slug. `filter` is a filter line such as `plugin:csi status:stuck`. */
  async open(cluster: string, filter = ""): Promise<void> {
    const query = filter === "" ? "" : `?q=${encodeURIComponent(filter)}`;
    await this.page.goto(new URL(`/c/${cluster}/volumes${query}`, this.page.url()).toString());
  }

  row({ namespace, pod, volume }: VolumeKey): Locator {
    return this.table.locator(`tr[data-key="${namespace}/${pod}/${volume}"]`);
  }

  /** Keys of the rows in sight, in their order. */
  keys(): Promise<string[]> {
    return this.table.locator("tr[data-key]:not(.grp)").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-key") ?? ""));
  }

  /** The row while it shows this word: wait for it, or expect it to be visible. */
  rowIn(key: VolumeKey, word: StatusWord): Locator {
    return this.row(key).filter({ has: this.page.locator(".st", { hasText: word }) });
  }

  async openVolume(key: VolumeKey): Promise<void> {
    await this.row(key).getByRole("link").click();
  }

  /** Chooses a word of the ledger; the same word again takes it off. */
  async choose(word: StatusWord | "all"): Promise<void> {
    await this.ledger.getByRole("button", { name: word }).click();
  }

  /** Puts rows together below heads; `No groups` takes the heads away. */
  async groupBy(by: "No groups" | "Pod" | "Plugin" | "Node" | "Claim"): Promise<void> {
    await this.page.getByRole("group", { name: "Group" }).getByRole("button", { name: by, exact: true }).click();
  }

  /** The head of one group, such as `kubernetes.io/secret · 1`. */
  groupHead(text: string): Locator {
    return this.table.getByRole("rowheader").filter({ hasText: text });
  }

  async sortBy(head: "Pod / volume" | "Status" | "Plugin" | "Node" | "Size" | "Used"): Promise<void> {
    await this.table.getByRole("button", { name: head }).click();
  }
}

/** One volume: the way, the match explained, paths, events, YAML. */
export class VolumePage {
  readonly title: Locator;
  readonly way: Locator;
  readonly match: Locator;
  readonly events: Locator;

  constructor(readonly page: Page) {
    this.title = page.getByRole("heading", { level: 1 });
    this.way = page.getByRole("region", { name: "Where it stands" });
    this.match = page.getByRole("region", { name: "Why this plugin" });
    this.events = page.getByRole("region", { name: "Events" });
  }

  async open(cluster: string, { namespace, pod, volume }: VolumeKey): Promise<void> {
    const path = ["c", cluster, "volumes", namespace, pod, volume].map(encodeURIComponent).join("/");
    await this.page.goto(new URL(`/${path}`, this.page.url()).toString());
  }

  /** One stage of the way; its text holds the state (`done`, `stuck`, ...), the name and the proof. */
  stage(name: string): Locator {
    return this.way.getByRole("listitem").filter({ has: this.page.locator(".nm", { hasText: new RegExp(`^${name}$`) }) });
  }

  /** A stage while it is in this state. */
  stageIn(name: string, state: string): Locator {
    return this.stage(name).filter({ hasText: state });
  }

  /** What one plugin answered, and why. */
  answer(plugin: string): Locator {
    return this.match.getByRole("row").filter({ has: this.page.getByRole("cell", { name: plugin, exact: true }) });
  }

  /** Paths and mount lines, as the node reports them. */
  paths(): Locator {
    return this.page.getByRole("region", { name: /^Paths/ });
  }

  /** Opens the YAML of one of the volume's objects, and gives its text. */
  async yaml(object: "Pod" | "Claim" | "PV" | "Class" | "CSIDriver"): Promise<Locator> {
    await this.page.getByRole("button", { name: "YAML" }).click();
    const dialog = this.page.getByRole("dialog", { name: "YAML" });
    await dialog.getByRole("button", { name: object, exact: true }).click();
    return dialog.getByRole("region", { name: "YAML" });
  }

  /** Opens the dialog that resizes a memory-backed volume. */
  async resize(): Promise<ChangeDialog> {
    await this.page.getByRole("button", { name: "Resize" }).click();
    return new ChangeDialog(this.page);
  }

  /** The command lines behind "As kubectl". */
  async kubectl(): Promise<string> {
    await this.page.getByRole("button", { name: "As kubectl" }).click();
    const dialog = this.page.getByRole("dialog", { name: "As kubectl" });
    const text = (await dialog.getByRole("region", { name: "Command" }).textContent()) ?? "";
    await dialog.getByRole("button", { name: "Close" }).click();
    return text;
  }
}
