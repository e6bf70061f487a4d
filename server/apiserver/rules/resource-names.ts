/** Names of resources. Source: kubernetes v1.37.2, pkg/apis/core/helper/helpers.go. */
import { isQualifiedName } from "@/lib/names";

/** Without a domain, or in one that holds kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

export function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith("requests.")) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

const integerResources = new Set([
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);

export function isIntegerResource(name: string): boolean {
  return integerResources.has(name) || isExtendedResource(name);
}

export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}
