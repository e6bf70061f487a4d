import { describe, expect, it } from "vitest";
import { Operations } from "./operations";
import { input, options, setUp } from "./test-cluster";

describe("Operations", () => {
  it("writes intent, read, sending and answer before each next step, and carries resourceVersion", async () => {
    const { operations, cluster, points } = setUp();
    const record = await operations.expandClaim(input, options);
    expect(record).toMatchObject({ phase: "following", from: "1Gi", to: "2Gi", progress: { status: "working" } });
    expect(operations.entries(record.id).map((entry) => entry.phase)).toEqual(["intended", "read", "sending", "following", "following"]);
    expect(cluster.patches).toEqual([{ metadata: { resourceVersion: "7" }, spec: { resources: { requests: { storage: "2Gi" } } } }]);
    expect(points.slice(0, 5)).toEqual(["journal-before-intended", "journal-after-intended", "journal-after-read", "journal-after-sending", "journal-after-answer"]);
  });

  it("is done only when the cluster shows it", async () => {
    const { operations, cluster } = setUp();
    const record = await operations.expandClaim(input, options);
    cluster.claim.status = { phase: "Bound", capacity: { storage: "2Gi" } };
    await operations.followAll();
    expect(operations.get(record.id)).toMatchObject({ phase: "ended", progress: { status: "ok" } });
  });

  it("ends a refused request with the server's words and throws them", async () => {
    const { operations, cluster } = setUp();
    cluster.answer = "refuse";
    await expect(operations.expandClaim(input, options)).rejects.toThrow("exceeded quota: q");
    expect(operations.list("c")).toMatchObject([{ phase: "ended", progress: { status: "failed", sentence: "Refused by the API server: exceeded quota: q" } }]);
  });

  it("settles a lost answer by reading: the object holds the target", async () => {
    const { operations, cluster } = setUp();
    cluster.answer = "lost after";
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "following" });
    expect(cluster.patches).toHaveLength(1);
  });

  it("settles a lost request by reading: not known to have been sent, and repeats nothing", async () => {
    const { operations, cluster } = setUp();
    cluster.answer = "lost before";
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "ended", progress: { status: "unknown", sentence: expect.stringMatching(/Not known to have been sent/) } });
    expect(cluster.patches).toHaveLength(0);
  });

  it("settles a lost answer later when the object can't be read at once", async () => {
    const { operations, cluster } = setUp();
    cluster.answer = "lost after";
    cluster.onPatch = () => void (cluster.unreadable = "transient");
    const record = await operations.expandClaim(input, options);
    expect(record).toMatchObject({ phase: "sending" });
    cluster.unreadable = undefined;
    await operations.followAll();
    expect(operations.get(record.id)).toMatchObject({ phase: "following" });
    expect(cluster.patches).toHaveLength(1);
  });

  it("does not call an accepted request refused when what follows can't be read", async () => {
    const { operations, cluster } = setUp();
    cluster.onPatch = () => void (cluster.unreadable = "forbidden");
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "following" });
    await expect(operations.followAll()).rejects.toMatchObject({ code: "forbidden" });
  });

  it("leaves alone what is just being sent", async () => {
    const { operations, cluster } = setUp();
    cluster.onPatch = () => operations.followAll();
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "following" });
    expect(operations.entries("op-1").map((entry) => entry.phase)).not.toContain("ended");
  });

  it("after a restart a row in sending follows when the object holds the target", async () => {
    const { operations, cluster, ports } = setUp();
    const record = await operations.expandClaim(input, options);
    const second = ports();
    second.journal.write({ ...record, phase: "sending" }, { at: "", phase: "sending", note: "as a kill would leave it" });
    await new Operations(second).followAll();
    expect(second.journal.get(record.id)).toMatchObject({ phase: "following" });
    expect(cluster.patches).toHaveLength(1);
  });

  it("after a restart an intent that was never sent is closed", async () => {
    const { operations, ports } = setUp();
    const record = await operations.expandClaim(input, options);
    const second = ports();
    second.journal.write({ ...record, phase: "read" }, { at: "", phase: "read", note: "as a kill would leave it" });
    await new Operations(second).followAll();
    expect(second.journal.get(record.id)).toMatchObject({ phase: "ended", progress: { status: "unknown" } });
  });

  it("of a resize is not ended before the node has looked at its mounts, and then by what the mount holds", async () => {
    const { cluster, ports } = setUp();
    const { journal } = ports();
    const progress = { status: "working", sentence: "", steps: [], ended: false, next: [] } as const;
    const subject = { namespace: "shop", name: "cache", uid: "p", volume: "hot" };
    journal.begin({ id: "r", cluster: "c", verb: "resize-ephemeral", subject, from: "4Mi", to: "8Mi", who: "me", startedAt: "2026-01-01T00:00:00Z", phase: "following", progress }, "");
    cluster.mountedSize = async () => ({ notYet: true });
    const restarted = new Operations(ports());
    await restarted.followAll();
    expect(journal.get("r")).toMatchObject({ phase: "following", progress });
    cluster.mountedSize = async () => ({ capacityBytes: 8n * 1024n * 1024n });
    await restarted.followAll();
    expect(journal.get("r")).toMatchObject({ phase: "ended", progress: { status: "ok", sentence: "hot holds 8Mi" } });
  });

  it("refuses a claim that was made anew since the person saw it", async () => {
    const { operations } = setUp();
    await expect(operations.expandClaim(input, { ...options, uid: "older" })).rejects.toMatchObject({ code: "conflict" });
    expect(operations.list("c")).toEqual([]);
  });

  it("refuses a size that is none, naming it", async () => {
    const { operations } = setUp();
    await expect(operations.expandClaim({ ...input, size: "2GB" }, options)).rejects.toMatchObject({ code: "invalid" });
  });

  it("of two tabs that start at once sends one, and tells the other why not", async () => {
    const { operations, cluster } = setUp();
    const [first, second] = await Promise.allSettled([operations.expandClaim(input, options), operations.expandClaim(input, options)]);
    expect(first).toMatchObject({ status: "fulfilled", value: { phase: "following" } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "conflict", message: "Another change of the same object is just being sent" } });
    expect(cluster.patches).toHaveLength(1);
    expect(operations.list("c")).toHaveLength(1);
  });

  it("of two tabs sends nothing for the second when the first has asked already", async () => {
    const { operations, cluster } = setUp();
    await operations.expandClaim(input, options);
    await expect(operations.expandClaim(input, options)).rejects.toMatchObject({ code: "precondition", message: "The claim already requests 2Gi" });
    expect(cluster.patches).toHaveLength(1);
    expect(operations.list("c")).toHaveLength(1);
  });
});
