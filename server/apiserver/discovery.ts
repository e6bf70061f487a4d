/** Health, version and discovery documents, and the OpenAPI documents that kubectl reads. */
import { createHash } from "node:crypto";
import { newObject, stringifyJson, type Json, type JsonObject } from "@/lib/kube/json";
import type { ApiResponse, ServerContext } from "./context";
import { apiVersionOf, type Kind } from "./kinds";
import { openApiV2, openApiV3, openApiV3Index } from "./openapi";
import type { ApiRequest } from "./request";

/** The answer for a path that names no object, or undefined. */
export function answerDiscovery(context: ServerContext, request: ApiRequest): ApiResponse | undefined {
  if (request.method !== "GET") return undefined;
  const path = request.path.length > 1 ? request.path.replace(/\/$/u, "") : request.path;
  if (["/healthz", "/readyz", "/livez"].includes(path)) return text("ok");
  const document = documentAt(context, path);
  return document === undefined ? undefined : json(document);
}

function text(body: string): ApiResponse {
  return { code: 200, contentType: "text/plain; charset=utf-8", body, warnings: [] };
}

function json(object: JsonObject): ApiResponse {
  return { code: 200, contentType: "application/json", body: `${stringifyJson(object)}\n`, warnings: [], object };
}

function documentAt({ kinds }: ServerContext, path: string): JsonObject | undefined {
  const all = kinds.all();
  if (path === "/version") return version;
  if (path === "/api") return newObject([["kind", "APIVersions"], ["versions", ["v1"]], ["serverAddressByClientCIDRs", []]]);
  if (path === "/apis") return groupList(all);
  if (path === "/openapi/v2") return openApiV2(all);
  if (path === "/openapi/v3") return openApiV3Index(all);
  if (path.startsWith("/openapi/v3/")) return openApiV3(all, path.slice("/openapi/v3/".length));
  const group = /^\/apis\/([^/]+)$/u.exec(path)?.[1];
  if (group !== undefined) return groupAt(all, group);
  const listed = path === "/api/v1" ? "v1" : /^\/apis\/([^/]+\/[^/]+)$/u.exec(path)?.[1];
  return listed === undefined ? undefined : resourceList(all, listed);
}

const version = newObject([
  ["major", "1"],
  ["minor", "37"],
  ["gitVersion", "v1.37.2"],
  ["gitCommit", ""],
  ["gitTreeState", "clean"],
  ["buildDate", "1970-01-01T00:00:00Z"],
  ["goVersion", ""],
  ["compiler", ""],
  ["platform", "linux/amd64"],
]);

function groupsOf(kinds: readonly Kind[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, version: name } of kinds) {
    if (group === "") continue;
    const versions = groups.get(group) ?? [];
    if (!versions.includes(name)) versions.push(name);
    groups.set(group, versions);
  }
  return groups;
}

function groupEntry(name: string, versions: readonly string[]): JsonObject {
  const entries = versions.map((one) => newObject([["groupVersion", `${name}/${one}`], ["version", one]]));
  return newObject([["name", name], ["versions", entries], ["preferredVersion", entries[0]]]);
}

function groupList(kinds: readonly Kind[]): JsonObject {
  const groups = [...groupsOf(kinds)].map(([name, versions]): Json => groupEntry(name, versions));
  return newObject([["kind", "APIGroupList"], ["apiVersion", "v1"], ["groups", groups]]);
}

function groupAt(kinds: readonly Kind[], name: string): JsonObject | undefined {
  const versions = groupsOf(kinds).get(name);
  return versions === undefined ? undefined : newObject([["kind", "APIGroup"], ["apiVersion", "v1"], ...Object.entries(groupEntry(name, versions))]);
}

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function resourceList(kinds: readonly Kind[], groupVersion: string): JsonObject | undefined {
  const listed = kinds.filter((kind) => apiVersionOf(kind) === groupVersion);
  if (listed.length === 0) return undefined;
  const entries: [string, Json][] = [["kind", "APIResourceList"]];
  if (groupVersion !== "v1") entries.push(["apiVersion", "v1"]);
  return newObject([...entries, ["groupVersion", groupVersion], ["resources", listed.flatMap(resourceEntries)]]);
}

function resourceEntries(kind: Kind): Json[] {
  const withoutCollection = kind.resource === "namespaces" && kind.group === "";
  const main = newObject([
    ["name", kind.resource],
    ["singularName", kind.singular],
    ["namespaced", kind.namespaced],
    ["kind", kind.kind],
    ["verbs", withoutCollection ? verbs.filter((verb) => verb !== "deletecollection") : verbs],
  ]);
  if (kind.shortNames.length > 0) main["shortNames"] = [...kind.shortNames];
  main["storageVersionHash"] = createHash("sha256").update(`${kind.group}/${kind.version}/${kind.kind}`).digest().subarray(0, 8).toString("base64");
  if (kind.categories.length > 0) main["categories"] = [...kind.categories];
  const subresources = kind.subresources.map((name): Json =>
    newObject([
      ["name", `${kind.resource}/${name}`],
      ["singularName", ""],
      ["namespaced", kind.namespaced],
      ["kind", kind.kind],
      ["verbs", name === "finalize" ? ["update"] : ["get", "patch", "update"]],
    ]),
  );
  return [main, ...subresources];
}
