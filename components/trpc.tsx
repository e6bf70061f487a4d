"use client";

/**
 * How pages reach the server: queries and changes by HTTP in batches, one socket per tab for the live stream. The stream
 * says only which nouns moved; what is mounted and visible is then read again. The browser never merges changes.
 */
import { QueryClient, QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { createTRPCClient, createWSClient, httpBatchLink, splitLink, wsLink, type TRPCClient } from "@trpc/client";
import { createTRPCContext, useSubscription } from "@trpc/tanstack-react-query";
import { useEffect, useState, type ReactNode } from "react";
import type { inferRouterOutputs } from "@trpc/server";
import { currentToken, forgetToken } from "@/components/shell/token";
import { isTokenRefused, mayRetry } from "@/components/errors";
import type { AppRouter } from "@/server/api/router";

export type Outputs = inferRouterOutputs<AppRouter>;

const context = createTRPCContext<AppRouter>();
export const { useTRPC, useTRPCClient } = context;

const retriesMax = 2;

function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // The live stream says when something changed; time alone does not make an answer old.
      queries: { staleTime: Infinity, retry: (failures, error) => failures < retriesMax && mayRetry(error) },
    },
  });
}

/** The socket opens with the first subscription of a page and closes after the last one. */
function createClient(token: string): TRPCClient<AppRouter> {
  const socket = createWSClient({
    url: () => `${location.origin.replace(/^http/, "ws")}/trpc`,
    connectionParams: () => ({ token }),
    lazy: { enabled: true, closeMs: 1000 },
    keepAlive: { enabled: true, intervalMs: 20_000, pongTimeoutMs: 10_000 },
  });
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === "subscription",
        true: wsLink({ client: socket }),
        false: httpBatchLink({ url: "/trpc", maxItems: 20, headers: { authorization: `Bearer ${token}` } }),
      }),
    ],
  });
}

/** Hands the clients to the pages below. A refused token is forgotten, and the shell asks for another. */
export function ApiProvider({ token, children }: { token: string; children: ReactNode }) {
  const [queryClient] = useState(createQueryClient);
  const [client] = useState(() => createClient(token));
  useEffect(
    () =>
      queryClient.getQueryCache().subscribe((event) => {
        if (event.type !== "updated" || event.action.type !== "error") return;
        if (isTokenRefused(event.action.error) && currentToken() === token) forgetToken();
      }),
    [queryClient, token],
  );
  return (
    <QueryClientProvider client={queryClient}>
      <context.TRPCProvider trpcClient={client} queryClient={queryClient}>
        {children}
      </context.TRPCProvider>
    </QueryClientProvider>
  );
}

/** Keeps everything visible fresh; returns whether the stream is connected. One per tab, in the shell. */
export function useLiveUpdates(cluster: string): boolean {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const stream = useSubscription(
    trpc.live.changes.subscriptionOptions(
      { cluster },
      {
        onData: ({ data }) => {
          const moved: ReadonlySet<unknown> = new Set(data.topics);
          void queryClient.invalidateQueries({
            predicate: ({ queryKey: [path] }) => Array.isArray(path) && moved.has(path[0]),
            refetchType: document.visibilityState === "visible" ? "active" : "none",
          });
        },
      },
    ),
  );
  return stream.status === "pending";
}
