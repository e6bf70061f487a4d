import { expect, it } from "vitest";
import { previewExpansion } from "./expand-claim";
import type { OperationCluster } from "./ports";
import { previewResize } from "./resize-ephemeral";
import { input, setUp } from "./test-cluster";

/** The cluster of `setUp`, whose server answers every dry run with this object. */
function answering(answer: unknown): OperationCluster {
  const { cluster } = setUp();
  return { ...cluster, client: { ...cluster.client, patch: async <T>() => answer as T } };
}

it("a dry run says from which size to which, as the server answered it", async () => {
  const cluster = answering({ metadata: {}, spec: { resources: { requests: { storage: "2Gi" } } } });
  const { dryRun } = await previewExpansion(cluster, input, 5);
  expect(dryRun).toEqual({
    ok: true,
    words: "spec.resources.requests.storage: 2Gi",
    change: { field: "spec.resources.requests.storage", from: "1Gi", to: "2Gi" },
    atMs: 5,
  });
});

it("a dry run of a memory volume says so too, and no change where the server drops it", async () => {
  const pod = (sizeLimit: string) => ({ metadata: {}, spec: { containers: [], volumes: [{ name: "hot", emptyDir: { medium: "Memory", sizeLimit } }] } });
  const asked = { namespace: "shop", name: "cache", volume: "hot", size: "16Mi" };
  const grown = await previewResize(answering(pod("16Mi")), asked, 5);
  expect(grown.dryRun).toMatchObject({ ok: true, change: { field: "spec.volumes[hot].emptyDir.sizeLimit", from: "8Mi", to: "16Mi" } });
  const dropped = await previewResize(answering(pod("8Mi")), asked, 5);
  expect(dropped.dryRun).toMatchObject({ ok: false, words: expect.stringContaining("changes nothing") });
  expect(dropped.dryRun).not.toHaveProperty("change");
});
