import { afterEach, describe, expect, it } from "vitest";
import { isAppError } from "@/lib/errors";
import { isApiError } from "@/server/cluster/api-error";
import { createApiClient, type ApiClient } from "@/server/cluster/client";
import { openConnection } from "@/server/cluster/connection";
import { json, startFakeApi, statusBody, type FakeAnswer } from "@/server/cluster/fake-api";
import { resourcePath } from "@/server/cluster/resources";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(answer: FakeAnswer, basePath = "") {
  const api = await startFakeApi(answer);
  const client = createApiClient(openConnection({ ...api.context, server: api.context.server + basePath }));
  cleanups.push(() => api.close(), () => client.close());
  return { api, client };
}

async function failure(call: Promise<unknown>) {
  const error: unknown = await call.then(() => undefined, (thrown: unknown) => thrown);
  if (!isAppError(error)) throw new Error(`no AppError: ${String(error)}`);
  return error;
}

const get = (client: ApiClient) => client.get("/api/v1/pods");
const write = (client: ApiClient) => client.create("/api/v1/namespaces/shop/pods", {});

describe("requests", () => {
  const ok: FakeAnswer = (response) => json(response, 200, { kind: "Pod" });
  const path = "/api/v1/namespaces/shop/pods/web";

  it.each([
    { type: "merge" as const, contentType: "application/merge-patch+json" },
    { type: "strategic" as const, contentType: "application/strategic-merge-patch+json" },
    { type: "json" as const, contentType: "application/json-patch+json" },
  ])("patch with the content type of a $type patch", async ({ type, contentType }) => {
    const { api, client } = await open(ok);
    await client.patch(path, { type, body: { a: 1 } }, { dryRun: true, fieldManager: "voldeck", fieldValidation: "Strict" });
    expect(api.requests[0]).toMatchObject({ method: "PATCH", body: '{"a":1}', headers: { "content-type": contentType } });
    expect(api.requests[0]?.url.search).toBe("?dryRun=All&fieldManager=voldeck&fieldValidation=Strict");
  });

  it("go below the path of the server's address", async () => {
    const { api, client } = await open(ok, "/clusters/one/");
    await client.get(path, { query: { resourceVersion: "0", labelSelector: "a in (b,c)" } });
    expect(api.requests[0]?.url.pathname).toBe(`/clusters/one${path}`);
    expect(api.requests[0]?.url.searchParams.get("labelSelector")).toBe("a in (b,c)");
  });

  it("share a connection or two", async () => {
    const ports = new Set<number | undefined>();
    const { client } = await open((response) => {
      ports.add(response.socket?.remotePort);
      json(response, 200, {});
    });
    for (let call = 0; call < 20; call += 1) await client.get(path);
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it("hand on the warnings of the server", async () => {
    const { client } = await open((response) => {
      response.setHeader("warning", ['299 - "spec.a: \\"x\\" is old"', '299 - "second"']);
      json(response, 200, {});
    });
    expect((await client.request({ method: "GET", path })).warnings).toEqual(['spec.a: "x" is old', "second"]);
  });
});

describe("refusals carry the words of the server", () => {
  it.each([
    { status: 400, code: "invalid" },
    { status: 401, code: "forbidden" },
    { status: 403, code: "forbidden" },
    { status: 404, code: "not-found" },
    { status: 405, code: "unsupported" },
    { status: 409, code: "conflict" },
    { status: 410, code: "transient" },
    { status: 412, code: "precondition" },
    { status: 415, code: "unsupported" },
    { status: 422, code: "invalid" },
    { status: 429, code: "transient" },
    { status: 500, code: "transient" },
    { status: 503, code: "transient" },
  ])("$status is $code", async ({ status, code }) => {
    const { client } = await open((response) => json(response, status, statusBody(status, "Reason", `words of ${status}`)));
    expect(await failure(get(client))).toMatchObject({ code, message: `words of ${status}`, httpStatus: status, reason: "Reason" });
  });

  it.each([
    { status: 503, fromApiServer: true, code: "transient" },
    { status: 503, fromApiServer: false, code: "uncertain" },
    { status: 500, fromApiServer: true, code: "uncertain" },
    { status: 504, fromApiServer: true, code: "uncertain" },
    { status: 409, fromApiServer: true, code: "conflict" },
  ])("a write answered with $status (Status: $fromApiServer) is $code", async ({ status, fromApiServer, code }) => {
    const { client } = await open((response) => json(response, status, fromApiServer ? statusBody(status, "", "no") : "no"));
    expect(await failure(write(client))).toMatchObject({ code, httpStatus: status });
  });

  it("429 says when to come again", async () => {
    const { client } = await open((response) => {
      response.setHeader("retry-after", "3");
      json(response, 429, statusBody(429, "TooManyRequests", "later"));
    });
    expect(await failure(get(client))).toMatchObject({ retryAfterMs: 3000 });
  });

  it("a redirect is not followed, and its target is named", async () => {
    const { api, client } = await open((response) => response.writeHead(302, { location: "http://elsewhere/" }).end());
    expect(await failure(get(client))).toMatchObject({
      code: "unsupported",
      message: "the API server answered 302 with a redirect to http://elsewhere/, which is not followed",
    });
    expect(api.requests).toHaveLength(1);
  });

  it.each([200, 502])("a web page with %i is named as one", async (status) => {
    const { client } = await open((response) => response.writeHead(status, { "content-type": "text/html" }).end("<html>Sign in</html>"));
    const error = await failure(get(client));
    expect(error).toMatchObject({ code: "transient", detail: "<html>Sign in</html>" });
    expect(error.message).toContain("with a web page, not with the Kubernetes API");
    expect(error.message).not.toContain("<");
  });
});

describe("limits", () => {
  it("end a read that is not answered in time", async () => {
    const { client } = await open(() => undefined);
    expect(await failure(client.get("/x", { timeoutMs: 30 }))).toMatchObject({ code: "transient", message: "the API server did not answer within 0.03 s" });
  });

  it("end a write that is not answered in time, which is uncertain", async () => {
    const { client } = await open((response) => void response.writeHead(201).write("{"));
    expect(await failure(client.create("/x", {}, { timeoutMs: 30 }))).toMatchObject({ code: "uncertain" });
  });

  it("end an answer that is too large", async () => {
    const { client } = await open((response) => json(response, 200, "x".repeat(5000)));
    expect(await failure(client.get("/x", { maxBytes: 4000 }))).toMatchObject({ code: "unsupported", message: "the API server's answer is larger than 4000 bytes" });
  });

  it("leave an abort by the caller an abort", async () => {
    const controller = new AbortController();
    const { client } = await open(() => controller.abort());
    await expect(client.get("/x", { signal: controller.signal })).rejects.toMatchObject({ code: "ABORT_ERR" });
  });
});

describe("a server that can't be reached", () => {
  it("was never sent a write", async () => {
    const { api, client } = await open(() => undefined);
    await api.close();
    const error = await failure(write(client));
    expect(error.code).toBe("transient");
    expect(error.message).toContain("can't reach the API server: ");
    expect(isApiError(error)).toBe(true);
  });

  it("may have taken a write when it broke off", async () => {
    const { client } = await open((response) => response.socket?.destroy());
    expect(await failure(write(client))).toMatchObject({ code: "uncertain" });
  });
});

describe("resourcePath", () => {
  it.each([
    { resource: "pods" as const, at: { namespace: "shop", name: "web", subresource: "resize" as const }, path: "/api/v1/namespaces/shop/pods/web/resize" },
    { resource: "pods" as const, at: {}, path: "/api/v1/pods" },
    { resource: "csinodes" as const, at: { name: "n1" }, path: "/apis/storage.k8s.io/v1/csinodes/n1" },
    { resource: "nodes" as const, at: { name: "a b?" }, path: "/api/v1/nodes/a%20b%3F" },
  ])("gives $path", ({ resource, at, path }) => {
    expect(resourcePath(resource, at)).toBe(path);
  });

  it.each(["", ".", "..", "a/b"])("refuses the name %j", (name) => {
    expect(() => resourcePath("pods", { namespace: "shop", name })).toThrow("name: ");
  });

  it("refuses a name without its namespace", () => {
    expect(() => resourcePath("pods", { name: "web" })).toThrow("namespace: is required for pods web");
  });
});
