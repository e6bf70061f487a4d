/** Requests that nobody sends in good faith: paths that lead upwards, and bodies without a bottom. */
import { get, merge, patch, post, remove, type Case } from "./case";

const paths = [
  "/api/v1/namespaces/%2e%2e/pods",
  "/api/v1/namespaces/../pods",
  "/api/v1/namespaces/%2E/configmaps",
  "/api/v1/namespaces/../configmaps/x",
  "/api/v1/namespaces/%zz/pods",
  "/api/v1/namespaces/a%2Fb/pods",
  "/api/v1/namespaces/default/configmaps/..",
  "/api/v1/namespaces/default/configmaps/%2e",
  "/api/v1/namespaces/default/configmaps/a%25b",
  "/api/v1/namespaces/default/configmaps/a%2Fb",
  "/api/v1/namespaces/default/configmaps/a;b",
  "/api/v1/namespaces/default/configmaps/api%20none",
  "/api/v1/./pods",
  "/apis/../api/v1/pods",
  "//api/v1/pods",
];

export function oddCases(namespace: string): Case[] {
  const all = `/api/v1/namespaces/${namespace}/configmaps`;
  const deep = "[".repeat(100_000);
  return [
    ...paths.map((path) => get("a path of its own kind", path)),
    post("a body without a bottom", all, deep),
    post("a body without a bottom below a field", all, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"api-deep"},"more":${deep}`),
    post("a body 900 levels deep", `${all}?dryRun=All`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"api-deep"},"more":${"[".repeat(900)}${"]".repeat(900)}}`),
    patch("a patch without a bottom", `${all}/api-none`, merge, `{"more":${deep}`),
    remove("delete with options without a bottom", `${all}/api-none`, deep),
  ];
}
