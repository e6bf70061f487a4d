import { describe, expect, it } from "vitest";
import { removeOldEvents } from "./event-age";
import { sweepNamespaces } from "./namespace-end";
import { ask, testContext } from "./test-context";

const pods = "/api/v1/namespaces/shop/pods";

function object(kind: string, name: string, more: Record<string, unknown> = {}): unknown {
  return { apiVersion: "v1", kind, metadata: { name }, ...more };
}

describe("a namespace that is deleted", () => {
  it("takes its content with it and takes in nothing new", () => {
    const context = testContext();
    ask(context, "POST", "/api/v1/namespaces", object("Namespace", "shop"));
    ask(context, "POST", "/api/v1/namespaces/shop/configmaps", object("ConfigMap", "a"));
    expect(ask(context, "DELETE", "/api/v1/namespaces/shop").object).toMatchObject({ status: { phase: "Terminating" } });
    expect(ask(context, "POST", "/api/v1/namespaces/shop/configmaps", object("ConfigMap", "b")).code).toBe(403);
    sweepNamespaces(context);
    expect(ask(context, "GET", "/api/v1/namespaces/shop").code).toBe(404);
    expect(ask(context, "GET", "/api/v1/configmaps").object?.["items"]).toEqual([]);
  });

  it("waits for a pod that runs on a node", () => {
    const context = testContext();
    ask(context, "POST", "/api/v1/namespaces", object("Namespace", "shop"));
    ask(context, "POST", pods, object("Pod", "web", { spec: { nodeName: "n1", containers: [{ name: "a", image: "a" }] } }));
    ask(context, "DELETE", "/api/v1/namespaces/shop");
    sweepNamespaces(context);
    expect(ask(context, "GET", "/api/v1/namespaces/shop").code).toBe(200);
    ask(context, "DELETE", `${pods}/web?gracePeriodSeconds=0`);
    sweepNamespaces(context);
    expect(ask(context, "GET", "/api/v1/namespaces/shop").code).toBe(404);
  });

  it("stays where every cluster has it", () => {
    expect(ask(testContext(), "DELETE", "/api/v1/namespaces/default").code).toBe(403);
  });
});

describe("events", () => {
  it("go an hour after they were last told", () => {
    const context = testContext();
    const events = "/api/v1/namespaces/default/events";
    ask(context, "POST", events, object("Event", "old", { involvedObject: { namespace: "default" } }));
    context.now += 3_000_000;
    ask(context, "POST", events, object("Event", "new", { involvedObject: { namespace: "default" } }));
    context.now += 1_000_000;
    removeOldEvents(context);
    expect(ask(context, "GET", `${events}/old`).code).toBe(404);
    expect(ask(context, "GET", `${events}/new`).code).toBe(200);
  });
});
