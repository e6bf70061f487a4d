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
  private readonly byVolumeField: ReadonlyMap<string, readonly Candidate[]>;
  private readonly byPersistentVolumeField: ReadonlyMap<string, readonly Candidate[]>;

  constructor(entries: readonly PluginEntry[]) {
    this.entries = entries;
    const candidates = entries.map((entry) => ({ plugin: entry.plugin, found: { outcome: "found", entry } }) as const);
    this.undeclared = candidates.filter(({ plugin }) => !plugin.sources);
    this.byVolumeField = indexBy(candidates, ({ plugin }) => plugin.sources?.volume);
    this.byPersistentVolumeField = indexBy(candidates, ({ plugin }) => plugin.sources?.persistentVolume);
  }

  match(spec: Spec): Match {
    let found = firstOf(this.undeclared, spec, undefined);
    if (found === several) return this.matchAmongAll(spec);
    const volume = spec.volume;
    for (const field in volume) {
      found = firstOf(this.byVolumeField.get(field), spec, found);
      if (found === several) return this.matchAmongAll(spec);
    }
    const source = spec.persistentVolume?.spec;
    for (const field in source) {
      found = firstOf(this.byPersistentVolumeField.get(field), spec, found);
      if (found === several) return this.matchAmongAll(spec);
    }
    return found?.found ?? none;
  }

  private matchAmongAll(spec: Spec): Match {
    return matchOf(this.entries.filter(({ plugin }) => plugin.canSupport(spec)));
  }
}

interface Candidate {
  readonly plugin: VolumePlugin;
  readonly found: Match;
}

const several = Symbol("several");

/** The one candidate so far, or `several` as soon as another one supports the spec too. */
function firstOf(
  candidates: readonly Candidate[] | undefined,
  spec: Spec,
  found: Candidate | undefined,
): Candidate | undefined | typeof several {
  if (!candidates) return found;
  let first = found;
  for (const candidate of candidates) {
    if (candidate === first || !candidate.plugin.canSupport(spec)) continue;
    if (first) return several;
    first = candidate;
  }
  return first;
}

function indexBy(
  candidates: readonly Candidate[],
  fieldsOf: (candidate: Candidate) => readonly string[] | undefined,
): Map<string, readonly Candidate[]> {
  const fields = new Set(candidates.flatMap((candidate) => fieldsOf(candidate) ?? []));
  return new Map([...fields].map((field) => [field, candidates.filter((candidate) => fieldsOf(candidate)?.includes(field))]));
}
