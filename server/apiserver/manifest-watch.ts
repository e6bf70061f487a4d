import type { ServerContext } from "./context";
import type { Log } from "./server";

export interface ManifestWatch {
  close(): void;
}

export function watchManifests(_context: ServerContext, _folder: string, _log: Log): Promise<ManifestWatch> {
  return Promise.resolve({ close: () => undefined });
}
