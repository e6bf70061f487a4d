/**
 * Why a spec is served by the plugin it is, from the published table alone: every plugin in the order asked, could it or could it
 * not, and the field that decided.
 */
import { goQuote } from "@/lib/go-text";
import { codeOf } from "@/lib/errors";
import { VolumeError } from "@/server/volume/errors";
import type { PluginSources, VolumePlugin } from "@/server/volume/plugin";
import { errorOf, matchOf, type PluginOrigin } from "@/server/volume/plugin-matcher";
import type { PluginTable } from "@/server/volume/plugin-table";
import type { Spec } from "@/server/volume/spec";

export interface PluginVerdict {
  readonly name: string;
  readonly origin: PluginOrigin;
  readonly could: boolean;
  /** The field of the spec that decided, such as `volume.hostPath`; several, joined by ` or `, where none of them is set. */
  readonly field: string;
  readonly reason: string;
}

export interface Explanation {
  /** The name of the plugin that serves the spec. */
  readonly winner?: string;
  /** Text and code of the error findPluginBySpec throws instead. */
  readonly error?: { readonly message: string; readonly code: string | undefined };
  readonly plugins: readonly PluginVerdict[];
}

/** The same winner or error as findPluginBySpec over the plugins of the table. */
export function explain(table: PluginTable, spec: Spec | undefined): Explanation {
  const { entries } = table.matcher;
  if (!spec) {
    const error = new VolumeError("could not find plugin because volume spec is nil");
    const reason = "there is no spec";
    return {
      error: { message: error.message, code: error.code },
      plugins: entries.map(({ name, origin }) => ({ name, origin, could: false, field: "spec", reason })),
    };
  }
  const asked = entries.map((entry) => ({ entry, could: entry.plugin.canSupport(spec) }));
  const plugins = asked.map(({ entry, could }) => ({
    name: entry.name,
    origin: entry.origin,
    could,
    ...decidingField(entry.plugin, spec, could),
  }));
  const match = matchOf(asked.filter(({ could }) => could).map(({ entry }) => entry));
  if (match.outcome === "found") return { winner: match.entry.name, plugins };
  const error = errorOf(match);
  return { error: { message: error?.message ?? "", code: codeOf(error) }, plugins };
}

function decidingField(plugin: VolumePlugin, spec: Spec, could: boolean): { field: string; reason: string } {
  const fields = plugin.sources ? sourceFields(plugin.sources, spec) : [];
  const set = fields.filter(({ source }) => source !== undefined && source !== null);
  const [first] = set;
  if (first && plugin.sources?.driver !== undefined) return byDriver(set, plugin.sources.driver);
  if (first) return { field: first.path, reason: could ? `${first.path} is set` : `${first.path} is set, and it says no all the same` };
  if (fields.length > 0 && !could) {
    const paths = fields.map(({ path }) => path);
    return { field: paths.join(" or "), reason: `${paths.join(" and ")} ${paths.length === 1 ? "is" : "are"} not set` };
  }
  const field = plugin.decidingField ?? "the whole spec";
  return { field, reason: `it reads ${field} and says ${could ? "yes" : "no"}` };
}

interface SourceField {
  readonly path: string;
  readonly source: unknown;
}

function byDriver(fields: readonly SourceField[], driver: string): { field: string; reason: string } {
  const drivers = fields.map(({ path, source }) => ({ field: `${path}.driver`, named: driverOf(source) }));
  const decided = drivers.find(({ named }) => named === driver) ?? drivers[0];
  const { field, named } = decided ?? { field: "", named: "" };
  const reason = named === driver ? `${field} is ${goQuote(named)}` : `${field} is ${goQuote(named)}, not ${goQuote(driver)}`;
  return { field, reason };
}

/** The fields a plugin declares, those of the volume first. */
function sourceFields(sources: PluginSources, spec: Spec): SourceField[] {
  const ofVolume = (sources.volume ?? []).map((name) => ({ path: `volume.${name}`, source: spec.volume?.[name] }));
  const ofPersistentVolume = (sources.persistentVolume ?? []).map((name) => ({
    path: `persistentVolume.spec.${name}`,
    source: spec.persistentVolume?.spec[name],
  }));
  return [...ofVolume, ...ofPersistentVolume];
}

function driverOf(source: unknown): string {
  if (typeof source !== "object" || source === null || !("driver" in source)) return "";
  return typeof source.driver === "string" ? source.driver : "";
}
