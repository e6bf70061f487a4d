import { fileError } from "@/server/hosts/file-errors";
import { cleanPath, isWithin } from "@/server/hosts/paths";
import type { Files, WatchEvent, Watcher, WatchHandle } from "@/server/volume/ports";
import type { MemoryTree } from "./tree";

type Handlers = Parameters<Watcher["watch"]>[1];

/** Reports changes of the tree made through the ports or by a test's seed, a moment after they happened, as inotify does. */
export class MemoryWatcher implements Watcher {
  private readonly watches = new Map<Handlers, string>();

  constructor(
    private readonly files: Files,
    tree: MemoryTree,
  ) {
    tree.onChange((change) => queueMicrotask(() => this.deliver(change)));
  }

  async watch(path: string, handlers: Handlers): Promise<WatchHandle> {
    if ((await this.files.stat(path)) === undefined) throw fileError("watch", path, "ENOENT");
    this.watches.set(handlers, cleanPath(path));
    return {
      close: async () => {
        this.watches.delete(handlers);
      },
    };
  }

  /** Hands an error to every watch, such as an overflow. */
  fail(error: unknown): void {
    for (const handlers of this.watches.keys()) handlers.onError(error);
  }

  private deliver(event: WatchEvent): void {
    for (const [handlers, folder] of [...this.watches]) {
      if (isWithin(folder, event.path)) handlers.onEvent(event);
    }
  }
}
