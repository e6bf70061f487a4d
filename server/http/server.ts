/**
 * The HTTP server's parts put together: security before everything, then health, tRPC and the pages. Pages are handed in:
 * this folder knows no page framework.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { nodeHTTPRequestHandler } from "@trpc/server/adapters/node-http";
import type { ApiContext } from "@/server/api/context";
import type { AppRouter } from "@/server/api/router";
import {
  apiPrefix,
  commonHeaders,
  contentSecurityPolicy,
  isApiPath,
  maxBatchedCalls,
  maxBodyBytes,
  refuseBatch,
  refuseRequest,
  tooLarge,
  type Refusal,
  type RequestFacts,
  type SecurityPolicy,
} from "./security";

export interface HttpParts {
  readonly router: AppRouter;
  readonly createContext: () => ApiContext;
  /** Read per request: the port, and so the hosts, are known only once the server listens. */
  readonly policy: () => SecurityPolicy;
  readonly isReady: () => boolean;
  readonly pages: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly development: boolean;
  readonly onError: (message: string, error: unknown) => void;
}

export function createHttpServer(parts: HttpParts): Server {
  const server = createServer({ requestTimeout: 60_000, headersTimeout: 20_000 }, (request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      parts.onError(`${request.method ?? "?"} ${request.url ?? "?"}`, error);
      if (response.headersSent) response.destroy();
      else sendText(response, 500, "Something failed inside Voldeck; its log has the details");
    });
  });
  server.on("upgrade", parts.upgrade);
  return server;
}

export function factsOf(request: IncomingMessage): RequestFacts {
  const target = request.url ?? "/";
  const query = target.indexOf("?");
  return {
    method: request.method ?? "GET",
    path: query === -1 ? target : target.slice(0, query),
    headers: request.headers,
  };
}

async function answer(parts: HttpParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(commonHeaders)) response.setHeader(name, value);
  const facts = factsOf(request);
  const refusal = refuseRequest(parts.policy(), facts);
  if (refusal) return refuse(request, response, refusal);
  if (facts.path === "/healthz") return sendText(response, 200, "ok");
  if (facts.path === "/readyz") return parts.isReady() ? sendText(response, 200, "ok") : sendText(response, 503, "not ready");
  if (isApiPath(facts.path)) {
    const body = request.method === "POST" ? await readBody(request) : "";
    const refused = body === undefined ? tooLarge : refuseBatch(facts.path);
    if (refused) return refuse(request, response, refused);
    return answerApi(parts, { request: Object.assign(request, { body }), response, path: facts.path });
  }
  // The page framework answers an address that does not decode with a bare error: it is shown as what it is, a page that is not there.
  if (!decodes(facts.path)) request.url = "/no-such-page";
  const nonce = randomBytes(16).toString("base64");
  const policy = contentSecurityPolicy(nonce, parts.development);
  // The page framework takes the nonce for its own scripts from this header of the request.
  request.headers["content-security-policy"] = policy;
  response.setHeader("content-security-policy", policy);
  await parts.pages(request, response);
}

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

interface ApiCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
}

async function answerApi(parts: HttpParts, { request, response, path }: ApiCall): Promise<void> {
  response.setHeader("cache-control", "no-store");
  await nodeHTTPRequestHandler({
    router: parts.router,
    req: request,
    res: response,
    path: path.slice(apiPrefix.length + 1),
    createContext: () => parts.createContext(),
    maxBatchSize: maxBatchedCalls,
    onError: ({ error, path: procedure }) => {
      if (error.code === "INTERNAL_SERVER_ERROR") parts.onError(`tRPC ${procedure ?? "?"}`, error);
    },
  });
}

/** The whole body as text; undefined as soon as it passes the limit, whatever its headers said. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    lengthBytes += chunk.length;
    if (lengthBytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The connection ends after a refused body: what is still to come is not read as a next request. */
function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  for (const [name, value] of Object.entries(refusal.headers ?? {})) response.setHeader(name, value);
  if (request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined) {
    response.setHeader("connection", "close");
    request.resume();
  }
  sendText(response, refusal.status, refusal.message);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${text}\n`);
}
