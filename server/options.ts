/** The command line and the environment, parsed once and typed. */
import { isIP } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ParseArgsConfig } from "node:util";
import { AppError } from "@/lib/errors";
import { parseFlags } from "@/server/flags";

export interface Options {
  readonly port: number;
  readonly listen: string;
  readonly dataFolder: string;
  readonly manifestsFolder: string | undefined;
  readonly kubeconfigs: readonly string[];
  readonly allowPaths: readonly string[];
  readonly allowDevices: readonly string[];
  /** Use the memory host: mounts are simulated and labelled so. */
  readonly simulated: boolean;
  readonly development: boolean;
  /** False: the API alone is served; no built pages are needed. */
  readonly pages: boolean;
}

export const defaultPort = 7480;

export const usage = `Usage: npm start -- [options]
  --port N             port to serve on (PORT, default ${defaultPort}; 0 picks a free one)
  --listen ADDRESS     address to listen on (VOLDECK_LISTEN, default 127.0.0.1)
  --data FOLDER        where Voldeck keeps its data (VOLDECK_HOME, default $HOME/.voldeck)
  --manifests FOLDER   manifests of the standalone node (default: a sample in the data folder)
  --kubeconfig FILE    clusters to show; may be given several times (KUBECONFIG)
  --allow-path PATH    a path outside its root that manifests may use; may be given several times
  --allow-device PATH  a block device, or an NFS export (server:/path), that manifests may use; may be given several times
  --simulated          simulate mounts in memory (labelled so on every page)
  --no-pages           serve the API alone, without the pages
  --help               this text`;

const flags = {
  port: { type: "string" },
  listen: { type: "string" },
  data: { type: "string" },
  manifests: { type: "string" },
  kubeconfig: { type: "string", multiple: true },
  "allow-path": { type: "string", multiple: true },
  "allow-device": { type: "string", multiple: true },
  simulated: { type: "boolean" },
  dev: { type: "boolean" },
  "no-pages": { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

type Environment = Readonly<Record<string, string | undefined>>;

/** Absolute; `flag` is what `--data` said. */
export function dataFolderOf(flag: string | undefined, env: Environment): string {
  return resolve(flag ?? nonEmpty(env["VOLDECK_HOME"]) ?? join(nonEmpty(env["HOME"]) ?? homedir(), ".voldeck"));
}

/** Throws AppError `invalid` that names the flag or variable. HOST is not read: shells set it for other reasons. */
export function parseOptions(args: readonly string[], env: Environment): Options {
  const values = parseFlags(args, flags);
  return {
    port: parsePort(values.port, env["PORT"]),
    listen: parseListen(values.listen, env["VOLDECK_LISTEN"]),
    dataFolder: dataFolderOf(values.data, env),
    manifestsFolder: values.manifests === undefined ? undefined : resolve(values.manifests),
    kubeconfigs: values.kubeconfig ?? [],
    allowPaths: (values["allow-path"] ?? []).map((path) => absolute("--allow-path", path)),
    allowDevices: (values["allow-device"] ?? []).map(deviceOrExport),
    simulated: values.simulated ?? false,
    development: values.dev ?? false,
    pages: values["no-pages"] !== true,
  };
}

function parsePort(flag: string | undefined, variable: string | undefined): number {
  const [name, text] = flag === undefined ? ["PORT", nonEmpty(variable)] : ["--port", flag];
  if (text === undefined) return defaultPort;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new AppError("invalid", `${name}: ${JSON.stringify(text)} is not a port (0 to 65535)`);
}

function parseListen(flag: string | undefined, variable: string | undefined): string {
  const [name, text] = flag === undefined ? ["VOLDECK_LISTEN", nonEmpty(variable)] : ["--listen", flag];
  if (text === undefined) return "127.0.0.1";
  if (text === "localhost") return "127.0.0.1";
  if (isIP(text) !== 0) return text;
  throw new AppError("invalid", `${name}: ${JSON.stringify(text)} is not an IP address`);
}

function absolute(flag: string, path: string): string {
  if (path.startsWith("/")) return resolve(path);
  throw new AppError("invalid", `${flag}: ${JSON.stringify(path)} is not an absolute path`);
}

/** An export is compared word for word with what a manifest mounts, an IPv6 server in brackets. */
function deviceOrExport(text: string): string {
  if (/^(\[[0-9A-Fa-f:.%]+\]|[^\s/:[\]-][^\s/:[\]]*):\/\S*$/.test(text)) return text;
  if (text.startsWith("/")) return resolve(text);
  throw new AppError("invalid", `--allow-device: ${JSON.stringify(text)} is neither an absolute path nor an export (server:/path)`);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
