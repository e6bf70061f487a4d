/** All nouns. The socket carries the live stream alone: changes go by POST. */
import { router } from "@/server/api/init";
import { claimRouter } from "@/server/api/routers/claim";
import { clusterRouter } from "@/server/api/routers/cluster";
import { liveRouter } from "@/server/api/routers/live";
import { manifestRouter } from "@/server/api/routers/manifest";
import { nodeRouter } from "@/server/api/routers/node";
import { operationRouter } from "@/server/api/routers/operation";
import { pluginRouter } from "@/server/api/routers/plugin";
import { volumeRouter } from "@/server/api/routers/volume";

export const appRouter = router({
  cluster: clusterRouter,
  plugin: pluginRouter,
  volume: volumeRouter,
  claim: claimRouter,
  node: nodeRouter,
  operation: operationRouter,
  manifest: manifestRouter,
  live: liveRouter,
});
export type AppRouter = typeof appRouter;

export const socketRouter = router({ live: liveRouter });
export type SocketRouter = typeof socketRouter;
