import { mkdtempSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { AppError } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { openJournal } from "./journal";
import { Operations } from "./operations";
import type { OperationClient, OperationCluster, OperationPorts } from "./ports";

/** A claim behind the two calls that operations make; `answer` decides what happens to a patch. */
class FakeCluster implements OperationCluster {
  readonly id = "c";
  patches: unknown[] = [];
  answer: "ok" | "refuse" | "lost after" | "lost before" = "ok";
  unreadable: "transient" | "forbidden" | undefined;
  /** Runs when a patch arrives. */
  onPatch: () => void | Promise<void> = () => {};
  claim: PersistentVolumeClaim = {
    metadata: { namespace: "shop", name: "data", uid: "u", resourceVersion: "7" },
    spec: { storageClassName: "fast", resources: { requests: { storage: "1Gi" } } },
    status: { phase: "Bound", capacity: { storage: "1Gi" } },
  };
  private readonly pod: Pod = {
    metadata: { namespace: "shop", name: "cache", uid: "p", generation: 2 },
    spec: { nodeName: "n", containers: [], volumes: [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit: "8Mi" } }] },
    status: { phase: "Running", observedGeneration: 2 },
  };
  private readonly storageClass: StorageClass = { metadata: { name: "fast" }, provisioner: "x", allowVolumeExpansion: true };

  readonly client: OperationClient = {
    get: async <T>(path: string) => {
      if (this.unreadable) throw new AppError(this.unreadable, "not readable now");
      if (path.includes("/persistentvolumeclaims/")) return structuredClone(this.claim) as T;
      if (path.includes("/storageclasses/")) return this.storageClass as T;
      if (path.includes("/pods/")) return this.pod as T;
      throw new AppError("not-found", `${path} not found`);
    },
    patch: async <T>(_path: string, patch: { body: unknown }) => {
      await this.onPatch();
      if (this.answer === "refuse") throw new AppError("forbidden", "exceeded quota: q");
      if (this.answer === "lost before") throw new AppError("uncertain", "the connection broke");
      this.patches.push(patch.body);
      this.claim.spec = { ...this.claim.spec, resources: { requests: { storage: "2Gi" } } };
      if (this.answer === "lost after") throw new AppError("uncertain", "the connection broke");
      return structuredClone(this.claim) as T;
    },
  };
  podsOfClaim = () => [];
  eventsOf = () => [];
  mountedSize: OperationCluster["mountedSize"] = async () => undefined;
  whyUnserved = () => undefined;
  hasPodResize = async () => true;
  mayPatch = async () => undefined;
}

function setUp() {
  const cluster = new FakeCluster();
  const folder = mkdtempSync(join(tmpdir(), "voldeck-journal-"));
  const path = join(folder, "journal.sqlite");
  onTestFinished(() => {
    readdirSync(folder).forEach((name) => unlinkSync(join(folder, name)));
    rmdirSync(folder);
  });
  let id = 0;
  const points: string[] = [];
  const ports = (): OperationPorts => ({
    journal: openJournal(path),
    nowMs: () => Date.parse("2026-01-01T00:00:00Z"),
    newId: () => `op-${++id}`,
    cluster: () => cluster,
    point: (name) => points.push(name),
    onChange: () => {},
  });
  return { cluster, ports, points, operations: new Operations(ports()) };
}

const input = { namespace: "shop", name: "data", size: "2Gi" };
const options = { clusterId: "c", who: "me", uid: "u" };

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

  it("sends one change of an object at a time", async () => {
    const { operations } = setUp();
    const both = await Promise.allSettled([operations.expandClaim(input, options), operations.expandClaim({ ...input, size: "3Gi" }, options)]);
    expect(both.map((each) => each.status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});
