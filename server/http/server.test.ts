import { request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { AppError } from "@/lib/errors";
import type { ApiContext } from "@/server/api/context";
import { appRouter, socketRouter } from "@/server/api/router";
import { createHttpServer } from "./server";
import { createSocketServer, refuseSocket } from "./socket";
import type { SecurityPolicy } from "./security";

const token = "test-token";
let server: Server;
let port: number;
let policy: SecurityPolicy;
let ready = false;
const logged: unknown[] = [];

const context: ApiContext = {
  clusters: {
    list: () => [],
    viewFor: (_person, id) => {
      throw new AppError("not-found", `There is no cluster ${id}`);
    },
  },
  nowMs: () => 0,
  isClosing: () => false,
  logInternal: () => "ref",
  person: { name: "tester" },
};

beforeAll(async () => {
  const sockets = createSocketServer({
    router: socketRouter,
    createContext: () => context,
    policy: () => policy,
    isClosing: () => false,
    onError: (_message, error) => void logged.push(error),
  });
  server = createHttpServer({
    router: appRouter,
    createContext: () => context,
    policy: () => policy,
    isReady: () => ready,
    pages: async (request, response) => {
      response.end(`page ${request.url ?? ""} ${request.headers["content-security-policy"] === undefined ? "without" : "with"} nonce`);
    },
    upgrade: (request, socket, head) => {
      if (!sockets.upgrade(request, socket, head)) refuseSocket(socket, 404, "Nothing is served here");
    },
    development: false,
    onError: (_message, error) => void logged.push(error),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  policy = { hosts: new Set([`127.0.0.1:${port}`]), token };
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Plain {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function send({ method = "GET", path, headers = {}, body }: Plain): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

const json = { authorization: `Bearer ${token}`, "content-type": "application/json" };

const manyCalls = `/trpc/${Array.from({ length: 21 }, () => "cluster.list").join(",")}?batch=1`;

describe("plain requests", () => {
  const cases: { name: string; send: Plain; status: number; text: string | RegExp }[] = [
    { name: "health is open", send: { path: "/healthz" }, status: 200, text: "ok\n" },
    { name: "health of a foreign host is refused", send: { path: "/healthz", headers: { host: "evil.example" } }, status: 421, text: /host/ },
    { name: "not ready yet", send: { path: "/readyz" }, status: 503, text: "not ready\n" },
    { name: "a page needs no token and gets a nonce", send: { path: "/c/x/plugins" }, status: 200, text: "page /c/x/plugins with nonce" },
    { name: "a page whose address does not decode leads nowhere", send: { path: "/c/%E0%A4%A/plugins?q=%E0%A4%A" }, status: 200, text: "page /no-such-page with nonce" },
    { name: "an address of the API that does not decode", send: { path: "/trpc/%E0%A4%A", headers: json }, status: 400, text: /URL-encoding/ },
    { name: "a batch that does not decode", send: { path: "/trpc/cluster.list,%ff?batch=1", headers: json }, status: 400, text: /URL-encoding/ },
    { name: "an input that does not decode", send: { path: "/trpc/cluster.status?input=%E0%A4%A", headers: json }, status: 400, text: /./ },
    { name: "an address of the API that does not decode, without a token", send: { path: "/trpc/%E0%A4%A" }, status: 401, text: /token/ },
    { name: "an unknown procedure without a token is not looked up", send: { path: "/trpc/no.such" }, status: 401, text: /token/ },
    { name: "an unknown procedure with a token", send: { path: "/trpc/no.such", headers: json }, status: 404, text: /no.such/ },
    { name: "a query by GET", send: { path: "/trpc/cluster.list", headers: json }, status: 200, text: /"data":\[\]/ },
    { name: "a query by POST has no such method", send: { method: "POST", path: "/trpc/cluster.list", headers: json, body: "{}" }, status: 405, text: /POST/ },
    { name: "a body without length over the limit", send: { method: "POST", path: "/trpc/cluster.list", headers: { ...json, "transfer-encoding": "chunked" }, body: JSON.stringify("x".repeat(1_100_000)) }, status: 413, text: /./ },
    { name: "a body without length over the limit comes before its batch", send: { method: "POST", path: manyCalls, headers: { ...json, "transfer-encoding": "chunked" }, body: JSON.stringify("x".repeat(1_100_000)) }, status: 413, text: /./ },
    { name: "too many batched calls by POST", send: { method: "POST", path: manyCalls, headers: json, body: "{}" }, status: 400, text: /at most 20 calls/ },
    { name: "too many batched calls by GET", send: { path: manyCalls, headers: json }, status: 400, text: /at most 20 calls/ },
    { name: "bad JSON is a bad request", send: { path: "/trpc/cluster.status?input=%7B", headers: json }, status: 400, text: /./ },
    { name: "an unknown cluster is not found", send: { path: `/trpc/cluster.status?input=${encodeURIComponent('{"cluster":"x"}')}`, headers: json }, status: 404, text: /There is no cluster x/ },
    { name: "a bad input names its field", send: { path: `/trpc/cluster.status?input=${encodeURIComponent('{"cluster":"A B"}')}`, headers: json }, status: 400, text: /"path":"cluster"/ },
    { name: "a bad input is said in words", send: { path: `/trpc/cluster.status?input=${encodeURIComponent('{"cluster":"A B"}')}`, headers: json }, status: 400, text: /"message":"cluster: must be a cluster's slug: a-z, 0-9 and -","code"/ },
  ];
  it.each(cases)("$name", async ({ send: plain, status, text }) => {
    const answer = await send(plain);
    expect(answer.status).toBe(status);
    if (typeof text === "string") expect(answer.text).toBe(text);
    else expect(answer.text).toMatch(text);
    expect(logged).toEqual([]);
  });

  it("is ready once it says so", async () => {
    ready = true;
    expect((await send({ path: "/readyz" })).status).toBe(200);
  });

  it("answers carry no stack and no server internals", async () => {
    const answer = await send({ path: "/trpc/no.such", headers: json });
    expect(answer.text).not.toMatch(/node_modules|at .*\.ts/);
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  });
});

describe("the socket", () => {
  function open(headers: Record<string, string>, path = "/trpc?connectionParams=1"): Promise<number | "open"> {
    return new Promise((resolve) => {
      const client = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
      client.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
      client.on("error", () => {});
      client.on("open", () => {
        client.terminate();
        resolve("open");
      });
    });
  }

  const cases: { name: string; headers: Record<string, string>; path?: string; answer: number | "open" }[] = [
    { name: "a foreign Origin", headers: { origin: "http://evil.example" }, answer: 403 },
    { name: "a foreign Host", headers: { host: "evil.example" }, answer: 421 },
    { name: "another path", headers: {}, path: "/_next/hmr", answer: 404 },
    { name: "our own page", headers: {}, answer: "open" },
  ];
  it.each(cases)("$name", async ({ headers, path, answer }) => {
    expect(await open(headers, path)).toBe(answer);
  });

  it("ends a connection whose token is wrong, with the reason", async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/trpc?connectionParams=1`);
    const messages: string[] = [];
    client.on("message", (data) => messages.push(String(data)));
    client.on("open", () => client.send(JSON.stringify({ method: "connectionParams", data: { token: "wrong" } })));
    await new Promise((resolve) => client.on("close", resolve));
    expect(messages.join()).toMatch(/UNAUTHORIZED/);
  });

  it("says of a cluster that is not there that it is not there, and logs nothing", async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/trpc?connectionParams=1`);
    const answer = new Promise<string>((resolve) => client.on("message", (data) => String(data).includes('"error"') && resolve(String(data))));
    client.on("open", () => {
      client.send(JSON.stringify({ method: "connectionParams", data: { token } }));
      client.send(JSON.stringify({ id: 1, method: "subscription", params: { path: "live.changes", input: { cluster: "x" } } }));
    });
    expect(JSON.parse(await answer)).toMatchObject({ id: 1, error: { message: "There is no cluster x", data: { code: "NOT_FOUND", app: { code: "not-found" } } } });
    expect(logged).toEqual([]);
    client.terminate();
  });

  it("refuses a change by the socket: it carries subscriptions only", async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/trpc?connectionParams=1`);
    const answer = new Promise<string>((resolve) => client.on("message", (data) => resolve(String(data))));
    client.on("open", () => {
      client.send(JSON.stringify({ method: "connectionParams", data: { token } }));
      client.send(JSON.stringify({ id: 1, method: "query", params: { path: "cluster.list" } }));
    });
    expect(await answer).toMatch(/NOT_FOUND/);
    client.terminate();
  });
});

describe("a broken request", () => {
  it("without a Host header is refused", async () => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write("GET /healthz HTTP/1.0\r\n\r\n"));
      let all = "";
      socket.on("data", (chunk) => (all += String(chunk)));
      socket.on("close", () => resolve(all));
    });
    expect(text).toMatch(/^HTTP\/1\.1 421/);
  });
});
