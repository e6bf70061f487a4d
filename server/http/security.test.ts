import { describe, expect, it } from "vitest";
import { maxBatchedCalls, refuseBatch, refuseRequest, refuseUpgrade, type RequestFacts, type SecurityPolicy } from "./security";

const token = "t0ken-of-this-start";
const policy: SecurityPolicy = { hosts: new Set(["127.0.0.1:7480", "localhost:7480"]), token };
const good = { host: "127.0.0.1:7480", authorization: `Bearer ${token}`, "content-type": "application/json" };

function post(headers: RequestFacts["headers"], path = "/trpc/plugin.list"): RequestFacts {
  return { method: "POST", path, headers };
}

describe("refuseRequest", () => {
  const cases: { name: string; request: RequestFacts; status: number | undefined }[] = [
    { name: "a foreign Host comes before everything", request: post({ host: "evil.example" }), status: 421 },
    { name: "a missing Host", request: post({}), status: 421 },
    { name: "our address with another port", request: post({ ...good, host: "127.0.0.1:80" }), status: 421 },
    { name: "a foreign Host at /healthz", request: { method: "GET", path: "/healthz", headers: { host: "x" } }, status: 421 },
    { name: "a Host in capitals is ours", request: post({ ...good, host: "LOCALHOST:7480" }), status: undefined },
    { name: "a foreign Origin comes before the token", request: post({ host: good.host, origin: "http://evil.example" }), status: 403 },
    { name: "Origin null", request: post({ ...good, origin: "null" }), status: 403 },
    { name: "Origin with another scheme", request: post({ ...good, origin: "https://127.0.0.1:7480" }), status: 403 },
    { name: "our own Origin", request: post({ ...good, origin: "http://127.0.0.1:7480" }), status: undefined },
    { name: "a foreign Origin on a page", request: { method: "GET", path: "/", headers: { host: good.host, origin: "http://x" } }, status: 403 },
    { name: "no token comes before a wrong method", request: { method: "PUT", path: "/trpc/a", headers: { host: good.host } }, status: 401 },
    { name: "a wrong token", request: post({ ...good, authorization: "Bearer nope" }), status: 401 },
    { name: "a token as another scheme", request: post({ ...good, authorization: `Basic ${token}` }), status: 401 },
    { name: "a wrong method comes before a wrong content type", request: { method: "DELETE", path: "/trpc/a", headers: { ...good, "content-type": "text/plain" } }, status: 405 },
    { name: "a form comes before its size", request: post({ ...good, "content-type": "application/x-www-form-urlencoded", "content-length": "2000000" }), status: 415 },
    { name: "no content type", request: post({ host: good.host, authorization: good.authorization }), status: 415 },
    { name: "JSON with a charset", request: post({ ...good, "content-type": "application/json; charset=utf-8" }), status: undefined },
    { name: "a body over the limit comes before the batch", request: post({ ...good, "content-length": "1000001" }, batch(99)), status: 413 },
    { name: "a query by GET", request: { method: "GET", path: "/trpc/plugin.list", headers: good }, status: undefined },
    { name: "a page without a token", request: { method: "GET", path: "/c/x/plugins", headers: { host: good.host } }, status: undefined },
    { name: "a page by POST", request: { method: "POST", path: "/c/x/plugins", headers: { host: good.host } }, status: 405 },
    { name: "a path that only begins like the API is a page", request: { method: "GET", path: "/trpcx", headers: { host: good.host } }, status: undefined },
  ];
  it.each(cases)("$name", ({ request, status }) => {
    expect(refuseRequest(policy, request)?.status).toBe(status);
  });
});

describe("refuseBatch", () => {
  it.each([
    { name: "too many calls", path: batch(maxBatchedCalls + 1), status: 400 },
    { name: "too many calls with encoded commas", path: batch(maxBatchedCalls + 1).replaceAll(",", "%2C"), status: 400 },
    { name: "as many calls as are allowed", path: batch(maxBatchedCalls), status: undefined },
  ])("$name", ({ path, status }) => {
    expect(refuseBatch(path)?.status).toBe(status);
  });
});

describe("refuseUpgrade", () => {
  it.each([
    { name: "a foreign Host", headers: { host: "x" }, status: 421 },
    { name: "a foreign Origin", headers: { host: good.host, origin: "http://evil.example" }, status: 403 },
    { name: "our own page", headers: { host: good.host, origin: "http://127.0.0.1:7480" }, status: undefined },
  ])("$name", ({ headers, status }) => {
    expect(refuseUpgrade(policy, { method: "GET", path: "/trpc", headers })?.status).toBe(status);
  });
});

function batch(calls: number): string {
  return `/trpc/${Array.from({ length: calls }, () => "plugin.list").join(",")}`;
}
