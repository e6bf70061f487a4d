/** The operations of all clusters over one journal: which cluster is open comes and goes, what was begun stays. */
import { codeOf, messageOf } from "@/lib/errors";
import type { Cluster } from "@/server/cluster/cluster";
import { systemRandom } from "@/server/hosts/clock";
import { openJournal } from "@/server/operations/journal";
import { Operations } from "@/server/operations/operations";
import type { OperationCluster } from "@/server/operations/ports";
import type { Log } from "@/server/volume/ports";

export interface SharedOperations {
  readonly operations: Operations;
  /** Whether operations of this cluster have not ended. */
  hasOpen(clusterId: string): boolean;
  /** From now on its operations can be begun and followed; `onChange` is told of each. Returns the way to detach it. */
  attach(cluster: OperationCluster, onChange: () => void): () => void;
  /** Once nothing is followed any more. */
  close(): void;
}

export interface SharedOperationsOptions {
  readonly journalPath: string;
  readonly log: Log;
  readonly point: (name: string) => void;
}

/** Throws AppError `precondition` for a journal that can't be used. */
export function openSharedOperations({ journalPath, log, point }: SharedOperationsOptions): SharedOperations {
  const journal = openJournal(journalPath);
  const attached = new Map<string, { readonly cluster: OperationCluster; readonly onChange: () => void }>();
  const operations = new Operations({
    journal,
    nowMs: Date.now,
    newId: () => systemRandom.uuid(),
    cluster: (id) => attached.get(id)?.cluster,
    point,
    audit: (write) => log.info("write", { ...write }),
    onChange: ({ cluster }) => attached.get(cluster)?.onChange(),
  });
  return {
    operations,
    hasOpen: (clusterId) => journal.open().some(({ cluster }) => cluster === clusterId),
    attach: (cluster, onChange) => {
      attached.set(cluster.id, { cluster, onChange });
      return () => void attached.delete(cluster.id);
    },
    close: () => journal.close(),
  };
}

const reviewPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/** Who the API server takes us for (SelfSubjectReview); `unknown` where it does not say. */
export async function userOf(client: Pick<Cluster["client"], "create">, log: Log): Promise<string> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  try {
    const answer = await client.create<{ status?: { userInfo?: { username?: string } } }>(reviewPath, review);
    return answer.status?.userInfo?.username || "unknown";
  } catch (error) {
    // The change itself tells what is wrong; only its author stays unknown.
    log.warn("who asks is not known", { code: codeOf(error) ?? "", reason: messageOf(error) });
    return "unknown";
  }
}
