/** What is not in the picture of a cluster: not there at all, or of a kind that could not be read. */
import { AppError } from "@/lib/errors";
import type { ClusterView } from "@/server/api/context";
import type { KindFreshness, WatchedKind } from "@/server/cluster/snapshot";

/** Nothing is known of the kind: it may not be read, or no answer has come yet. */
export function isUnread({ state, lastHeardMs }: KindFreshness): boolean {
  return state === "forbidden" || state === "absent" || lastHeardMs === undefined;
}

/** AppError not-found with the text, but only where the kind was read; else forbidden or transient, with the server's words. */
export function absent(view: ClusterView, kind: WatchedKind, text: string): AppError {
  const found = view.freshness().kinds.find((each) => each.kind === kind);
  if (found === undefined || found.state === "absent" || !isUnread(found)) return new AppError("not-found", text);
  if (found.state === "forbidden") return new AppError("forbidden", found.reason ?? `${kind} may not be read in this cluster`);
  return new AppError("transient", found.reason ?? `the ${kind} of this cluster are still being read`);
}
