/** Requests on ConfigMaps and Secrets: every verb, patch type and option, on kinds that no controller touches. */
import { get, json, label, labelled, merge, metadataList, metadataOnly, patch, post, put, recalled, remove, strategic, table, type Case } from "./case";

interface Settings {
  readonly name?: string;
  readonly [key: string]: unknown;
}

function map(name: string, more: Settings = {}, metadata: Record<string, unknown> = {}): unknown {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: label, ...metadata }, ...more };
}

export function settingsCases(namespace: string): Case[] {
  const all = `/api/v1/namespaces/${namespace}/configmaps`;
  const one = `${all}/api-one`;
  return [
    get("a ConfigMap that is not there", one),
    post("create on trial", `${all}?dryRun=All`, map("api-one", { data: { a: "1" } })),
    get("a trial leaves nothing", one),
    post("an unknown dryRun value", `${all}?dryRun=Some`, map("api-one")),
    post("create", all, map("api-one", { data: { a: "1", b: "2" } })),
    post("create twice", all, map("api-one")),
    post("a namespace that is not there", "/api/v1/namespaces/api-nowhere/configmaps", map("api-one")),
    post("another namespace in the body", all, map("api-two", {}, { namespace: "default" })),
    post("a bad name", all, map("Api_One")),
    post("no name", all, { apiVersion: "v1", kind: "ConfigMap", metadata: { labels: label } }),
    post("a generated name", `${all}?dryRun=All`, { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "api_" } }),
    post("a bad label", all, map("api-two", {}, { labels: { "a b": "c" } })),
    post("a bad label value", all, map("api-two", {}, { labels: { a: "c d" } })),
    post("a bad annotation", all, map("api-two", {}, { annotations: { "/": "c" } })),
    post("a bad finalizer", all, map("api-two", {}, { finalizers: ["x y"] })),
    post("a bad key", all, map("api-two", { data: { "a/b": "1" } })),
    post("a key twice", all, map("api-two", { data: { a: "1" }, binaryData: { a: "MQ==" } })),
    post("wrong base64", all, map("api-two", { binaryData: { a: "!" } })),
    post("a wrong type", all, map("api-two", { data: { a: 1 } })),
    post("another kind", all, { apiVersion: "v1", kind: "Secret", metadata: { name: "api-two" } }),
    post("no kind", `${all}?dryRun=All`, { metadata: { name: "api-two" } }),
    post("another version", all, { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "api-two" } }),
    post("no JSON", all, "{"),
    post("an empty body", all, ""),
    post("a media type nobody knows", all, "{}", { "content-type": "text/plain" }),
    post("YAML", all, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: api-yaml\n  labels: {voldeck-api-test: '1'}\ndata: {a: b}\n", { "content-type": "application/yaml" }),
    post("YAML of the old rules", `${all}?dryRun=All`, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: api-odd\n  annotations: &odd {yes: '1', 0400: '2', \"on\": 'no', a: '1:20', b: 0x1F.}\n  labels: {<<: {a: '0o7'}, b: 'y'}\nimmutable: off\n", { "content-type": "application/yaml" }),
    post("YAML with a key twice, strictly", `${all}?dryRun=All&fieldValidation=Strict`, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: api-odd\ndata: {a: '1', b: '2', a: '3'}\n", { "content-type": "application/yaml" }),
    post("YAML with a key twice, with a warning", `${all}?dryRun=All`, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: api-odd\ndata:\n  a: '1'\n  a: '3'\n", { "content-type": "application/yaml" }),
    post("YAML with a truth value for a text", `${all}?dryRun=All`, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: api-odd\ndata: {a: off}\n", { "content-type": "application/yaml" }),
    post("YAML of an anchor that is not there", `${all}?dryRun=All`, "a: *b\n", { "content-type": "application/yaml" }),
    post("odd texts", all, map("api-odd", { data: { yes: "no", "0400": "0o17", a: "1:20", b: "2001-12-14", c: "<<", d: "~", e: "1_0" } })),
    get("odd texts as YAML", `${all}/api-odd`, { accept: "application/yaml" }),
    post("a third", all, map("api-zz")),
    post("an unknown field, strictly", `${all}?fieldValidation=Strict`, map("api-two", { more: 1 })),
    post("an unknown field, with a warning", `${all}?fieldValidation=Warn&dryRun=All`, map("api-two", { more: 1 })),
    post("an unknown field, ignored", `${all}?fieldValidation=Ignore&dryRun=All`, map("api-two", { more: 1 })),
    post("a field twice, strictly", `${all}?fieldValidation=Strict`, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"api-two"},"data":{"a":"1","a":"2"}}'),
    post("an unknown fieldValidation", `${all}?fieldValidation=Loose`, map("api-two")),
    { ...get("read", one), remember: "one" },
    get("as a table", one, table),
    get("as a table with the object", `${one}?includeObject=Object`, table),
    get("as a table without objects", `${all}?${labelled}&includeObject=None`, table),
    get("an unknown includeObject", `${one}?includeObject=All`, table),
    get("metadata alone", one, metadataOnly),
    get("a list's metadata alone", `${all}?${labelled}`, metadataList),
    get("a form nobody offers", one, { accept: "text/plain" }),
    get("as YAML", one, { accept: "application/yaml" }),
    get("pretty", `${one}?pretty=true`),
    get("list", `${all}?${labelled}`),
    get("list as a table", `${all}?${labelled}`, table),
    get("select by set", `${all}?labelSelector=voldeck-api-test+in+(1,2)`),
    get("a bad label selector", `${all}?labelSelector=a+in+b`),
    get("select by field", `${all}?fieldSelector=metadata.name%3Dapi-one&${labelled}`),
    get("a field nobody selects by", `${all}?fieldSelector=data.a%3D1`),
    get("a bad limit", `${all}?limit=x`),
    { ...get("the first chunk", `${all}?${labelled}&limit=1`), remember: "chunk" },
    {
      title: "the next chunk",
      request: (memory) => ({ method: "GET", path: `${all}?${labelled}&limit=1&continue=${recalled(memory, "chunk", "metadata", "continue")}` }),
    },
    get("a broken continue token", `${all}?continue=abc`),
    get("a version match without a version", `${all}?resourceVersionMatch=Exact`),
    get("a bad resource version", `${all}?resourceVersion=abc&resourceVersionMatch=NotOlderThan`),
    patch("merge patch", one, merge, { data: { b: null, c: "3" } }),
    patch("strategic merge patch", one, strategic, { metadata: { annotations: { note: "x" } }, data: { d: "4" } }),
    patch("JSON patch", one, json, [{ op: "add", path: "/data/e", value: "5" }, { op: "remove", path: "/data/c" }]),
    patch("a JSON patch whose test fails", one, json, [{ op: "test", path: "/data/e", value: "6" }]),
    patch("a JSON patch of a path that is not there", one, json, [{ op: "remove", path: "/data/zzz" }]),
    patch("a JSON patch that is none", one, json, { op: "x" }),
    patch("a merge patch that is none", one, merge, "[1]"),
    patch("an unknown patch type", one, { "content-type": "application/json" }, {}),
    patch("a patch that renames", one, merge, { metadata: { name: "api-other" } }),
    patch("a patch of what is not there", `${all}/api-none`, merge, { data: {} }),
    patch("a patch that changes nothing", one, merge, {}),
    patch("a patch on trial", `${one}?dryRun=All`, merge, { data: { trial: "1" } }),
    patch("a patch with an unknown field, strictly", `${one}?fieldValidation=Strict`, merge, { more: 1 }),
    patch("a patch with a wrong type", one, merge, { data: { a: 1 } }),
    patch("force with a merge patch", `${one}?force=true`, merge, {}),
    put("replace", one, map("api-one", { data: { z: "26" } })),
    {
      title: "replace an old version",
      request: (memory) => ({ method: "PUT", path: one, body: map("api-one", {}, { resourceVersion: recalled(memory, "one", "metadata", "resourceVersion") }) }),
    },
    put("replace under another name", one, map("api-other")),
    put("replace what is not there", `${all}/api-none`, map("api-none")),
    put("replace with another uid", one, map("api-one", {}, { uid: "1" })),
    put("make it immutable", one, map("api-one", { data: { z: "26" }, immutable: true })),
    put("change what is immutable", one, map("api-one", { data: { z: "27" }, immutable: true })),
    put("make it mutable", one, map("api-one", { data: { z: "26" }, immutable: false })),
    { title: "a verb nobody knows", request: { method: "PUT", path: all, body: map("api-one") } },
    { title: "a subresource nobody knows", request: { method: "GET", path: `${one}/status` } },
    remove("delete under a wrong uid", one, { preconditions: { uid: "1" } }),
    remove("delete with an unknown policy", `${one}?propagationPolicy=Some`),
    remove("delete on trial", `${one}?dryRun=All`),
    remove("delete", one),
    remove("delete twice", one),
    remove("delete a collection", `${all}?${labelled}`),
    ...secretCases(namespace),
  ];
}

function secretCases(namespace: string): Case[] {
  const all = `/api/v1/namespaces/${namespace}/secrets`;
  const one = `${all}/api-secret`;
  const secret = (more: Settings): unknown => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "api-secret", labels: label }, ...more });
  return [
    post("a secret in plain text", all, secret({ stringData: { a: "1" } })),
    get("a secret as a table", one, table),
    patch("plain text wins over data", one, merge, { data: { a: "Mg==" }, stringData: { a: "3" } }),
    patch("a secret's type stays", one, merge, { type: "other" }),
    post("a TLS secret without a key", `${all}?dryRun=All`, { ...Object(secret({ type: "kubernetes.io/tls" })), metadata: { name: "api-tls" } }),
    post("a registry secret without its file", `${all}?dryRun=All`, { ...Object(secret({ type: "kubernetes.io/dockerconfigjson" })), metadata: { name: "api-registry" } }),
    get("select secrets by type", `${all}?fieldSelector=type%3DOpaque&${labelled}`),
    remove("delete a secret", one),
  ];
}
