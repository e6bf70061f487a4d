/**
 * Kubeconfig files, in-cluster accounts, and the credentials of one context. KubeConfig of @kubernetes/client-node reads
 * files, runs exec plugins and refreshes tokens; connections are ours (one dispatcher per cluster and identity).
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { KubeConfig, type Cluster, type Context, type User } from "@kubernetes/client-node";
import { parse } from "yaml";
import { AppError, messageOf } from "@/lib/errors";

const serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** One context that can be opened. */
export interface ClusterContext {
  /** `[a-z0-9-]`, the cluster's name in URLs. */
  readonly slug: string;
  /** The context's full name, shown everywhere. */
  readonly name: string;
  readonly server: string;
  readonly userName: string;
  readonly namespace: string | undefined;
  readonly cluster: Cluster;
  readonly user: User;
  /** What leads kubectl here, wherever its own current context leads. */
  readonly kubectlFlags: readonly string[];
}

export interface ContextList {
  readonly contexts: readonly ClusterContext[];
  /** The current context's slug, when it names a context of the list. */
  readonly current: string | undefined;
  /** Where they were read: file paths, or `in-cluster`. */
  readonly from: string;
}

export interface KubeconfigSources {
  /** --kubeconfig: these files and no others. */
  readonly paths?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The contexts that are configured: --kubeconfig, else KUBECONFIG (several files, the first to name a thing wins, missing ones are
 * skipped), else ~/.kube/config, else the service account of the pod. undefined when nothing is configured; without contexts where only
 * a ~/.kube/config lies there and names none. Throws AppError `invalid` with the file's name for one that can't be read, and for one
 * that was asked for and names no context.
 */
export function loadContexts(sources: KubeconfigSources): ContextList | undefined {
  const { files, areChosen } = kubeconfigFiles(sources);
  const list = files.length > 0 ? contextsOfFiles(files, (sources.paths ?? []).length > 0) : undefined;
  if (list !== undefined && list.contexts.length > 0) return list;
  if (areChosen) throw new AppError("invalid", `kubeconfig ${files.join(delimiter)}: no context in it leads to a cluster`);
  if (sources.env["KUBERNETES_SERVICE_HOST"] && existsSync(serviceAccountToken)) {
    const config = new KubeConfig();
    config.loadFromCluster();
    return contextsOf(config, { from: "in-cluster", flagsOf: () => [] });
  }
  return list;
}

function contextsOfFiles(files: readonly string[], isNamed: boolean): ContextList {
  const configs = files.map((file) => ({ file, config: readKubeconfig(file) }));
  const flagsOf = (name: string) => [...(isNamed ? fileFlags(configs, name) : []), "--context", name];
  return contextsOf(merge(configs.map(({ config }) => config)), { from: files.join(delimiter), flagsOf });
}

/** `areChosen`: a person named them. */
function kubeconfigFiles({ paths = [], env }: KubeconfigSources): { readonly files: readonly string[]; readonly areChosen: boolean } {
  if (paths.length > 0) return { files: paths, areChosen: true };
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
  if (listed.length > 0) {
    const present = listed.filter((file) => existsSync(file));
    if (present.length === 0) throw new AppError("invalid", `KUBECONFIG: no such file: ${listed.join(", ")}`);
    return { files: present, areChosen: true };
  }
  const home = env["HOME"];
  const standard = home ? join(home, ".kube", "config") : undefined;
  return { files: standard !== undefined && existsSync(standard) ? [standard] : [], areChosen: false };
}

function readKubeconfig(file: string): KubeConfig {
  const config = new KubeConfig();
  try {
    // Read once: it may be a pipe. The library refuses what holds nothing, which kubectl takes for an empty configuration.
    const text = readFileSync(file, "utf8");
    config.loadFromString(parse(text) === null ? "{}" : text);
    config.makePathsAbsolute(dirname(file));
  } catch (error) {
    throw new AppError("invalid", `kubeconfig ${file}: ${messageOf(error)}`, { cause: error });
  }
  return config;
}

function merge(configs: readonly KubeConfig[]): KubeConfig {
  const merged = new KubeConfig();
  merged.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((config) => config.clusters)),
    users: firstOfEachName(configs.flatMap((config) => config.users)),
    contexts: firstOfEachName(configs.flatMap((config) => config.contexts)),
    currentContext: configs.map((config) => config.currentContext).find((name) => name) ?? "",
  });
  return merged;
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  const byName = new Map<string, T>();
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry);
  return [...byName.values()];
}

/** A file that --kubeconfig names is not one that kubectl would read by itself. */
function fileFlags(configs: readonly { file: string; config: KubeConfig }[], name: string): readonly string[] {
  const holder = configs.find(({ config }) => config.contexts.some((context) => context.name === name));
  return holder ? ["--kubeconfig", resolve(holder.file)] : [];
}

interface Origin {
  readonly from: string;
  readonly flagsOf: (contextName: string) => readonly string[];
}

function contextsOf(config: KubeConfig, { from, flagsOf }: Origin): ContextList {
  const contexts = config.contexts.flatMap((context) => openable(config, context, flagsOf(context.name)) ?? []);
  return { contexts, current: contexts.find((context) => context.name === config.currentContext)?.slug, from };
}

/** A context that names no known cluster can't be opened and is left out; one without a user is anonymous. */
function openable(config: KubeConfig, context: Context, kubectlFlags: readonly string[]): ClusterContext | undefined {
  const cluster = config.getCluster(context.cluster);
  if (!cluster) return undefined;
  return {
    slug: clusterSlug(context.name, cluster.server),
    name: context.name,
    server: cluster.server,
    userName: context.user,
    namespace: context.namespace,
    cluster,
    user: config.getUser(context.user) ?? { name: context.user },
    kubectlFlags,
  };
}

/** `[a-z0-9-]` of the context's name, and six hex digits of a hash of server and context. */
export function clusterSlug(contextName: string, server: string): string {
  const words = contextName.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 48).replace(/^-+|-+$/g, "");
  const hash = createHash("sha256").update(JSON.stringify([server, contextName])).digest("hex").slice(0, 6);
  return words === "" ? hash : `${words}-${hash}`;
}

export interface TlsSettings {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
}

/**
 * Fresh credentials of a context at every call: files are read again, expired tokens are renewed by their plugin. Over plain
 * http nothing is sent, as client-go does. Throws AppError `forbidden` with the plugin's words.
 */
export function credentialsOf(context: ClusterContext): () => Promise<Credentials> {
  const config = new CredentialConfig();
  config.loadFromClusterAndUser(context.cluster, context.user);
  return async () => {
    if (!context.server.startsWith("https:")) return { headers: {}, tls: {} };
    try {
      return await config.credentials();
    } catch (error) {
      throw new AppError("forbidden", `credentials of context ${context.name}: ${messageOf(error)}`, { cause: error });
    }
  };
}

/** Takes headers and TLS material out of the library, which would otherwise make a new connection pool for each request. */
class CredentialConfig extends KubeConfig {
  private tls: TlsSettings = {};

  async credentials(): Promise<Credentials> {
    const headers: Record<string, string> = {};
    const context = { setHeaderParam: (key: string, value: string) => void (headers[key] = value), setDispatcher: () => undefined };
    await this.applySecurityAuthentication(context as unknown as Parameters<KubeConfig["applySecurityAuthentication"]>[0]);
    return { headers, tls: this.tls };
  }

  override createDispatcherOptions(...[, agent]: Parameters<KubeConfig["createDispatcherOptions"]>): { type: "none" } {
    const { ca, cert, key, rejectUnauthorized, servername } = agent;
    this.tls = Object.fromEntries(
      Object.entries({ ca, cert, key, rejectUnauthorized, servername }).filter(([, value]) => value !== undefined),
    );
    return { type: "none" };
  }
}
