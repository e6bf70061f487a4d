import { describe, expect, it } from "vitest";
import type { KindFreshness, KindState, WatchedKind } from "@/server/cluster/snapshot";
import { liveLight } from "./live-light";

function kind(name: WatchedKind, state: KindState, more: Partial<KindFreshness> = {}): KindFreshness {
  return { kind: name, state, lastHeardMs: 1000, sinceMs: 500, objects: 1, ...more };
}

describe("liveLight", () => {
  const facts = { recorded: false, simulated: false };
  it.each([
    ["every kind live", [kind("pods", "live"), kind("nodes", "live")], facts, "live", []],
    ["a kind stale beside live ones", [kind("pods", "stale"), kind("nodes", "live")], facts, "stale", ["pods"]],
    ["a kind still loading", [kind("pods", "loading"), kind("nodes", "live")], facts, "catching up", ["pods"]],
    ["stale wins over catching up", [kind("pods", "catching up"), kind("nodes", "stale")], facts, "stale", ["nodes"]],
    ["a forbidden kind does not make it stale", [kind("pods", "forbidden"), kind("nodes", "live")], facts, "live", []],
    ["nothing may be read", [kind("pods", "forbidden"), kind("nodes", "forbidden")], facts, "stale", ["pods", "nodes"]],
    ["an absent kind does not make it stale", [kind("csinodes", "absent"), kind("nodes", "live")], facts, "live", []],
    ["a recording", [kind("pods", "live")], { recorded: true, simulated: false }, "recorded", []],
    ["a recording that is still read", [kind("pods", "loading")], { recorded: true, simulated: false }, "catching up", ["pods"]],
    ["a memory host", [kind("pods", "live")], { recorded: false, simulated: true }, "simulated", []],
    ["a memory host whose watch broke", [kind("pods", "stale")], { recorded: false, simulated: true }, "stale", ["pods"]],
  ] as const)("%s", (...[, kinds, given, state, meant]) => {
    expect(liveLight({ freshness: { kinds }, ...given })).toMatchObject({ state, kinds: meant });
  });

  it("is stale since the kind last answered, in the words of its reason", () => {
    const kinds = [kind("pods", "stale", { lastHeardMs: 700, reason: "connection refused" }), kind("nodes", "live", { lastHeardMs: 900 })];
    expect(liveLight({ freshness: { kinds }, ...facts })).toMatchObject({ sinceMs: 700, heardAtMs: 700, reason: "connection refused" });
  });

  it("says nothing of the last answer while a kind has not answered yet", () => {
    const kinds = [kind("pods", "loading", { lastHeardMs: undefined }), kind("nodes", "live")];
    expect(liveLight({ freshness: { kinds }, ...facts })).toMatchObject({ heardAtMs: undefined, sinceMs: 500 });
  });
});
