/** Operations on a cluster of a kubeconfig, against a small API server. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import { json, listBody, openWatch, startFakeApi, statusBody, type FakeApi } from "@/server/cluster/fake-api";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { MemoryLog } from "@/server/hosts/memory";
import { createLiveClusters } from "@/server/live";
import { openSharedOperations } from "@/server/shared-operations";

/** A claim that a patch asks more for; `granted` is set by the test, as a resizer would. */
class Shop {
  requested = "1Gi";
  granted = "1Gi";
  userName: string | undefined = "jane";

  claim(): PersistentVolumeClaim {
    return {
      metadata: { namespace: "shop", name: "data", uid: "u", resourceVersion: "7" },
      spec: { storageClassName: "fast", volumeName: "pv", resources: { requests: { storage: this.requested } } },
      status: { phase: "Bound", capacity: { storage: this.granted } },
    };
  }

  start(): Promise<FakeApi> {
    return startFakeApi((response, { method, url, body, isWatch }) => {
      const last = url.pathname.split("/").at(-1) ?? "";
      if (isWatch) return void openWatch(response);
      if (last === "selfsubjectreviews") return this.sayWho(response);
      if (last === "selfsubjectaccessreviews") return json(response, 201, { status: { allowed: true } });
      if (last === "fast") return json(response, 200, { metadata: { name: "fast" }, provisioner: "x", allowVolumeExpansion: true });
      if (last === "pv") return json(response, 200, { metadata: { name: "pv" }, spec: { csi: { driver: "x", volumeHandle: "h" } } });
      if (last !== "data") return json(response, 200, listBody([], "1"));
      if (method === "PATCH") this.requested = (JSON.parse(body) as PersistentVolumeClaim).spec.resources?.requests?.["storage"] ?? "";
      return json(response, 200, this.claim());
    });
  }

  private sayWho(response: Parameters<typeof json>[0]): void {
    if (this.userName === undefined) return json(response, 403, statusBody(403, "Forbidden", "not you"));
    json(response, 201, { status: { userInfo: { username: this.userName } } });
  }
}

/** `start` is a start of the program on the same data. */
async function setUp() {
  const shop = new Shop();
  const api = await shop.start();
  onTestFinished(() => api.close());
  const folder = isolatedFolder();
  onTestFinished(() => removeFolder(folder));
  const start = async () => {
    const log = new MemoryLog();
    const shared = openSharedOperations({ journalPath: join(folder, "journal.sqlite"), log, point: () => undefined });
    const live = await createLiveClusters({ contexts: [api.context], log, nowMs: Date.now, shared });
    await live.start?.();
    const stop = async () => {
      await live.close();
      shared.close();
    };
    const operations = () => {
      const found = live.view(api.context.slug)?.operations;
      if (!found) throw new Error("no operations");
      return found;
    };
    return { live, shared, stop, operations };
  };
  return { shop, api, start };
}

const grow = { namespace: "shop", name: "data", size: "2Gi", uid: "u" };

describe("a cluster of a kubeconfig", () => {
  it("is grown in the name of the kubeconfig's user, and followed until the claim is granted", { timeout: 30_000 }, async () => {
    const { shop, start } = await setUp();
    const { operations, stop } = await start();
    const begun = await operations().expand(grow);
    expect(begun).toMatchObject({ who: "jane", phase: "following", to: "2Gi" });
    shop.granted = "2Gi";
    await expect.poll(() => operations().get(begun.id)?.record, { timeout: 20_000 }).toMatchObject({ phase: "ended", progress: { status: "ok" } });
    await stop();
  });

  it("says unknown of a user that the server does not name", async () => {
    const { shop, start } = await setUp();
    shop.userName = undefined;
    const { operations, stop } = await start();
    expect(await operations().expand(grow)).toMatchObject({ who: "unknown" });
    await stop();
  });

  it("is opened by a start that finds an operation of it open, and followed though nobody looks", { timeout: 30_000 }, async () => {
    const { shop, api, start } = await setUp();
    const first = await start();
    const begun = await first.operations().expand(grow);
    await first.stop();
    shop.granted = "2Gi";
    const asked = api.requests.length;
    const second = await start();
    await expect.poll(() => second.shared.operations.get(begun.id), { timeout: 20_000 }).toMatchObject({ phase: "ended", progress: { status: "ok" } });
    expect(api.requests.slice(asked).filter(({ method }) => method === "PATCH")).toEqual([]);
    await second.stop();
  });

  it("is left alone by a start where nothing of it is open", async () => {
    const { api, start } = await setUp();
    const { stop } = await start();
    expect(api.requests).toEqual([]);
    await stop();
  });
});
