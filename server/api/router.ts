/** All nouns. The socket carries the live stream alone: changes go by POST. */
import { router } from "@/server/api/init";
import { clusterRouter } from "@/server/api/routers/cluster";
import { liveRouter } from "@/server/api/routers/live";

export const appRouter = router({ cluster: clusterRouter, live: liveRouter });
export type AppRouter = typeof appRouter;

export const socketRouter = router({ live: liveRouter });
export type SocketRouter = typeof socketRouter;
