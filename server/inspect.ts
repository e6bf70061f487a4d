/**
 * `voldeck inspect`: what a kubelet's root and the mount table of this machine hold, with no API beside it. Opens nothing for writing,
 * starts nothing but the child that reads mounts that may hang, connects to nothing. Reached by main.ts.
 */
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ParseArgsConfig } from "node:util";
import { withoutControls } from "@/lib/controls";
import { AppError, isAppError, messageOf } from "@/lib/errors";
import type { NodeReport } from "@/lib/node-report";
import { parseFlags } from "@/server/flags";
import { systemClock } from "@/server/hosts/clock";
import { createReadOnlyHost, type ReadOnlyHost } from "@/server/hosts/linux/read-only";
import { markerName } from "@/server/hosts/linux/root";
import { inspectText } from "@/server/inspect-text";
import { processLog } from "@/server/log";
import { jsonText, print } from "@/server/print";
import { inspectNode } from "@/server/node/inspect";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import { newKubeletPlugins } from "@/server/volume/plugins";

export interface InspectOptions {
  readonly root: string;
  /** undefined: the folder beside a root of Voldeck's own, else a kubelet's default. */
  readonly flexVolumeDir: string | undefined;
  readonly nodeName: string;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly timeoutMs: number;
}

/** What a run of the command ends with. */
export const inspectExit = { healthy: 0, findings: 1, failed: 2 } as const;

const defaultRoot = "/var/lib/kubelet";
const defaultFlexVolumeDir = "/usr/libexec/kubernetes/kubelet-plugins/volume/exec";
const defaultTimeoutSeconds = 5;

export const inspectUsage = `Usage: voldeck inspect [options]
Shows what lies below a kubelet's root and in the mount table. Changes nothing, runs no driver, asks no API.
  --root FOLDER            the kubelet's root (default ${defaultRoot})
  --flexvolume-dir FOLDER  where FlexVolume drivers lie (default ${defaultFlexVolumeDir};
                           of a root that Voldeck made: flexvolume beside it)
  --node-name NAME         the node's name in the report (default: this machine's name)
  --timeout SECONDS        how long a call on a mount that may hang is waited for (default ${defaultTimeoutSeconds})
  --json                   print the whole report as JSON
  --verbose                print the mount lines of healthy volumes and the other mounts too
  --help                   this text
Exit code: 0 nothing to report, 1 problems, leftovers or unread folders, 2 no report could be made`;

const flags = {
  root: { type: "string" },
  "flexvolume-dir": { type: "string" },
  "node-name": { type: "string" },
  timeout: { type: "string" },
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  help: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

/** `args` without the word `inspect`. Resolves to the exit code, once all is printed. */
export async function runInspect(args: readonly string[]): Promise<number> {
  try {
    const options = parseInspectOptions(args);
    if (options === "help") {
      await print(`${inspectUsage}\n`);
      return inspectExit.healthy;
    }
    const report = await inspect(options);
    await print(options.json ? jsonText(report) : inspectText(report, { verbose: options.verbose }));
    return hasFindings(report) ? inspectExit.findings : inspectExit.healthy;
  } catch (error) {
    process.stderr.write(`voldeck inspect: ${withoutControls(messageOf(error))}\n`);
    if (!isAppError(error)) processLog.error("inspect failed", error);
    return inspectExit.failed;
  }
}

/** Throws AppError `invalid` that names the flag. */
export function parseInspectOptions(args: readonly string[]): InspectOptions | "help" {
  const values = parseFlags(args, flags);
  if (values.help === true) return "help";
  return {
    root: absolute("--root", values.root ?? defaultRoot),
    flexVolumeDir: values["flexvolume-dir"] === undefined ? undefined : absolute("--flexvolume-dir", values["flexvolume-dir"]),
    nodeName: nodeNameOf(values["node-name"]),
    json: values.json ?? false,
    verbose: values.verbose ?? false,
    timeoutMs: timeoutOf(values.timeout),
  };
}

function absolute(flag: string, path: string): string {
  if (path.startsWith("/") && !path.includes("\0")) return resolve(path);
  throw new AppError("invalid", `${flag}: ${JSON.stringify(path)} is not an absolute path`);
}

/** A kubelet takes its machine's name in lower case. */
function nodeNameOf(flag: string | undefined): string {
  if (flag === "") throw new AppError("invalid", "--node-name: the name is empty");
  return flag ?? hostname().toLowerCase();
}

function timeoutOf(flag: string | undefined): number {
  if (flag === undefined) return defaultTimeoutSeconds * 1000;
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(flag) ? Number(flag) : 0;
  if (seconds > 0) return seconds * 1000;
  throw new AppError("invalid", `--timeout: ${JSON.stringify(flag)} is not a number of seconds above 0`);
}

/** Throws AppError `precondition` that names the flag when the root is no folder, or no kubelet's. */
export async function inspect(options: InspectOptions): Promise<NodeReport> {
  const manager = new VolumePluginManager({ clock: systemClock, log: processLog });
  const host = await openRoot(options, manager);
  try {
    await manager.initPlugins(newKubeletPlugins(), undefined, host.kubelet);
    const flexVolumeDir = options.flexVolumeDir ?? (await flexVolumeDirOf(host));
    return await inspectNode({ host: host.kubelet, manager, root: host.root, flexVolumeDir });
  } finally {
    host.close();
  }
}

/** A root with Voldeck's marker has its drivers in the same data folder. */
async function flexVolumeDirOf({ kubelet, root }: ReadOnlyHost): Promise<string> {
  const marker = await kubelet.ports.files.lstat(join(root, markerName)).catch(() => undefined);
  return marker?.kind === "file" ? join(dirname(root), "flexvolume") : defaultFlexVolumeDir;
}

async function openRoot({ root, nodeName, timeoutMs }: InspectOptions, manager: VolumePluginManager): Promise<ReadOnlyHost> {
  let host: ReadOnlyHost;
  try {
    host = await createReadOnlyHost({
      root,
      nodeName,
      log: processLog,
      foreignTimeoutMs: timeoutMs,
      findPluginBySpec: (spec) => manager.findPluginBySpec(spec),
    });
  } catch (error) {
    throw new AppError("precondition", `--root: ${messageOf(error)}`, { cause: error });
  }
  // What can't be looked at for another reason is said in the report.
  if ((await host.kubelet.ports.files.lstat(host.kubelet.getPodsDir()).catch(() => "closed")) !== undefined) return host;
  host.close();
  throw new AppError("precondition", `--root: ${root} has no folder pods, so it is no kubelet's root`);
}

export function hasFindings({ volumes, leftovers = [], unread = [], flexDrivers }: NodeReport): boolean {
  const hasProblem = [...volumes, ...flexDrivers].some(({ problem }) => problem !== undefined);
  return hasProblem || leftovers.length > 0 || unread.length > 0;
}
