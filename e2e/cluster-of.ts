/** The API of a running standalone app as somebody else would use it: through the kubeconfig that it writes. */
import { join } from "node:path";
import { createTRPCClient, httpLink, type TRPCClient } from "@trpc/client";
import type { RunningApp } from "@/e2e/app";
import type { AppRouter } from "@/server/api/router";
import { createApiClient, type ApiClient } from "@/server/cluster/client";
import { openConnection } from "@/server/cluster/connection";
import { loadContexts } from "@/server/cluster/kubeconfig";

export function kubeconfigOf(app: Pick<RunningApp, "dataFolder">): string {
  return join(app.dataFolder, "apiserver/kubeconfig");
}

/** Close it when done: it keeps connections. */
export function kubeOf(app: Pick<RunningApp, "dataFolder">): ApiClient {
  const context = loadContexts({ paths: [kubeconfigOf(app)], env: {} })?.contexts[0];
  if (!context) throw new Error(`${kubeconfigOf(app)} holds no context`);
  return createApiClient(openConnection(context));
}

/** Voldeck's own procedures, without the pages. Refusals are TRPCClientErrors with the words of the page. */
export function proceduresOf({ origin, token }: Pick<RunningApp, "origin" | "token">): TRPCClient<AppRouter> {
  return createTRPCClient<AppRouter>({ links: [httpLink({ url: `${origin}/trpc`, headers: { authorization: `Bearer ${token}` } })] });
}
