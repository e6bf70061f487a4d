/** This machine as facts of a Node object. */
import { arch, cpus, hostname, release, totalmem } from "node:os";
import { readFile } from "node:fs/promises";
import type { NodeFacts } from "@/server/node/register-node";

/** What is left to the system itself, as a kubelet's reserve. */
const reservedBytes = 256 * 1024 * 1024;

export async function machineFacts(): Promise<NodeFacts> {
  const memory = (bytes: number) => `${Math.floor(Math.max(bytes, 0) / 1024)}Ki`;
  const shared = { cpu: String(cpus().length), pods: "110" };
  return {
    labels: { "kubernetes.io/arch": arch() === "x64" ? "amd64" : arch() },
    capacity: { ...shared, memory: memory(totalmem()) },
    allocatable: { ...shared, memory: memory(totalmem() - reservedBytes) },
    nodeInfo: {
      kernelVersion: release(),
      osImage: await osName(),
      operatingSystem: "linux",
      architecture: arch() === "x64" ? "amd64" : arch(),
      kubeletVersion: "v1.37.2",
      containerRuntimeVersion: "none",
    },
  };
}

/** A node name is a DNS subdomain. */
export function nodeName(): string {
  const name = hostname().toLowerCase().replace(/[^a-z0-9.-]+/g, "-").replace(/^[.-]+|[.-]+$/g, "");
  return name === "" ? "this-machine" : name.slice(0, 63);
}

async function osName(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(text)?.[1] ?? "Linux";
}
