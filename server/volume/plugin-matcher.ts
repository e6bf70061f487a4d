/**
 * Which plugin serves a spec: the rule of FindPluginBySpec, and a fast synchronous form of it over a fixed set of plugins.
 * Source of the rule and its texts: pkg/volume/plugins.go (FindPluginBySpec).
 */
import { compareText } from "@/lib/names";
import { noPluginMatched, VolumeError } from "@/server/volume/errors";
import type { VolumePlugin } from "@/server/volume/plugin";
import type { Spec } from "@/server/volume/spec";

export type PluginOrigin = "registered" | "probed";

export interface PluginEntry {
  readonly name: string;
  readonly origin: PluginOrigin;
  readonly plugin: VolumePlugin;
}

export type Match =
  | { readonly outcome: "found"; readonly entry: PluginEntry }
  | { readonly outcome: "none" }
  /** Sorted names: first the registered ones, then the probed ones. */
  | { readonly outcome: "several"; readonly names: readonly string[] };

const none: Match = { outcome: "none" };

/** What several canSupport answers come to. */
export function matchOf(supporting: readonly PluginEntry[]): Match {
  const [first] = supporting;
  if (!first) return none;
  if (supporting.length === 1) return { outcome: "found", entry: first };
  const sortedNames = (origin: PluginOrigin): string[] =>
    supporting.filter((entry) => entry.origin === origin).map(({ name }) => name).sort(compareText);
  return { outcome: "several", names: [...sortedNames("registered"), ...sortedNames("probed")] };
}

/** The error of FindPluginBySpec for a match that is no single plugin; undefined when one was found. */
export function errorOf(match: Match): VolumeError | undefined {
  switch (match.outcome) {
    case "found":
      return undefined;
    case "none":
      return noPluginMatched();
    case "several":
      return new VolumeError(`multiple volume plugins matched: ${match.names.join(",")}`);
  }
}

/**
 * Answers what matchOf over every canSupport would answer, asking only the plugins whose declared `sources` the spec has, and those
 * that declare none. One match allocates nothing unless several plugins match.
 */
export class PluginMatcher {
  readonly entries: readonly PluginEntry[];
  private readonly undeclared: readonly Candidate[];
  private readonly byVolumeField: SourceIndex;
  private readonly byPersistentVolumeField: SourceIndex;

  constructor(entries: readonly PluginEntry[]) {
    this.entries = entries;
    const candidates = entries.map((entry) => ({ plugin: entry.plugin, found: { outcome: "found", entry } }) as const);
    this.undeclared = candidates.filter(({ plugin }) => !plugin.sources);
    this.byVolumeField = indexOf(candidates, "volume");
    this.byPersistentVolumeField = indexOf(candidates, "persistentVolume");
  }

  match(spec: Spec): Match {
    let found = firstOf(this.undeclared, spec, undefined);
    found = firstOfSources(this.byVolumeField, spec.volume, spec, found);
    found = firstOfSources(this.byPersistentVolumeField, spec.persistentVolume?.spec, spec, found);
    if (found === several) return matchOf(this.entries.filter(({ plugin }) => plugin.canSupport(spec)));
    return found?.found ?? none;
  }
}

interface Candidate {
  readonly plugin: VolumePlugin;
  readonly found: Match;
}

/** The candidates for a source: those for any, and those for one driver by its name. */
interface SourceCandidates {
  readonly anyDriver: readonly Candidate[];
  readonly byDriver: ReadonlyMap<unknown, readonly Candidate[]>;
}

type SourceIndex = ReadonlyMap<string, SourceCandidates>;

const several = Symbol("several");
type Found = Candidate | undefined | typeof several;

/** The one candidate so far, or `several` as soon as another one supports the spec too. */
function firstOf(candidates: readonly Candidate[] | undefined, spec: Spec, found: Found): Found {
  if (!candidates || found === several) return found;
  let first = found;
  for (const candidate of candidates) {
    if (candidate === first || !candidate.plugin.canSupport(spec)) continue;
    if (first) return several;
    first = candidate;
  }
  return first;
}

// Four parameters, since an object of them would be allocated for each match.
function firstOfSources(index: SourceIndex, sources: object | undefined, spec: Spec, found: Found): Found {
  let first = found;
  for (const field in sources) {
    const candidates = index.get(field);
    if (!candidates) continue;
    first = firstOf(candidates.anyDriver, spec, first);
    if (candidates.byDriver.size === 0) continue;
    const source = (sources as Readonly<Record<string, { readonly driver?: unknown } | null | undefined>>)[field];
    first = firstOf(candidates.byDriver.get(source?.driver), spec, first);
  }
  return first;
}

function indexOf(candidates: readonly Candidate[], part: "volume" | "persistentVolume"): SourceIndex {
  const fieldsOf = ({ plugin }: Candidate): readonly string[] => plugin.sources?.[part] ?? [];
  const driverOf = ({ plugin }: Candidate): string | undefined => plugin.sources?.driver;
  return new Map(
    [...new Set(candidates.flatMap(fieldsOf))].map((field) => {
      const asked = candidates.filter((candidate) => fieldsOf(candidate).includes(field));
      const anyDriver = asked.filter((candidate) => driverOf(candidate) === undefined);
      const byDriver = Map.groupBy(asked.filter((candidate) => driverOf(candidate) !== undefined), driverOf);
      return [field, { anyDriver, byDriver }];
    }),
  );
}
