/**
 * A plugin manager that checks itself: after every findPluginBySpec, `explain` and the matcher of the published table must come to the
 * same winner or error, and give each plugin that could not the field that decided.
 */
import { codeOf, messageOf } from "@/lib/errors";
import { explain } from "@/server/volume/explain";
import type { VolumePlugin } from "@/server/volume/plugin";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { errorOf } from "@/server/volume/plugin-matcher";
import type { Clock, Log } from "@/server/volume/ports";
import type { Spec } from "@/server/volume/spec";

export function checkedAgainstExplain(ports: { readonly clock: Clock; readonly log: Log }): VolumePluginManager {
  return new CheckedManager(ports);
}

class CheckedManager extends VolumePluginManager {
  override async findPluginBySpec(spec: Spec | undefined): Promise<VolumePlugin> {
    try {
      const plugin = await super.findPluginBySpec(spec);
      this.check(spec, plugin.getPluginName());
      return plugin;
    } catch (error) {
      if (codeOf(error) !== "nil-dereference") this.check(spec, messageOf(error));
      throw error;
    }
  }

  private check(spec: Spec | undefined, expected: string): void {
    const table = this.published();
    const { winner, error, plugins } = explain(table, spec);
    const explained = winner ?? error?.message;
    if (explained !== expected) throw new Error(`explain says ${explained}, the finder ${expected}`);
    const silent = plugins.find(({ field, reason }) => field === "" || reason === "");
    if (silent) throw new Error(`explain does not say why ${silent.name} was decided`);
    if (!spec) return;
    const match = table.matcher.match(spec);
    const matched = match.outcome === "found" ? match.entry.name : errorOf(match)?.message;
    if (matched !== expected) throw new Error(`the table matches ${matched}, the finder ${expected}`);
  }
}
