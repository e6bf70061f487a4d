/**
 * What is attached to this node, kept in the node's status: noted before a volume is attached and struck out after it was detached, so
 * that a process that ends in between leaves nothing attached that nobody knows of.
 * Source: pkg/controller/volume/attachdetach (statusupdater, and populateActualStateOfWorld after a restart) of v1.37.2, which notes an
 * attachment after it is made, and finds lost ones by their VolumeAttachment.
 */
import { codeOf } from "@/lib/errors";
import type { Node } from "@/lib/kube/nodes";
import { resourcePath } from "@/server/cluster/resources";
import type { NodeClient } from "@/server/node/client";
import { AsyncLock } from "@/server/volume/async-lock";

export interface Attachments {
  /** Device paths by unique name; "" where it is in doubt whether the volume is attached, or its driver names no device. */
  list(): Promise<ReadonlyMap<string, string>>;
  put(uniqueName: string, devicePath: string): Promise<void>;
  remove(uniqueName: string): Promise<void>;
}

export class NodeAttachments implements Attachments {
  /** The list is written whole. */
  private readonly lock = new AsyncLock();

  constructor(
    private readonly client: Pick<NodeClient, "get" | "patch">,
    private readonly nodeName: string,
  ) {}

  async list(): Promise<Map<string, string>> {
    try {
      const { status } = await this.client.get<Node>(resourcePath("nodes", { name: this.nodeName }));
      return new Map((status?.volumesAttached ?? []).map(({ name, devicePath }) => [name, devicePath]));
    } catch (error) {
      if (codeOf(error) === "not-found") return new Map();
      throw error;
    }
  }

  put(uniqueName: string, devicePath: string): Promise<void> {
    return this.change((volumes) => {
      if (volumes.get(uniqueName) === devicePath) return false;
      volumes.set(uniqueName, devicePath);
      return true;
    });
  }

  remove(uniqueName: string): Promise<void> {
    return this.change((volumes) => volumes.delete(uniqueName));
  }

  private change(edit: (volumes: Map<string, string>) => boolean): Promise<void> {
    return this.lock.run(async () => {
      const volumes = await this.list();
      if (!edit(volumes)) return;
      const volumesAttached = Array.from(volumes, ([name, devicePath]) => ({ name, devicePath }));
      const path = resourcePath("nodes", { name: this.nodeName, subresource: "status" });
      await this.client.patch(path, { type: "merge", body: { status: { volumesAttached } } });
    });
  }
}
