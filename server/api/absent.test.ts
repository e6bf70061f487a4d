import { describe, expect, it } from "vitest";
import { absent } from "@/server/api/absent";
import { viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";
import type { KindFreshness } from "@/server/cluster/snapshot";

describe("absent", () => {
  const answered = { kind: "pods", sinceMs: 1, objects: 0 } as const;
  const cases: readonly (readonly [string, KindFreshness, string, RegExp])[] = [
    ["read and not there", { ...answered, state: "live", lastHeardMs: 1 }, "not-found", /^no such pod$/],
    ["read once, stale now", { ...answered, state: "stale", lastHeardMs: 1, reason: "connection refused" }, "not-found", /^no such pod$/],
    ["a kind that the server lacks", { ...answered, state: "absent", lastHeardMs: 1 }, "not-found", /^no such pod$/],
    ["may not be read", { ...answered, state: "forbidden", lastHeardMs: 1, reason: "pods is forbidden" }, "forbidden", /^pods is forbidden$/],
    ["still being read", { ...answered, state: "loading", lastHeardMs: undefined }, "transient", /still being read/],
    ["never read, for the server fails", { ...answered, state: "stale", lastHeardMs: undefined, reason: "etcd is gone" }, "transient", /^etcd is gone$/],
  ];
  it.each(cases)("%s", (_name, pods, code, words) => {
    const view = { ...viewOf(shop), freshness: () => ({ kinds: [pods] }) };
    expect(absent(view, "pods", "no such pod")).toMatchObject({ code, message: expect.stringMatching(words) });
  });
});
