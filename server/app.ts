/** Composition root of what is served: clusters, their nodes, and the ports that procedures are handed. */
import { AppError } from "@/lib/errors";
import type { ApiPorts } from "@/server/api/context";
import type { Options } from "@/server/options";

export interface App {
  readonly ports: Pick<ApiPorts, "clusters">;
  isReady(): boolean;
  /** Begins to work once the address is known to be ours. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function createApp(_options: Options): Promise<App> {
  return {
    ports: {
      clusters: {
        list: () => [],
        viewFor: (_person, id) => {
          throw new AppError("not-found", `There is no cluster ${id}`);
        },
      },
    },
    isReady: () => true,
    start: async () => {},
    close: async () => {},
  };
}
