/**
 * Faults between Voldeck and its API: a proxy on loopback in front of the API of a running standalone app, and a kubeconfig
 * with one context per fault. Voldeck is started a second time with that kubeconfig and shows each of them as a cluster.
 *
 * ```ts
 * const proxy = await startFaultProxy(kubeconfigOf(shop), { world: "none", shut: "forbidden" });
 * const app = await startApp({ args: ["--kubeconfig", proxy.kubeconfig] });
 * proxy.set("world", "internal-error");   // also ends the watches that are open
 * await shell.fresh("stale").waitFor();
 * ```
 *
 * What it answers itself was recorded from a real API server: `recorded/*.json`.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rmdir, unlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request as requestUpstream, type RequestOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { dataFolderPrefix, project } from "@/e2e/app";
import { credentialsOf, loadContexts } from "@/server/cluster/kubeconfig";

export const faults = [
  /** Passed on as it is. */
  "none",
  /** Every list and watch is empty: asked upstream for objects of a name that no object has. */
  "empty",
  /** 403 to every read of objects, as for a user without any right. */
  "forbidden",
  /** 500 to every read of objects. */
  "internal-error",
  /** Lists pass; every watch ends at once with the event that its resource version is too old. */
  "expired",
  /** The connection is cut before an answer. */
  "cut",
  /** The connection stands, no byte ever comes. */
  "silent",
] as const;
export type Fault = (typeof faults)[number];

export interface FaultProxy<Name extends string> {
  /** The path of the kubeconfig; its contexts are the names. */
  readonly kubeconfig: string;
  /** From now on; what is open on that context is cut. */
  set(name: Name, fault: Fault): void;
  close(): Promise<void>;
}

interface Upstream {
  readonly url: URL;
  readonly options: RequestOptions;
}

interface Recorded {
  readonly forbidden: { readonly bodies: Readonly<Record<string, object>> };
  readonly internalError: { readonly body: object };
  readonly expired: { readonly event: object };
}

/** Its own kubeconfig holds no credentials, for the proxy has them. */
export async function startFaultProxy<Name extends string>(kubeconfig: string, contexts: Readonly<Record<Name, Fault>>): Promise<FaultProxy<Name>> {
  const upstream = await upstreamOf(kubeconfig);
  const recorded = readRecorded();
  const state = new Map<string, Fault>(Object.entries<Fault>(contexts));
  const open = new Map<ServerResponse, string>();
  const server = createServer((request, response) => {
    const [, name = "", ...rest] = (request.url ?? "").split("/");
    open.set(response, name);
    response.once("close", () => open.delete(response));
    answer({ fault: state.get(name) ?? "cut", path: `/${rest.join("/")}`, request, response, upstream, recorded });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const folder = await mkdtemp(dataFolderPrefix());
  const path = join(folder, "kubeconfig");
  await writeFile(path, kubeconfigText(Object.keys(contexts), port), { mode: 0o600 });
  return {
    kubeconfig: path,
    set: (name, fault) => {
      state.set(name, fault);
      for (const [response, of] of open) if (of === name) response.destroy();
    },
    close: async () => {
      await unlink(path);
      await rmdir(folder);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

async function upstreamOf(kubeconfig: string): Promise<Upstream> {
  const context = loadContexts({ paths: [kubeconfig], env: {} })?.contexts[0];
  if (!context) throw new Error(`${kubeconfig} holds no context`);
  const { headers, tls } = await credentialsOf(context)();
  return { url: new URL(context.server), options: { ...tls, headers: { ...headers } } };
}

function readRecorded(): Recorded {
  const read = (name: string) => JSON.parse(readFileSync(join(project, "e2e/recorded", `${name}.json`), "utf8"));
  return { forbidden: read("forbidden"), internalError: read("internal-error"), expired: read("expired") };
}

function kubeconfigText(names: readonly string[], port: number): string {
  const clusters = names.map((name) => ({ name, cluster: { server: `http://127.0.0.1:${port}/${name}` } }));
  const contexts = names.map((name) => ({ name, context: { cluster: name, user: "tester" } }));
  const users = [{ name: "tester", user: {} }];
  return JSON.stringify({ apiVersion: "v1", kind: "Config", clusters, contexts, users, "current-context": names[0] });
}

interface Call {
  readonly fault: Fault;
  /** With its query. */
  readonly path: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: Upstream;
  readonly recorded: Recorded;
}

function answer(call: Call): void {
  const { fault, path, response, recorded } = call;
  const bare = path.split("?")[0] ?? path;
  const readsObjects = call.request.method === "GET" && /^\/(api\/v1|apis\/[^/]+\/[^/]+)\/./.test(bare);
  if (fault === "cut") return void response.destroy();
  if (fault === "silent") return;
  if (readsObjects && fault === "forbidden") return send(response, 403, recorded.forbidden.bodies[bare] ?? unlike(bare));
  if (readsObjects && fault === "internal-error") return send(response, 500, recorded.internalError.body);
  if (readsObjects && fault === "expired" && path.includes("watch=")) return send(response, 200, recorded.expired.event);
  passOn(call, readsObjects && fault === "empty" ? withQuery(path, "fieldSelector=metadata.name%3Dnothing-has-this-name") : path);
}

/** A read that nobody recorded must not pass for an answer. */
function unlike(path: string): object {
  throw new Error(`no 403 was recorded for ${path}: add it to e2e/recorded/forbidden.json`);
}

function withQuery(path: string, more: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${more}`;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
}

function passOn({ request, response, upstream }: Call, path: string): void {
  const { host: _host, connection: _connection, authorization: _authorization, ...headers } = request.headers;
  const onward = requestUpstream(new URL(path, upstream.url), {
    ...upstream.options,
    method: request.method,
    headers: { ...headers, ...(upstream.options.headers as Record<string, string>) },
  });
  onward.once("response", (answered) => {
    response.writeHead(answered.statusCode ?? 502, answered.headers);
    response.flushHeaders();
    answered.pipe(response);
    answered.once("error", () => response.destroy());
  });
  onward.once("error", () => response.destroy());
  response.once("close", () => onward.destroy());
  request.pipe(onward);
}
