/** For tests: a small API server over http on loopback that answers each request as its script says. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ClusterContext } from "@/server/cluster/kubeconfig";

export interface FakeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly isWatch: boolean;
}

export type FakeAnswer = (response: ServerResponse, request: FakeRequest) => void;

export interface FakeApi {
  readonly context: ClusterContext;
  readonly requests: readonly FakeRequest[];
  close(): Promise<void>;
}

export async function startFakeApi(answer: FakeAnswer): Promise<FakeApi> {
  const requests: FakeRequest[] = [];
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const url = new URL(message.url ?? "/", "http://fake");
      const request = {
        method: message.method ?? "",
        url,
        headers: message.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        isWatch: url.searchParams.get("watch") === "true",
      };
      requests.push(request);
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { context: contextFor(server), requests, close: () => closeServer(server) };
}

function contextFor(server: Server): ClusterContext {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    slug: "fake-000000",
    name: "fake",
    server: address,
    userName: "tester",
    kubectlFlags: [],
    namespace: undefined,
    cluster: { name: "fake", server: address, skipTLSVerify: false },
    user: { name: "tester" },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

export function listBody(items: readonly unknown[], resourceVersion: string, resumeAt?: string): unknown {
  return { kind: "List", apiVersion: "v1", metadata: { resourceVersion, ...(resumeAt ? { continue: resumeAt } : {}) }, items };
}

export function statusBody(code: number, reason: string, message: string): unknown {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}

/** Begins a watch answer; the test writes events and ends or breaks it. */
export function openWatch(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  return response;
}

export function writeEvent(response: ServerResponse, type: string, object: unknown): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}
