/** What is done in a run, by the facts that tell its end; never by time. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { heldLines, namespace, readJournal, readWorld, wasNotSent } from "@/e2e/crash/picture";
import type { Doors, Session } from "@/e2e/crash/session";
import { Stillness } from "@/e2e/crash/stillness";
import { codeOf } from "@/lib/errors";
import type { Condition, KubeObject } from "@/lib/kube/meta";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import { resourcePath } from "@/server/cluster/resources";
import type { OperationVerb } from "@/server/operations/operation";

export type ScenarioName = "mount" | "unmount" | "expand loop" | "expand block" | "expand share" | "expand unused" | "resize";

export interface Scenario {
  readonly manifests: readonly string[];
  /** Resolves when it is over; what follows of itself may still be under way. */
  run(session: Session): Promise<void>;
}

const everything = ["plain", "loop", "block", "share", "disk"];

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  mount: { manifests: everything, run: untilMounted },
  unmount: {
    manifests: everything,
    async run(session) {
      await untilMounted(session);
      await removeAll(session);
    },
  },
  "expand loop": expansion("loop", { claim: "data", size: "400Mi" }),
  "expand block": expansion("block", { claim: "raw", size: "24Mi" }),
  "expand share": expansion("share", { claim: "share", size: "48Mi" }),
  "expand unused": expansion("unused", { claim: "unused", size: "48Mi" }),
  resize: {
    manifests: ["plain"],
    async run(session) {
      await untilMounted(session);
      await operate(session, "resize-ephemeral", async ({ kube, trpc, cluster }) => {
        const target = { namespace, name: "plain" };
        const { metadata } = await kube.get<KubeObject>(resourcePath("pods", target));
        await trpc.operation.resize.mutate({ ...target, cluster, volume: "hot", size: "24Mi", uid: metadata.uid ?? "" });
      });
    },
  },
};

function expansion(manifest: string, { claim: name, size }: { readonly claim: string; readonly size: string }): Scenario {
  return {
    manifests: [manifest],
    async run(session) {
      await untilMounted(session);
      await operate(session, "expand-claim", async ({ kube, trpc, cluster }) => {
        const target = { namespace, name };
        const { metadata } = await kube.get<KubeObject>(resourcePath("persistentvolumeclaims", target));
        await trpc.operation.expand.mutate({ ...target, cluster, size, uid: metadata.uid ?? "" });
      });
    },
  };
}

/**
 * Begins an operation as a person would, and again when it is not known to have been sent, and follows it to its end. It begins when
 * all is still: what the node writes meanwhile would have it refused as out of date.
 */
async function operate(session: Session, verb: OperationVerb, begin: (doors: Doors) => Promise<void>): Promise<void> {
  const newest = () => readJournal(session.dataFolder).findLast(({ record }) => record.verb === verb);
  const stillness = new Stillness(session);
  await session.until(`${verb} to its end`, async (doors) => {
    const row = newest();
    if (row === undefined || wasNotSent(row)) {
      const moving = await stillness.missing(doors);
      if (moving !== undefined) return moving;
      await begin(doors);
    } else if (row.record.phase === "ended") return undefined;
    const record = newest()?.record;
    return record ? `${record.phase}: ${record.progress.sentence}` : "not begun";
  });
}

export async function untilMounted(session: Session): Promise<void> {
  await session.until("every claim bound and every volume mounted", async (doors) => {
    const world = await readWorld(doors);
    session.names.learn(world);
    const { pods, claims } = world;
    const unbound = claims.find((claim) => (claim as PersistentVolumeClaim).status?.phase !== "Bound");
    const waiting = pods.map((pod) => (pod as Pod).status?.conditions ?? []).filter((conditions) => !sayMounted(conditions));
    if (pods.length + claims.length === 0) return "nothing is there";
    return unbound ? `${unbound.metadata.name ?? ""} is not bound` : waiting.map((conditions) => JSON.stringify(conditions))[0];
  });
}

function sayMounted(conditions: readonly Condition[]): boolean {
  return conditions.some(({ type, status }) => type === "voldeck.dev/VolumesMounted" && status === "True");
}

/** Deletes pods and claims through the API, and waits until nothing of them is left on the machine. */
export async function removeAll(session: Session): Promise<void> {
  await session.act(async (doors) => {
    const { pods, claims } = await readWorld(doors);
    for (const pod of pods) await remove(doors, resourcePath("pods", { namespace, name: pod.metadata.name ?? "" }));
    for (const claim of claims) await remove(doors, resourcePath("persistentvolumeclaims", { namespace, name: claim.metadata.name ?? "" }));
  });
  await session.until("everything gone", async (doors) => {
    const { pods, claims, volumes } = await readWorld(doors);
    const unreleased = volumes.filter((volume) => volume.metadata.name?.startsWith("pvc-") || (volume as PersistentVolume).status?.phase === "Bound");
    const left = [...pods, ...claims, ...unreleased].map((object) => `${object.kind ?? ""} ${object.metadata.name ?? ""}`);
    return left[0] ?? [...remains(session.dataFolder), ...heldLines(session.dataFolder)][0];
  });
}

async function remove({ kube }: Doors, path: string): Promise<void> {
  try {
    await kube.delete(path);
  } catch (error) {
    if (codeOf(error) !== "not-found") throw error;
  }
}

/** Folders of pods, disks, and what the driver has attached. */
function remains(dataFolder: string): readonly string[] {
  return ["node/pods", "node/disks", "../attached"].map((name) => join(dataFolder, name)).flatMap((folder) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []));
}
