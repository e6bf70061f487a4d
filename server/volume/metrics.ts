/**
 * How much a volume holds. Source: pkg/volume/metrics_{nil,du,statfs,block,cached,errors}.go of v1.37.2.
 */
import { messageOf } from "@/lib/errors";
import { VolumeError } from "@/server/volume/errors";
import type { HostPorts } from "@/server/volume/ports";
import type { Metrics } from "@/server/volume/volume";

export interface MetricsProvider {
  /** Throws VolumeError `metrics-not-supported`, `metrics-no-path` or `metrics-fs-info-failed`. */
  getMetrics(): Promise<Metrics>;
}

/** What the providers need of a host's ports. */
export type MetricsPorts = Pick<HostPorts, "files" | "blockTools" | "clock">;

/** For volumes without metrics of their own. */
export const metricsNil: MetricsProvider = {
  getMetrics: () => Promise.reject(metricsNotSupported()),
};

/** NewNotSupportedError. */
export function metricsNotSupported(): VolumeError {
  return new VolumeError("metrics are not supported for MetricsNil Volumes", "metrics-not-supported");
}

/** NewNotSupportedErrorWithDriverName. */
export function metricsNotSupportedByDriver(driverName: string): VolumeError {
  return new VolumeError(`metrics are not supported for ${driverName} volumes`, "metrics-not-supported");
}

/** NewNotImplementedError. */
export function metricsNotImplemented(reason: string): VolumeError {
  return new VolumeError(`metrics support is not implemented: ${reason}`, "metrics-not-supported");
}

/** NewNoPathDefinedError. */
function noPathDefined(): VolumeError {
  return new VolumeError("no path defined for disk usage metrics.", "metrics-no-path");
}

/** NewFsInfoFailedError. */
function fsInfoFailed(error: unknown): VolumeError {
  return new VolumeError(`failed to get FsInfo due to error ${messageOf(error)}`, "metrics-fs-info-failed", error);
}

/** Use by walking the volume, sizes from its file system: for volumes that share a file system. */
export function newMetricsDu(ports: MetricsPorts, path: string): MetricsProvider {
  return {
    async getMetrics() {
      if (path === "") throw noPathDefined();
      const timeMs = ports.clock.nowMs();
      const { usedBytes, inodesUsed } = await ports.files.usage(path);
      const { capacityBytes, availableBytes, inodes, inodesFree } = await fileSystem(ports, path);
      return { timeMs, usedBytes, inodesUsed, capacityBytes, availableBytes, inodes, inodesFree };
    },
  };
}

/** Everything from statfs: for volumes that are a file system of their own. */
export function newMetricsStatFS(ports: MetricsPorts, path: string): MetricsProvider {
  return {
    async getMetrics() {
      if (path === "") throw noPathDefined();
      return { timeMs: ports.clock.nowMs(), ...(await fileSystem(ports, path)) };
    },
  };
}

/** Only the capacity of a raw block device. */
export function newMetricsBlock(ports: MetricsPorts, devicePath: string): MetricsProvider {
  return {
    async getMetrics() {
      if (devicePath === "") throw noPathDefined();
      const timeMs = ports.clock.nowMs();
      try {
        return { timeMs, capacityBytes: await ports.blockTools.sizeBytes(devicePath) };
      } catch (error) {
        throw fsInfoFailed(error);
      }
    },
  };
}

/** Asks until the first answer and gives that one ever after: for volumes whose content changes only by a new set up. */
export function newCachedMetrics(provider: MetricsProvider): MetricsProvider {
  let answer: Metrics | undefined;
  return {
    async getMetrics() {
      answer ??= await provider.getMetrics();
      return answer;
    },
  };
}

async function fileSystem(ports: MetricsPorts, path: string): Promise<Omit<Metrics, "timeMs">> {
  try {
    const { totalBytes, freeBytes, availableBytes, inodes, inodesFree } = await ports.files.statfs(path);
    return {
      usedBytes: totalBytes - freeBytes,
      capacityBytes: totalBytes,
      availableBytes,
      inodesUsed: inodes - inodesFree,
      inodes,
      inodesFree,
    };
  } catch (error) {
    throw fsInfoFailed(error);
  }
}
