/**
 * The embedded Kubernetes API server: HTTPS on loopback, in front of the store. Started by the composition root alone; everybody else
 * reaches it as any client does, through the kubeconfig that it writes.
 */
import { createHash, randomInt, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { messageOf } from "@/lib/errors";
import { makeServerCertificate } from "./certificates";
import type { ApiResponse, Clock, ServerContext, WatchStream } from "./context";
import { handleRequest } from "./handle";
import { loadAuthority, loadToken, makePrivateFolder, writeKubeconfig } from "./identity";
import { KindTable } from "./kinds";
import { watchManifests, type ManifestWatch } from "./manifest-watch";
import { keepRemovingOldEvents } from "./event-age";
import { keepSweeping } from "./namespace-end";
import { ensureNamespaces } from "./namespaces";
import { splitRequestTarget, type ApiRequest } from "./request";
import { respondError } from "./respond";
import { entityTooLarge, isApiError, statusError, unauthorized, type ApiError } from "./status";
import { Store } from "./store";
import { Warnings } from "./warnings";

export interface Log {
  info(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  warn(message: string, fields?: Readonly<Record<string, string | number | boolean>>): void;
  error(message: string, error: unknown, fields?: Readonly<Record<string, string | number | boolean>>): void;
}

export interface ApiServerOptions {
  /** Everything the server keeps lies in `apiserver` below this folder. */
  readonly dataFolder: string;
  /** A folder of YAML and JSON manifests, applied at the start and watched. */
  readonly manifestsFolder?: string;
  /** 0, the default: any free port. */
  readonly port?: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Refuses every change by a client (405); manifests are still applied. */
  readonly readOnly?: boolean;
}

export interface ApiServer {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  readonly kubeconfigPath: string;
  /** What became of the manifests: errors with file and line, and changes that wait for a person. */
  readonly manifests: ManifestWatch | undefined;
  close(): Promise<void>;
}

const maxBodyBytes = 3 * 1024 * 1024;
const maxDrainedBytes = 64 * 1024 * 1024;
const maxBacklogBytes = 64 * 1024 * 1024;

/** Starts the server; it is reachable and the manifests are applied when the promise resolves. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const folder = path.join(options.dataFolder, "apiserver");
  await makePrivateFolder(folder);
  const nowMs = options.clock.nowMs();
  const authority = await loadAuthority(folder, nowMs);
  const token = await loadToken(folder);
  const context = makeContext(options, new Store({ file: path.join(folder, "objects.sqlite") }));
  ensureNamespaces(context);
  const manifests = options.manifestsFolder === undefined ? undefined : await watchManifests(context, options.manifestsFolder, options.log);
  const stops = options.readOnly === true ? [] : [keepSweeping(context), keepRemovingOldEvents(context)];
  const certificate = await makeServerCertificate(authority, nowMs);
  const front = new Front(context, token, options.log);
  const server = createServer({ key: certificate.key, cert: certificate.certificate + authority.certificate, ALPNProtocols: ["http/1.1"] }, (request, response) => {
    void front.serve(request, response);
  });
  server.keepAliveTimeout = 90_000;
  try {
    await listen(server, options.port ?? 0);
  } catch (error) {
    for (const stop of stops) stop();
    manifests?.close();
    context.store.close();
    throw error;
  }
  const url = `https://127.0.0.1:${portOf(server)}`;
  const kubeconfigPath = await writeKubeconfig(folder, { url, token, authority: authority.certificate });
  options.log.info("embedded API server listens", { port: portOf(server) });
  return { url, kubeconfigPath, manifests, close: () => close(server, front, context, [...stops, () => manifests?.close()]) };
}

function makeContext(options: ApiServerOptions, store: Store): ServerContext {
  const letters = "bcdfghjklmnpqrstvwxz2456789";
  return {
    store,
    kinds: new KindTable(store.listFacts("kind/").map((text): unknown => JSON.parse(text))),
    clock: options.clock,
    newUid: () => randomUUID(),
    newSuffix: () => Array.from({ length: 5 }, () => letters.charAt(randomInt(letters.length))).join(""),
    findNode: (name) => store.get({ group: "", resource: "nodes", namespace: "", name })?.object,
    gates: new Map(),
    readOnly: options.readOnly ?? false,
    allowPrivileged: true,
    checkNamespaces: true,
    defaultServiceAccount: true,
    retryTooLargeSeconds: 1,
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function close(server: Server, front: Front, context: ServerContext, stops: readonly (() => void)[]): Promise<void> {
  for (const stop of stops) stop();
  front.stop();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
  context.store.close();
}

/** What stands between the socket and the verbs: the token, the size of bodies, streams. */
class Front {
  private readonly stopped = new AbortController();
  private readonly tokenHash: Buffer;

  constructor(
    private readonly context: ServerContext,
    token: string,
    private readonly log: Log,
  ) {
    this.tokenHash = hash(token);
  }

  stop(): void {
    this.stopped.abort();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.answer(request);
      if (answer.stream === undefined) send(response, answer);
      else await this.stream(response, answer, answer.stream);
    } catch (error) {
      this.log.error("request failed", error, { method: request.method ?? "", path: request.url ?? "" });
      response.destroy();
    }
  }

  private async answer(request: IncomingMessage): Promise<ApiResponse> {
    const asked = splitRequestTarget(request.url ?? "/");
    if (asked === undefined) return { code: 400, contentType: "text/plain; charset=utf-8", body: "400 Bad Request", warnings: [] };
    const refused = this.refusal(request, asked.path);
    if (refused !== undefined) return respondError(refused, new Warnings(), "application/json");
    try {
      return handleRequest(this.context, await toRequest(request, asked));
    } catch (error) {
      if (isApiError(error)) return respondError(error, new Warnings(), "application/json");
      throw error;
    }
  }

  private refusal(request: IncomingMessage, pathname: string): ApiError | undefined {
    if (["/healthz", "/readyz", "/livez"].includes(pathname)) return undefined;
    const given = /^Bearer (.+)$/u.exec(request.headers.authorization ?? "")?.[1];
    if (given !== undefined && timingSafeEqual(hash(given), this.tokenHash)) return undefined;
    return unauthorized("Unauthorized");
  }

  private async stream(response: ServerResponse, answer: ApiResponse, stream: WatchStream): Promise<void> {
    const left = new AbortController();
    response.on("close", () => left.abort());
    this.stopped.signal.addEventListener("abort", () => left.abort(), { once: true, signal: left.signal });
    response.writeHead(answer.code, headersOf(answer));
    response.flushHeaders();
    await stream.run((text) => {
      response.write(text);
      // A client that does not read is cut off; it lists again.
      if (response.writableLength > maxBacklogBytes) response.destroy();
    }, left.signal);
    response.end();
  }
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}

async function toRequest(request: IncomingMessage, asked: Pick<ApiRequest, "path" | "query">): Promise<ApiRequest> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  return { method: request.method ?? "GET", ...asked, headers, body: await readBody(request) };
}

/**
 * What is too much is read all the same, and thrown away: a client that still sends would find the connection closed and never read why.
 * Past `maxDrainedBytes` nobody sends in good faith.
 */
function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const refuse = () => reject(entityTooLarge(`limit is ${maxBodyBytes}`));
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > maxDrainedBytes) refuse();
    });
    request.once("end", () => (bytes > maxBodyBytes ? refuse() : resolve(Buffer.concat(chunks))));
    request.once("error", (error) => reject(statusError(400, "BadRequest", messageOf(error))));
  });
}

function headersOf(answer: ApiResponse): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { "content-type": answer.contentType, "cache-control": "no-cache, private" };
  if (answer.warnings.length > 0) headers["warning"] = [...answer.warnings];
  if (answer.retryAfter !== undefined) headers["retry-after"] = answer.retryAfter;
  return headers;
}

function send(response: ServerResponse, answer: ApiResponse): void {
  const body = Buffer.from(answer.body, "utf8");
  response.writeHead(answer.code, { ...headersOf(answer), "content-length": String(body.length) });
  response.end(body);
}
