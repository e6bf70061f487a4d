/** What cases need of the test cluster: a namespace of their own with claims and a pod, and the script of the test bed. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "@playwright/test";
import { project } from "@/e2e/app";
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import type { ApiClient } from "@/server/cluster/client";

const image = "localhost/testbed/busybox:1";

const scriptPath = resolve(project, process.env["VOLDECK_TESTBED_SCRIPT"] ?? "../shared/testbed/testbed");

/** The script that made the test bed; undefined where there is none. */
export const script = existsSync(scriptPath) ? (...args: readonly string[]) => execFileSync(scriptPath, args, { encoding: "utf8" }).trim() : undefined;

/** Whether this machine, and so each of its nodes, has cgroup v1: there a kubelet resizes no memory-backed volume. */
export const hasCgroupV1 = !existsSync("/sys/fs/cgroup/cgroup.controllers");

/** The name that the API server gives to the user of a client. */
export async function userName(client: ApiClient): Promise<string> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const answer = await client.create<{ status: { userInfo: { username: string } } }>("/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
  return answer.status.userInfo.username;
}

export async function readyNodes(client: ApiClient): Promise<readonly string[]> {
  const { items } = await client.get<{ items: readonly Node[] }>("/api/v1/nodes");
  const ready = items.filter(({ status }) => status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"));
  return ready.map(({ metadata }) => metadata.name ?? "");
}

export class Namespace {
  private constructor(
    private readonly client: ApiClient,
    readonly name: string,
  ) {}

  /** Makes it, and waits for the service account that pods of it need. */
  static async create(client: ApiClient, purpose: string): Promise<Namespace> {
    const name = `voldeck-${purpose}-${process.pid}`;
    await client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    const namespace = new Namespace(client, name);
    await expect.poll(() => namespace.exists("serviceaccounts/default")).toBe(true);
    return namespace;
  }

  claim(name: string): Promise<PersistentVolumeClaim> {
    return this.client.get(this.path(`persistentvolumeclaims/${name}`));
  }

  pod(name: string): Promise<Pod> {
    return this.client.get(this.path(`pods/${name}`));
  }

  async createClaim(name: string, storageClassName: string, storage: string): Promise<void> {
    const spec = { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } } };
    await this.client.create(this.path("persistentvolumeclaims"), { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec });
    await expect.poll(async () => (await this.claim(name)).status?.phase, { timeout: 60_000 }).toBe("Bound");
  }

  /** Runs on `node`, each volume mounted at `/<name>`. */
  async createPod(name: string, node: string, volumes: readonly Volume[]): Promise<void> {
    const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
    const containers = [{ name: "c", image, command: ["sleep", "infinity"], volumeMounts }];
    const nodeSelector = { "kubernetes.io/hostname": node };
    const spec = { terminationGracePeriodSeconds: 0, nodeSelector, containers, volumes };
    await this.client.create(this.path("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
    await expect.poll(async () => (await this.pod(name)).status?.phase, { timeout: 60_000 }).toBe("Running");
  }

  async remove(): Promise<void> {
    await this.client.delete(`/api/v1/namespaces/${this.name}`);
  }

  private path(rest: string): string {
    return `/api/v1/namespaces/${this.name}/${rest}`;
  }

  private async exists(rest: string): Promise<boolean> {
    const path = this.path(rest);
    const list = await this.client.get<{ items: readonly { metadata: { name?: string } }[] }>(path.slice(0, path.lastIndexOf("/")));
    return list.items.some(({ metadata }) => path.endsWith(`/${metadata.name}`));
  }
}
