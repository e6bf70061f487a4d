/** For tests of operations: a cluster of one claim and one pod, and a journal on disk. */
import { mkdtempSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { AppError } from "@/lib/errors";
import type { KubeObject } from "@/lib/kube/meta";
import { kubectlWith } from "@/lib/kubectl";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { openJournal, type Journal } from "./journal";
import { Operations } from "./operations";
import type { AuditedWrite, OperationClient, OperationCluster, OperationPorts } from "./ports";

/** A claim behind the two calls that operations make; `answer` decides what happens to a patch. */
export class FakeCluster implements OperationCluster {
  readonly id = "c";
  patches: unknown[] = [];
  answer: "ok" | "refuse" | "lost after" | "lost before" = "ok";
  unreadable: "transient" | "forbidden" | undefined;
  deleted = false;
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
      if (path.includes("/persistentvolumeclaims/") && !this.deleted) return structuredClone(this.claim) as T;
      if (path.includes("/storageclasses/")) return this.storageClass as T;
      if (path.includes("/pods/")) return this.pod as T;
      throw new AppError("not-found", `${path} not found`);
    },
    patch: async <T>(_path: string, patch: { body: unknown }) => {
      await this.onPatch();
      if (versionIn(patch.body) !== this.claim.metadata.resourceVersion) throw new AppError("conflict", "the object has been modified");
      if (this.answer === "refuse") throw new AppError("forbidden", "exceeded quota: q");
      if (this.answer === "lost before") throw new AppError("uncertain", "the connection broke");
      this.patches.push(patch.body);
      this.claim.spec = { ...this.claim.spec, resources: { requests: { storage: "2Gi" } } };
      if (this.answer === "lost after") throw new AppError("uncertain", "the connection broke");
      return structuredClone(this.claim) as T;
    },
  };
  kubectl = kubectlWith([]);
  podsOfClaim = () => [];
  eventsOf = () => [];
  mountedSize: OperationCluster["mountedSize"] = async () => undefined;
  whyUnserved = () => undefined;
  hasPodResize = async () => true;
  mayPatch = async () => undefined;
}

function versionIn(body: unknown): string | undefined {
  return (body as KubeObject).metadata.resourceVersion;
}

/** `ports()` is a start on the same journal. */
export function setUp() {
  const cluster = new FakeCluster();
  const folder = mkdtempSync(join(tmpdir(), "voldeck-journal-"));
  onTestFinished(() => {
    readdirSync(folder).forEach((name) => unlinkSync(join(folder, name)));
    rmdirSync(folder);
  });
  const journals: Journal[] = [];
  onTestFinished(() => journals.forEach((journal) => journal.close()));
  const points: string[] = [];
  const audited: AuditedWrite[] = [];
  const clock = { nowMs: Date.parse("2026-01-01T00:00:00Z") };
  let id = 0;
  const ports = (): OperationPorts => {
    const journal = openJournal(join(folder, "journal.sqlite"));
    journals.push(journal);
    return {
      journal,
      nowMs: () => clock.nowMs,
      newId: () => `op-${++id}`,
      cluster: () => cluster,
      point: (name) => points.push(name),
      onChange: () => {},
      audit: (write) => audited.push(write),
    };
  };
  return { cluster, clock, ports, points, audited, operations: new Operations(ports()) };
}

export const input = { namespace: "shop", name: "data", size: "2Gi" };
export const options = { clusterId: "c", who: "me", uid: "u" };
