/** Events go an hour after they were last told, as on a real server (`--event-ttl`). */
import { objectAt, textAt } from "./access";
import type { ServerContext } from "./context";
import type { Stored } from "./store";

const keptMs = 3_600_000;
const everyMs = 60_000;
const collections = [
  { group: "", resource: "events" },
  { group: "events.k8s.io", resource: "events" },
] as const;

/** Removes what is too old now. */
export function removeOldEvents({ store, clock }: ServerContext): void {
  const limit = clock.nowMs() - keptMs;
  for (const collection of collections) {
    for (const event of store.list(collection)) if (lastTold(event) < limit) store.remove(event.key);
  }
}

function lastTold({ object }: Stored): number {
  const times = [
    textAt(objectAt(object, "metadata"), "creationTimestamp"),
    ...["lastTimestamp", "eventTime", "deprecatedLastTimestamp"].map((key) => textAt(object, key)),
    textAt(objectAt(object, "series"), "lastObservedTime"),
  ];
  return Math.max(0, ...times.filter((time) => time !== "").map((time) => Date.parse(time)));
}

/** Looks every minute until the returned function is called. */
export function keepRemovingOldEvents(context: ServerContext): () => void {
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await context.clock.sleep(everyMs, stopped.signal);
      if (!stopped.signal.aborted) removeOldEvents(context);
    }
  };
  run().catch(() => undefined);
  return () => stopped.abort();
}
