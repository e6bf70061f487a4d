/** All requests of the comparison, in the order in which they are sent. */
import { get, labelled, type Case } from "./case";
import type { Sent } from "./client";
import { oddCases } from "./odd";
import { podCases } from "./pods";
import { settingsCases } from "./settings";
import { storageCases } from "./storage";

export function cases(namespace: string): Case[] {
  return [
    get("health", "/healthz"),
    get("readiness", "/readyz"),
    get("liveness", "/livez"),
    get("a path nobody serves", "/apis/nobody.example.com/v1"),
    get("a resource nobody serves", `/api/v1/namespaces/${namespace}/things`),
    get("a group", "/apis/storage.k8s.io"),
    ...settingsCases(namespace),
    ...storageCases(namespace),
    ...podCases(namespace),
    ...oddCases(namespace),
    get("a watch that begins too late", `/api/v1/namespaces/${namespace}/configmaps?watch=true&resourceVersion=abc`),
    get("a watch with initial events and no match", `/api/v1/namespaces/${namespace}/configmaps?watch=true&sendInitialEvents=true`),
  ];
}

/** What is left of an earlier run. */
export function cleanUp(namespace: string): Sent[] {
  const inside = ["pods", "persistentvolumeclaims", "configmaps", "secrets", "events"].map((resource) => `/api/v1/namespaces/${namespace}/${resource}`);
  const outside = ["storageclasses", "csidrivers", "csinodes", "volumeattachments"].map((resource) => `/apis/storage.k8s.io/v1/${resource}`);
  return [...inside, "/api/v1/persistentvolumes", "/api/v1/nodes", ...outside].map((path) => ({ method: "DELETE", path: `${path}?${labelled}&gracePeriodSeconds=0` }));
}
