import { once } from "node:events";
import { mkdtemp, readFile, readdir, rmdir, stat, unlink } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startApiServer, type ApiServer } from "./server";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = {
  nowMs: () => Date.now(),
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true })),
};

interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

class Client {
  constructor(
    private readonly server: ApiServer,
    readonly ca: string,
    readonly token: string,
  ) {}

  send(method: string, target: string, options: { body?: unknown; token?: string; type?: string; onData?: (text: string, stop: () => void) => void } = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const body = options.body === undefined ? undefined : JSON.stringify(options.body);
      const headers = { authorization: `Bearer ${options.token ?? this.token}`, "content-type": options.type ?? "application/json" };
      const request = httpsRequest(new URL(target, this.server.url), { method, ca: this.ca, headers, agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString("utf8");
          options.onData?.(text, () => request.destroy());
        });
        const done = (): void => resolve({ code: response.statusCode ?? 0, headers: response.headers, body: text });
        response.on("end", done);
        response.on("error", done);
      });
      request.on("error", reject);
      request.end(body);
    });
  }
}

describe("startApiServer", () => {
  let folder: string;
  let server: ApiServer;
  let client: Client;

  async function start(readOnly = false): Promise<void> {
    server = await startApiServer({ dataFolder: folder, clock, log, readOnly });
    const kept = (name: string): Promise<string> => readFile(path.join(folder, "apiserver", name), "utf8");
    client = new Client(server, await kept("ca.crt"), await kept("token"));
  }

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "voldeck-api-"));
    await start();
  });

  afterEach(async () => {
    await server.close();
    const own = path.join(folder, "apiserver");
    for (const name of await readdir(own)) await unlink(path.join(own, name));
    await rmdir(own);
    await rmdir(folder);
  });

  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
  const configMaps = "/api/v1/namespaces/default/configmaps";

  it.each([
    { megabytes: 5, what: "that says its length", chunked: false },
    // More than the buffers of a socket hold: a server that reads no further would never get all of it.
    { megabytes: 30, what: "that says its length", chunked: false },
    { megabytes: 30, what: "in chunks", chunked: true },
  ])("answers a body of $megabytes MB $what with 413, which its sender can read", async ({ megabytes, chunked }) => {
    const body = Buffer.alloc(megabytes * 1_000_000, 0x20);
    const { port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: "127.0.0.1", ca: client.ca });
    await once(socket, "secureConnect");
    const length = chunked ? "transfer-encoding: chunked" : `content-length: ${body.length}`;
    socket.write(`POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${client.token}\r\ncontent-type: application/json\r\n${length}\r\nconnection: close\r\n\r\n`);
    // All of it is sent before anything is read, as simple clients do.
    const sent = chunked ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]) : body;
    await new Promise<void>((resolve, reject) => socket.write(sent, (error) => (error ? reject(error) : resolve())));
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n")))).toMatchObject({ kind: "Status", reason: "RequestEntityTooLarge", message: "Request entity too large: limit is 3145728" });
    expect((await client.send("GET", "/healthz")).code).toBe(200);
  });

  it("is reached over TLS of its own authority and answers 401 without the token", async () => {
    expect((await client.send("GET", "/healthz", { token: "wrong" })).body).toBe("ok");
    const refused = await client.send("GET", "/api/v1/pods", { token: "wrong" });
    expect(refused.code).toBe(401);
    expect(JSON.parse(refused.body)).toMatchObject({ kind: "Status", reason: "Unauthorized", code: 401 });
  });

  it("keeps its secrets readable for its owner alone", async () => {
    for (const name of ["token", "ca.key", "kubeconfig"]) {
      expect((await stat(path.join(folder, "apiserver", name))).mode & 0o777).toBe(0o600);
    }
  });

  it("keeps objects, revisions and the token over a restart", async () => {
    const made = JSON.parse((await client.send("POST", configMaps, { body: configMap })).body);
    const { token } = client;
    await server.close();
    await start();
    expect(client.token).toBe(token);
    const read = JSON.parse((await client.send("GET", `${configMaps}/a`)).body);
    expect(read).toEqual(made);
    const next = JSON.parse((await client.send("PATCH", `${configMaps}/a`, { body: { data: { k: "w" } }, type: "application/merge-patch+json" })).body);
    expect(Number(next.metadata.resourceVersion)).toBe(Number(made.metadata.resourceVersion) + 1);
  });

  it("streams initial objects, then changes, as lines of JSON", async () => {
    await client.send("POST", configMaps, { body: configMap });
    const seen = client.send("GET", `${configMaps}?watch=true`, {
      onData: (text, stop) => {
        const lines = text.trim().split("\n").length;
        if (lines === 1) void client.send("DELETE", `${configMaps}/a`);
        if (lines === 2) stop();
      },
    });
    const events = (await seen).body.trim().split("\n").map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
    expect(events[1].object.metadata.name).toBe("a");
  });

  it("refuses changes where it is read-only", async () => {
    await server.close();
    await start(true);
    expect((await client.send("POST", configMaps, { body: configMap })).code).toBe(405);
    expect((await client.send("GET", configMaps)).code).toBe(200);
  });
});
