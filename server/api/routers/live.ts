import { tracked, TRPCError } from "@trpc/server";
import { z } from "zod";
import { inCluster } from "@/lib/inputs/cluster";
import { topics, type ApiContext, type Change, type ClusterView, type Topic } from "@/server/api/context";
import { procedure, router } from "@/server/api/init";

export const liveRouter = router({
  /**
   * Says which nouns to read again; data itself never travels here. The first message names them all: whoever comes back
   * may have missed any. Ends by throwing, never by returning: a stream that returns is not opened again by the browser.
   */
  changes: procedure
    .input(inCluster.extend({ lastEventId: z.string().nullish() }))
    // Not a generator itself: a cluster that is not there refuses the subscription, instead of ending a stream that has begun.
    .subscription(({ ctx, input, signal }) => changesOf(ctx.clusters.viewFor(ctx.person, input.cluster), ctx, signal)),
});

async function* changesOf(view: ClusterView, ctx: Pick<ApiContext, "isClosing">, signal: AbortSignal | undefined) {
  const inbox = new Inbox(view, signal);
  try {
    yield tracked("0", { topics: [...topics] });
    while (signal?.aborted !== true) {
      if (ctx.isClosing()) throw new TRPCError({ code: "SERVICE_UNAVAILABLE", message: "Voldeck is stopping" });
      const change = await inbox.next();
      if (change) yield tracked(String(change.version), { topics: [...change.topics] });
    }
  } finally {
    inbox.close();
  }
}

/** Holds one merged change for a reader who is slower than the cluster. */
class Inbox {
  private version = 0;
  private readonly waiting = new Set<Topic>();
  private wake: (() => void) | undefined;
  private readonly stop: () => void;
  private readonly onAbort = () => this.wake?.();

  constructor(
    view: ClusterView,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.stop = view.onChange((change) => {
      this.version = change.version;
      for (const topic of change.topics) this.waiting.add(topic);
      this.wake?.();
    });
    signal?.addEventListener("abort", this.onAbort);
  }

  /** The changes since the last call, merged; undefined when the reader has left. */
  async next(): Promise<Change | undefined> {
    if (this.waiting.size === 0 && this.signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
    if (this.waiting.size === 0) return undefined;
    const change = { version: this.version, topics: [...this.waiting] };
    this.waiting.clear();
    return change;
  }

  close(): void {
    this.stop();
    this.signal?.removeEventListener("abort", this.onAbort);
  }
}
