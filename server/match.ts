/**
 * `voldeck match`: which plugin each volume of a manifest gets on its node, whether a controller attaches it, and whether it may grow.
 * Offline the files alone count; with a context, claims are looked up there. Writes nothing anywhere.
 */
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { ParseArgsConfig } from "node:util";
import { withoutControls } from "@/lib/controls";
import { AppError, codeOf, isAppError, messageOf } from "@/lib/errors";
import { claimClass } from "@/lib/kube/classes";
import { decodeInto } from "@/lib/kube/go-decode";
import type { KubeObject } from "@/lib/kube/meta";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import { manifestText, parseManifest, type ManifestObject } from "@/server/apiserver/manifest-files";
import { claimNameOf } from "@/server/cluster/build-snapshot";
import { createApiClient, type ApiClient } from "@/server/cluster/client";
import { openConnection } from "@/server/cluster/connection";
import { loadContexts, type ClusterContext } from "@/server/cluster/kubeconfig";
import { resourcePath } from "@/server/cluster/resources";
import { matchPod, storageObjects, worstOf, type ManifestVolume, type MatchHosts, type StorageObjects } from "@/server/diagnosis/manifest-match";
import { manifestPod, type ManifestPod } from "@/server/diagnosis/manifest-pods";
import { parseFlags } from "@/server/flags";
import { processLog } from "@/server/log";
import { matchText } from "@/server/match-text";
import { tableOf } from "@/server/observed";
import { jsonText, print } from "@/server/print";
import { newControllerPlugins, newKubeletPlugins } from "@/server/volume/plugins";

export interface MatchOptions {
  /** `-` is standard input. */
  readonly files: readonly string[];
  readonly kubeconfigs: readonly string[];
  /** undefined: offline. */
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** What a run ends with, for use in CI. */
export const matchExit = { served: 0, unserved: 1, failed: 2, unknown: 3 } as const;

export const matchUsage = `Usage: voldeck match -f FILE [options]
Which plugin serves each volume of the pods and workloads in a manifest, and why. Reads only.
  -f, --filename FILE  a manifest, YAML or JSON; - is standard input; may be given several times
  --context NAME       look claims up in this cluster; without it the files alone count
  --kubeconfig FILE    where that context stands; may be given several times (KUBECONFIG, ~/.kube/config)
  -n, --namespace NAME of objects that name none (default: the context's, else default)
  --json               print all as JSON
  --verbose            print every plugin's answer
  --help               this text
Exit code: 0 every volume is served, 1 some volume is served by none or by several plugins, 2 nothing could be said,
3 some volume can't be known from here (an unbound claim, a driver that only its node sees)`;

const flags = {
  filename: { type: "string", short: "f", multiple: true },
  context: { type: "string" },
  kubeconfig: { type: "string", multiple: true },
  namespace: { type: "string", short: "n" },
  json: { type: "boolean" },
  verbose: { type: "boolean" },
  help: { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

/** `args` without the word `match`. Resolves to the exit code, once all is printed. */
export async function runMatch(args: readonly string[]): Promise<number> {
  try {
    const options = parseMatchOptions(args);
    if (options === "help") {
      await print(`${matchUsage}\n`);
      return matchExit.served;
    }
    const volumes = await match(options);
    await print(options.json ? jsonText({ volumes }) : matchText(volumes, options));
    return matchExit[worstOf(volumes)];
  } catch (error) {
    process.stderr.write(`voldeck match: ${messageOf(error).split("\n").map(withoutControls).join("\n")}\n`);
    if (!isAppError(error)) processLog.error("match failed", error);
    return matchExit.failed;
  }
}

/** Throws AppError `invalid` that names the flag. */
export function parseMatchOptions(args: readonly string[]): MatchOptions | "help" {
  const values = parseFlags(args, flags);
  if (values.help === true) return "help";
  const files = values.filename ?? [];
  if (files.length === 0) throw new AppError("invalid", "-f: no manifest is named");
  const { context, kubeconfig = [], namespace, json = false, verbose = false } = values;
  if (kubeconfig.length > 0 && context === undefined) throw new AppError("invalid", "--kubeconfig: needs --context, which says what of it to use");
  return { files, kubeconfigs: kubeconfig, context, namespace, json, verbose };
}

/** Throws AppError `invalid` with a line per fault of the files, each with file and line. */
export async function match(options: MatchOptions): Promise<readonly ManifestVolume[]> {
  const context = options.context === undefined ? undefined : contextOf(options.context, options);
  const manifests = (await Promise.all(options.files.map(readManifest))).flat();
  const defaultNamespace = options.namespace ?? context?.namespace ?? "default";
  const objects = manifests.map((manifest) => typed(manifest, defaultNamespace));
  const pods = objects.flatMap((object) => manifestPod(object, defaultNamespace) ?? []);
  if (pods.length === 0) throw new AppError("invalid", `${options.files.join(", ")}: holds no pod and no workload that makes pods`);
  const found = context && (await readCluster(context, pods, objects));
  const storage = storageObjects(objects, "these files", found);
  const hosts = await matchHosts();
  return pods.flatMap((pod) => matchPod(pod, storage, hosts));
}

async function readManifest(file: string): Promise<readonly ManifestObject[]> {
  const { objects, errors } = parseManifest(file, await readText(file));
  if (errors.length > 0) throw new AppError("invalid", errors.map(({ line, message }) => `${file}:${line}: ${message}`).join("\n"));
  return objects;
}

async function readText(file: string): Promise<string> {
  try {
    return manifestText(file === "-" ? await buffer(process.stdin) : await readFile(file));
  } catch (error) {
    throw new AppError("invalid", `-f ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Kinds that count here, by group and version as a manifest writes them, with the type that decodes them. */
const types: ReadonlyMap<string, string> = new Map([
  ...["Pod", "PodTemplate", "ReplicationController", "PersistentVolume", "PersistentVolumeClaim"].map((kind) => [`v1 ${kind}`, `core/v1.${kind}`] as const),
  ...["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"].map((kind) => [`apps/v1 ${kind}`, `apps/v1.${kind}`] as const),
  ...["Job", "CronJob"].map((kind) => [`batch/v1 ${kind}`, `batch/v1.${kind}`] as const),
  ["storage.k8s.io/v1 StorageClass", "storage/v1.StorageClass"],
]);

/** What the API server's decoder would make of it; other kinds bring nothing here and stay as they are. */
function typed({ file, line, object, lineOf }: ManifestObject, defaultNamespace: string): KubeObject {
  const { apiVersion, kind } = object;
  const type = types.get(`${String(apiVersion)} ${String(kind)}`);
  if (type === undefined) return { apiVersion: String(apiVersion), kind: String(kind), metadata: {} };
  let decoded: KubeObject;
  try {
    const { value, strictErrors } = decodeInto(type, { value: object, duplicates: new Map() });
    if (strictErrors.length > 0) throw new AppError("invalid", strictErrors.map((text) => `${file}:${lineOf(fieldIn(text))}: ${text}`).join("\n"));
    decoded = value as unknown as KubeObject;
  } catch (error) {
    if (isAppError(error)) throw error;
    throw new AppError("invalid", `${file}:${line}: ${messageOf(error)}`, { cause: error });
  }
  const metadata = { ...decoded.metadata };
  if (kind === "PersistentVolumeClaim") metadata.namespace ??= defaultNamespace;
  return { ...decoded, apiVersion: String(apiVersion), kind: String(kind), metadata };
}

/** `unknown field "spec.volumes[0].emptydir"` names it between quotes. */
function fieldIn(text: string): string {
  return /"([^"]+)"/.exec(text)?.[1] ?? "";
}

function contextOf(name: string, { kubeconfigs }: MatchOptions): ClusterContext {
  const list = loadContexts({ paths: kubeconfigs, env: process.env });
  const context = list?.contexts.find((each) => each.name === name);
  if (context) return context;
  const known = list?.contexts.map((each) => each.name).join(", ");
  throw new AppError("invalid", `--context: there is no context ${JSON.stringify(name)}${known ? `; there are ${known}` : ", and no kubeconfig"}`);
}

/** The claims that the pods name, their volumes and their classes: single reads, as many as needed. */
async function readCluster(context: ClusterContext, pods: readonly ManifestPod[], files: readonly KubeObject[]): Promise<StorageObjects> {
  const client = createApiClient(openConnection(context));
  try {
    const names = pods.flatMap(({ pod, namespace }) => (pod.spec.volumes ?? []).flatMap((volume) => {
      const name = claimNameOf(pod, volume);
      return name === undefined ? [] : [{ namespace, name }];
    }));
    const claims = await readAll<PersistentVolumeClaim>(client, names.map((at) => resourcePath("persistentvolumeclaims", at)));
    const inFiles = files.filter(({ kind }) => kind === "PersistentVolumeClaim") as PersistentVolumeClaim[];
    const all = [...claims, ...inFiles, ...pods.flatMap((pod) => pod.claims)];
    const volumeNames = all.map(({ spec }) => spec.volumeName ?? "").filter((name) => name !== "");
    const volumes = await readAll<PersistentVolume>(client, volumeNames.map((name) => resourcePath("persistentvolumes", { name })));
    const classNames = all.map(claimClass).filter((name) => name !== "");
    const classes = await readAll<StorageClass>(client, classNames.map((name) => resourcePath("storageclasses", { name })));
    return {
      from: `context ${context.name}`,
      claim: (namespace, name) => claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
      persistentVolume: (name) => volumes.find(({ metadata }) => metadata.name === name),
      storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
    };
  } finally {
    await client.close();
  }
}

/** What is not there is left out; whatever else fails, fails. */
async function readAll<T>(client: ApiClient, paths: readonly string[]): Promise<readonly T[]> {
  const found = await Promise.all([...new Set(paths)].map((path) => client.get<T>(path).catch(unlessAbsent)));
  return found.filter((object): object is Awaited<T> => object !== undefined);
}

function unlessAbsent(error: unknown): undefined {
  if (codeOf(error) !== "not-found") throw error;
}

const notVisible = "FlexVolume drivers are probed on the node: which are there can't be known from here";

async function matchHosts(): Promise<MatchHosts> {
  return {
    node: { table: await tableOf(newKubeletPlugins()), notVisible },
    attachController: { table: await tableOf(newControllerPlugins("attachDetach")), notVisible },
  };
}
