import { tracked } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createCallerFactory } from "@/server/api/init";
import { appRouter } from "@/server/api/router";
import { contextOf, nowMs, viewOf } from "@/server/api/test-picture";
import { shop } from "@/server/api/test-shop";

const cluster = "testbed-1a2b3c";

describe("cluster", () => {
  it("lists what the person may see", async () => {
    const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));
    expect(await caller.cluster.list()).toMatchObject([{ id: cluster, name: "testbed" }]);
  });

  it("counts for the rail and says how fresh it is", async () => {
    const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));
    expect(await caller.cluster.status({ cluster })).toMatchObject({
      counts: { plugins: 14, volumes: 8, claims: 2, nodes: 2 },
      light: { state: "live", heardAtMs: nowMs - 2000 },
      missing: [],
    });
  });

  it("names the rights that are missing", async () => {
    const freshness = [{ kind: "csinodes" as const, state: "forbidden" as const, lastHeardMs: undefined, sinceMs: 0, objects: 0 }];
    const caller = createCallerFactory(appRouter)(contextOf(viewOf({ ...shop, freshness })));
    const { missing } = await caller.cluster.status({ cluster });
    expect(missing).toEqual([{ group: "storage.k8s.io", resource: "csinodes", verbs: ["get", "list", "watch"] }]);
  });
});

describe("live.changes", () => {
  it("first names every noun, then what moved", async () => {
    const view = viewOf(shop);
    const caller = createCallerFactory(appRouter)(contextOf(view));
    const stream = (await caller.live.changes({ cluster }))[Symbol.asyncIterator]();
    expect(JSON.stringify((await stream.next()).value)).toContain('"operation"');
    const second = stream.next();
    view.change(["volume"]);
    view.change(["volume"]);
    expect((await second).value).toEqual(tracked("2", { topics: ["volume"] }));
    await stream.return?.();
  });

  it("is refused for a cluster that is not there before it begins", async () => {
    const caller = createCallerFactory(appRouter)(contextOf(viewOf(shop)));
    await expect(caller.live.changes({ cluster: "other" })).rejects.toMatchObject({ code: "NOT_FOUND", message: "There is no cluster other" });
  });

  it("maps what fails inside the stream as any other failure", async () => {
    const view = { ...viewOf(shop), onChange: () => { throw new Error("a secret path"); } };
    const stream = (await createCallerFactory(appRouter)(contextOf(view)).live.changes({ cluster }))[Symbol.asyncIterator]();
    await expect(stream.next()).rejects.toMatchObject({ code: "INTERNAL_SERVER_ERROR", message: expect.stringContaining("reference ref") });
  });

  it("throws instead of ending while the process stops: only then do browsers come back", async () => {
    const context = { ...contextOf(viewOf(shop)), isClosing: () => true };
    const stream = (await createCallerFactory(appRouter)(context).live.changes({ cluster }))[Symbol.asyncIterator]();
    await stream.next();
    await expect(stream.next()).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });
});
