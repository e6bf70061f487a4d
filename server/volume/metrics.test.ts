import { describe, expect, it } from "vitest";
import { createMemoryHost } from "@/server/hosts/memory";
import {
  metricsNil,
  metricsNotImplemented,
  metricsNotSupportedByDriver,
  newCachedMetrics,
  newMetricsBlock,
  newMetricsDu,
  newMetricsStatFS,
} from "@/server/volume/metrics";

const dir = "/var/lib/kubelet/vol";

async function start() {
  const memory = createMemoryHost({ files: { [dir]: { kind: "directory" } } });
  await memory.mounter.mount({ source: "tmpfs", target: dir, fsType: "tmpfs", options: ["size=1m"] });
  await memory.files.writeFile(`${dir}/data`, "x".repeat(5000), 0o644);
  return memory;
}

describe("providers", () => {
  it("du: use of the tree, size of its file system", async () => {
    const { ports } = await start();
    const metrics = await newMetricsDu(ports, dir).getMetrics();
    expect(metrics).toMatchObject({ timeMs: ports.clock.nowMs(), inodesUsed: 2n, capacityBytes: 1n << 20n });
    expect(metrics.usedBytes).toBeGreaterThanOrEqual(5000n);
  });

  it("statfs: all from the file system", async () => {
    const { ports } = await start();
    const { usedBytes = 0n, availableBytes = 0n, capacityBytes } = await newMetricsStatFS(ports, dir).getMetrics();
    expect(capacityBytes).toBe(1n << 20n);
    expect(usedBytes + availableBytes).toBe(capacityBytes);
  });

  it("cached: a failure is asked again, an answer never", async () => {
    let asked = 0;
    const provider = newCachedMetrics({
      getMetrics: async () => {
        asked += 1;
        if (asked === 1) throw new Error("not yet");
        return { timeMs: asked };
      },
    });
    await expect(provider.getMetrics()).rejects.toThrow("not yet");
    expect(await provider.getMetrics()).toEqual({ timeMs: 2 });
    expect(await provider.getMetrics()).toEqual({ timeMs: 2 });
  });
});

describe("errors", () => {
  it.each([
    ["none", metricsNil, "metrics-not-supported", "metrics are not supported for MetricsNil Volumes"],
  ])("%s", async (...[, provider, code, message]) => {
    await expect(provider.getMetrics()).rejects.toMatchObject({ code, message });
  });

  it.each([newMetricsDu, newMetricsStatFS, newMetricsBlock])("%o without a path", async (newProvider) => {
    await expect(newProvider((await start()).ports, "").getMetrics()).rejects.toMatchObject({
      code: "metrics-no-path",
      message: "no path defined for disk usage metrics.",
    });
  });

  it.each([newMetricsStatFS, newMetricsBlock])("%o of what is not there", async (newProvider) => {
    await expect(newProvider((await start()).ports, "/none").getMetrics()).rejects.toMatchObject({
      code: "metrics-fs-info-failed",
      message: expect.stringMatching(/^failed to get FsInfo due to error /),
    });
  });

  it("texts of drivers", () => {
    expect(metricsNotSupportedByDriver("acme/nfs").message).toBe("metrics are not supported for acme/nfs volumes");
    expect(metricsNotImplemented("later").message).toBe("metrics support is not implemented: later");
  });
});
