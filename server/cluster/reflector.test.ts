import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { Pod } from "@/lib/kube/pods";
import { createApiClient } from "@/server/cluster/client";
import { openConnection } from "@/server/cluster/connection";
import {
  json,
  listBody,
  openWatch,
  startFakeApi,
  statusBody,
  writeEvent,
  type FakeAnswer,
  type FakeRequest,
} from "@/server/cluster/fake-api";
import { objectParser } from "@/server/cluster/parse";
import { startReflector } from "@/server/cluster/reflector";
import { ObjectStore } from "@/server/cluster/store";
import { TestClock } from "@/server/cluster/test-clock";
import { silentLog } from "@/server/cluster/time";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function pod(name: string, resourceVersion: string, extra: { uid?: string; annotation?: string; managed?: boolean } = {}): Pod {
  return {
    metadata: {
      name,
      namespace: "shop",
      uid: extra.uid ?? `uid-${name}`,
      resourceVersion,
      annotations: { note: extra.annotation ?? "" },
      ...(extra.managed ? { managedFields: [{ manager: "x" }] } : {}),
    },
    spec: { containers: [] },
  };
}

/** Each request takes the next step; the last step answers all that follow. */
function script(steps: readonly FakeAnswer[]): FakeAnswer {
  let next = 0;
  return (response, request) => {
    const step = steps[Math.min(next, steps.length - 1)];
    next += 1;
    step?.(response, request);
  };
}

const listOf =
  (items: readonly Pod[], version: string): FakeAnswer =>
  (response) =>
    json(response, 200, listBody(items, version));
const refuse =
  (code: number, headers: Record<string, string> = {}): FakeAnswer =>
  (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    json(response, code, statusBody(code, "Reason", `refused with ${code}`));
  };
const watchOf =
  (...events: readonly (readonly [string, unknown])[]): FakeAnswer =>
  (response) => {
    openWatch(response);
    for (const [type, object] of events) writeEvent(response, type, object);
  };
const endedWatch =
  (...events: readonly (readonly [string, unknown])[]): FakeAnswer =>
  (response, request) => {
    watchOf(...events)(response, request);
    response.end();
  };
const idleWatch: FakeAnswer = (response) => void openWatch(response);

interface Options {
  readonly onChange?: () => void;
  readonly startNow?: boolean;
}

async function observe(answer: FakeAnswer, options: Options = {}) {
  const waiters = new Set<() => void>();
  const wake = () => [...waiters].forEach((waiter) => waiter());
  const api = await startFakeApi((response, request) => {
    answer(response, request);
    wake();
  });
  const client = createApiClient(openConnection(api.context));
  const store = new ObjectStore<Pod>();
  const clock = new TestClock();
  clock.onNap = wake;
  const states: string[] = [];
  const reflector = startReflector({
    kind: "pods",
    path: "/api/v1/pods",
    client,
    store,
    parse: objectParser("pods"),
    clock,
    random: { next: () => 0.5 },
    log: silentLog,
    onChange: () => {
      wake();
      options.onChange?.();
    },
    onState: () => {
      states.push(reflector.freshness().state);
      wake();
    },
  });
  cleanups.push(() => api.close(), () => client.close(), () => reflector.stop());
  const objects = () => store.take().objects;
  /** Resolves when a change, a new state, a request or a sleep makes the condition true. */
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!condition()) return;
        waiters.delete(check);
        resolve();
      };
      waiters.add(check);
      check();
    });
  const has = (name: string, version: string) => () => objects().get(`shop/${name}`)?.metadata.resourceVersion === version;
  return { api, store, clock, states, reflector, objects, until, has };
}

const watches = (requests: readonly FakeRequest[]) => requests.filter((request) => request.isWatch);
const lists = (requests: readonly FakeRequest[]) => requests.filter((request) => !request.isWatch);
const versionsAsked = (requests: readonly FakeRequest[]) =>
  watches(requests).map((request) => request.url.searchParams.get("resourceVersion"));

describe("a reflector resumes from the last version", () => {
  const resuming: readonly { name: string; breakage: FakeAnswer }[] = [
    {
      name: "after a TCP reset",
      breakage: (response) => {
        openWatch(response);
        response.write(`${JSON.stringify({ type: "ADDED", object: pod("b", "11") })}\n`, () => response.socket?.resetAndDestroy());
      },
    },
    { name: "after a clean end", breakage: endedWatch(["ADDED", pod("b", "11")]) },
    { name: "after an ERROR event 500", breakage: watchOf(["ADDED", pod("b", "11")], ["ERROR", statusBody(500, "InternalError", "boom")]) },
    {
      name: "after a line that is not JSON",
      breakage: (response) => {
        openWatch(response);
        writeEvent(response, "ADDED", pod("b", "11"));
        response.write("<html>\n");
      },
    },
  ];
  it.each(resuming)("$name", async ({ breakage }) => {
    const world = await observe(script([listOf([pod("a", "9")], "10"), breakage, watchOf(["MODIFIED", pod("a", "12")])]));
    await world.until(world.has("a", "12"));
    expect(world.has("b", "11")()).toBe(true);
    expect(versionsAsked(world.api.requests)).toEqual(["10", "11"]);
    expect(lists(world.api.requests)).toHaveLength(1);
  });

  it.each([401, 403, 404, 500, 503])("after HTTP %i on the watch", async (code) => {
    const world = await observe(script([listOf([], "10"), refuse(code), refuse(code), watchOf(["ADDED", pod("a", "12")])]));
    await world.until(world.has("a", "12"));
    expect(versionsAsked(world.api.requests)).toEqual(["10", "10", "10"]);
  });

  it("after a web page where the watch should be", async () => {
    const page: FakeAnswer = (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html>\n<title>Sign in</title>\n");
    };
    const world = await observe(script([listOf([], "10"), page, watchOf(["ADDED", pod("a", "12")])]));
    await world.until(world.has("a", "12"));
    expect(versionsAsked(world.api.requests)).toEqual(["10", "10"]);
  });

  it("from a bookmark, which changes no object", async () => {
    const bookmark = { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion: "40", creationTimestamp: null }, spec: { containers: null } };
    const world = await observe(script([listOf([pod("a", "9")], "10"), endedWatch(["BOOKMARK", bookmark]), watchOf(["ADDED", pod("b", "41")])]));
    await world.until(world.has("b", "41"));
    expect(versionsAsked(world.api.requests)).toEqual(["10", "40"]);
    expect([...world.objects().keys()]).toEqual(["shop/a", "shop/b"]);
  });

  it("after 90 s without a byte", async () => {
    const world = await observe(script([listOf([], "10"), idleWatch, watchOf(["ADDED", pod("a", "12")])]));
    await world.until(() => watches(world.api.requests).length === 1 && world.clock.naps.includes(90_000));
    world.clock.advance(90_000);
    await world.until(world.has("a", "12"));
    expect(versionsAsked(world.api.requests)).toEqual(["10", "10"]);
    expect(world.states).toContain("catching up");
  });
});

describe("a reflector lists again", () => {
  it("after an ERROR event 410, and drops what is gone", async () => {
    const gone = watchOf(["ADDED", pod("b", "11")], ["ERROR", statusBody(410, "Expired", "too old resource version")]);
    const world = await observe(script([listOf([pod("a", "9")], "10"), gone, listOf([pod("b", "11")], "50"), watchOf(["ADDED", pod("c", "51")])]));
    await world.until(world.has("c", "51"));
    expect([...world.objects().keys()]).toEqual(["shop/b", "shop/c"]);
    expect(versionsAsked(world.api.requests)).toEqual(["10", "50"]);
  });

  it("after HTTP 410 on the watch", async () => {
    const world = await observe(script([listOf([pod("a", "9")], "10"), refuse(410), listOf([pod("b", "11")], "50"), idleWatch]));
    await world.until(world.has("b", "11"));
    expect([...world.objects().keys()]).toEqual(["shop/b"]);
  });

  it("with a growing pause when every watch ends in 410", async () => {
    const cycle = [listOf([], "10"), refuse(410)];
    const world = await observe(script([...cycle, ...cycle, ...cycle, listOf([], "10"), watchOf(["ADDED", pod("a", "12")])]));
    await world.until(world.has("a", "12"));
    expect(world.clock.naps.filter((ms) => ms < 60_000)).toEqual([375, 750]);
  });

  it("from the first page when a 410 comes between pages", async () => {
    const firstPage: FakeAnswer = (response) => json(response, 200, listBody([pod("a", "1")], "10", "page-2"));
    const world = await observe(script([firstPage, refuse(410), firstPage, listOf([pod("b", "2")], "20"), idleWatch]));
    await world.until(world.has("b", "2"));
    expect(lists(world.api.requests).map((request) => request.url.searchParams.get("continue"))).toEqual([null, "page-2", null, "page-2"]);
    expect(lists(world.api.requests).every((request) => request.url.searchParams.get("limit") === "500")).toBe(true);
    expect([...world.objects().keys()]).toEqual(["shop/a", "shop/b"]);
    await world.until(() => watches(world.api.requests).length === 1);
    expect(versionsAsked(world.api.requests)).toEqual(["20"]);
  });

  it("until the list succeeds", async () => {
    const world = await observe(script([refuse(500), refuse(503), (response) => response.socket?.destroy(), listOf([pod("a", "1")], "10"), idleWatch]));
    await world.until(world.has("a", "1"));
    expect(world.clock.naps.filter((ms) => ms < 60_000)).toEqual([375, 750, 1500]);
  });

  it("not sooner than Retry-After says", async () => {
    const world = await observe(script([refuse(429, { "retry-after": "7" }), listOf([pod("a", "1")], "10"), idleWatch]));
    await world.until(world.has("a", "1"));
    expect(world.clock.naps[0]).toBe(7000);
  });
});

describe("a reflector reads", () => {
  it("a character that two chunks share", async () => {
    const split: FakeAnswer = (response) => {
      openWatch(response);
      const bytes = Buffer.from(`${JSON.stringify({ type: "ADDED", object: pod("a", "11", { annotation: "Größe: 4 €" }) })}\n`);
      const inside = bytes.indexOf("€") + 1;
      response.write(bytes.subarray(0, inside), () => setImmediate(() => response.write(bytes.subarray(inside))));
    };
    const world = await observe(script([listOf([], "10"), split]));
    await world.until(world.has("a", "11"));
    expect(world.objects().get("shop/a")?.metadata.annotations?.["note"]).toBe("Größe: 4 €");
  });

  it("an object of 2 MB, in a list and in a watch", async () => {
    const text = "x".repeat(2_000_000);
    const world = await observe(script([listOf([pod("a", "9", { annotation: text })], "10"), watchOf(["ADDED", pod("b", "11", { annotation: text })])]));
    await world.until(world.has("b", "11"));
    expect([...world.objects().values()].map((object) => object.metadata.annotations?.["note"]?.length)).toEqual([2_000_000, 2_000_000]);
  });

  it("objects without managedFields, and leaves out what is none of its kind", async () => {
    const broken = { metadata: { name: "broken", uid: "u", resourceVersion: "3" } };
    const items = [pod("a", "9", { managed: true }), broken as Pod];
    const world = await observe(script([listOf(items, "10"), watchOf(["ADDED", { ...broken }], ["ADDED", pod("c", "12", { managed: true })])]));
    await world.until(world.has("c", "12"));
    expect([...world.objects().keys()]).toEqual(["shop/a", "shop/c"]);
    expect(JSON.stringify([...world.objects().values()])).not.toContain("managedFields");
  });

  it("a delete, and not a late delete of an older object of the same name", async () => {
    const events = watchOf(
      ["DELETED", pod("a", "11")],
      ["ADDED", pod("b", "12", { uid: "second" })],
      ["DELETED", pod("b", "13", { uid: "first" })],
      ["ADDED", pod("end", "14")],
    );
    const world = await observe(script([listOf([pod("a", "9")], "10"), events]));
    await world.until(world.has("end", "14"));
    expect([...world.objects().keys()]).toEqual(["shop/b", "shop/end"]);
  });

  it("on when a listener throws", async () => {
    const world = await observe(script([listOf([pod("a", "9")], "10"), watchOf(["ADDED", pod("b", "11")], ["ADDED", pod("c", "12")])]), {
      onChange: () => {
        throw new Error("a listener's own fault");
      },
    });
    await world.until(world.has("c", "12"));
    expect(world.reflector.freshness().state).toBe("live");
  });
});

describe("freshness", () => {
  it("goes from loading to live, over catching up to stale, and back", async () => {
    const world = await observe(
      script([listOf([pod("a", "9")], "10"), endedWatch(["ADDED", pod("b", "11")], ["ERROR", statusBody(500, "", "down")]), refuse(503), watchOf(["ADDED", pod("c", "12")])]),
    );
    expect(world.reflector.freshness()).toMatchObject({ kind: "pods", state: "loading", lastHeardMs: undefined, objects: 0 });
    await world.until(world.has("c", "12"));
    expect(world.states).toEqual(["live", "catching up", "stale", "live"]);
    expect(world.reflector.freshness()).toMatchObject({ state: "live", objects: 3, lastHeardMs: world.clock.nowMs() });
  });

  it("calls a kind stale that was never read, once a second try failed too", async () => {
    const world = await observe(script([refuse(503), refuse(503), listOf([pod("a", "9")], "10"), watchOf(["ADDED", pod("c", "12")])]));
    await world.until(world.has("c", "12"));
    expect(world.states).toEqual(["stale", "live"]);
  });

  it.each([
    { code: 403, state: "forbidden" },
    { code: 404, state: "absent" },
  ])("says $state on $code, with the server's words, and recovers", async ({ code, state }) => {
    let allowed = false;
    const world = await observe((response, request) => {
      if (!allowed) return refuse(code)(response, request);
      return request.isWatch ? idleWatch(response, request) : listOf([pod("a", "1")], "10")(response, request);
    });
    await world.reflector.settled;
    expect(world.reflector.freshness()).toMatchObject({ state, reason: `refused with ${code}` });
    allowed = true;
    await world.until(() => world.reflector.freshness().state === "live");
    expect(world.reflector.freshness().reason).toBeUndefined();
  });
});

describe("stop", () => {
  it("ends a reflector whose list is never answered", async () => {
    const hanging: ServerResponse[] = [];
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const world = await observe((response) => {
      hanging.push(response);
      resolve();
    });
    await asked;
    await world.reflector.stop();
    await world.reflector.settled;
    expect(world.objects().size).toBe(0);
  });

  it("ends a reflector whose watch is being opened, and takes nothing that comes later", async () => {
    let late: ServerResponse | undefined;
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const world = await observe(
      script([
        listOf([pod("a", "9")], "10"),
        (response) => {
          late = response;
          resolve();
        },
      ]),
    );
    await asked;
    await world.reflector.stop();
    if (late) watchOf(["ADDED", pod("b", "11")])(late, world.api.requests[1] as FakeRequest);
    expect([...world.objects().keys()]).toEqual(["shop/a"]);
  });

  it("ends a reflector that waits after a failure", async () => {
    const world = await observe(script([refuse(429, { "retry-after": "600" })]));
    await world.until(() => world.clock.naps.includes(600_000));
    await world.reflector.stop();
    expect(world.api.requests).toHaveLength(1);
  });
});
