/**
 * Values of a pod that the downward API puts into files. Source: pkg/fieldpath/fieldpath.go and pkg/api/v1/resource/helpers.go
 * of v1.37.2.
 */
import { goQuote } from "@/lib/go-text";
import type { ResourceList } from "@/lib/kube/meta";
import { containersThenInit, hugePagesResourcePrefix, resourceAmount } from "@/lib/kube/pod-resources";
import type { Pod } from "@/lib/kube/pods";
import type { ResourceFieldSelector } from "@/lib/kube/volumes";
import { compareText, isQualifiedName } from "@/lib/names";
import { parseQuantity, Quantity } from "@/lib/quantity";
import { VolumeError } from "@/server/volume/errors";

/** ExtractFieldPathAsString for a pod: metadata only. Throws VolumeError for other paths and for keys that can't be. */
export function extractFieldPathAsString(pod: Pod, fieldPath: string): string {
  const { labels, annotations, name, namespace, uid } = pod.metadata;
  const subscripted = splitSubscript(fieldPath);
  if (subscripted) return valueOfKey(pod, fieldPath, subscripted);
  switch (fieldPath) {
    case "metadata.annotations":
      return formatMap(annotations);
    case "metadata.labels":
      return formatMap(labels);
    case "metadata.name":
      return name ?? "";
    case "metadata.namespace":
      return namespace ?? "";
    case "metadata.uid":
      return uid ?? "";
    default:
      throw new VolumeError(`unsupported fieldPath: ${fieldPath}`);
  }
}

interface Subscripted {
  readonly path: string;
  readonly key: string;
}

/** `metadata.labels['app']`: the first `['` opens and the last `']` closes. */
function splitSubscript(fieldPath: string): Subscripted | undefined {
  const open = fieldPath.indexOf("['");
  if (!fieldPath.endsWith("']") || open <= 0 || open + 2 > fieldPath.length - 2) return undefined;
  return { path: fieldPath.slice(0, open), key: fieldPath.slice(open + 2, -2) };
}

function valueOfKey(pod: Pod, fieldPath: string, { path, key }: Subscripted): string {
  const { labels, annotations } = pod.metadata;
  switch (path) {
    case "metadata.annotations":
      requireQualifiedName(fieldPath, key.toLowerCase());
      return ownValue(annotations, key);
    case "metadata.labels":
      requireQualifiedName(fieldPath, key);
      return ownValue(labels, key);
    default:
      throw new VolumeError(`fieldPath ${goQuote(fieldPath)} does not support subscript`);
  }
}

function requireQualifiedName(fieldPath: string, key: string): void {
  const messages = isQualifiedName(key);
  if (messages.length > 0) throw new VolumeError(`invalid key subscript in ${fieldPath}: ${messages.join(";")}`);
}

function ownValue(map: Readonly<Record<string, string>> | undefined, key: string): string {
  return map && Object.hasOwn(map, key) ? (map[key] ?? "") : "";
}

/** One `key="value"` a line, keys in order (FormatMap). */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .join("\n");
}

/**
 * ExtractResourceValueByContainerNameAndNodeAllocatable: a request or limit of a container, as a whole number of the divisor, rounded up. A
 * limit that is absent or zero is the node's allocatable amount. Throws VolumeError for an unknown container or resource.
 */
export function extractResourceValue(pod: Pod, selector: ResourceFieldSelector, nodeAllocatable: ResourceList): string {
  const name = selector.containerName ?? "";
  const container = containersThenInit(pod).find((candidate) => candidate.name === name);
  if (!container) throw new VolumeError(`container ${name} not found`);

  const [, kind, resource] = /^(limits|requests)\.(.+)$/s.exec(selector.resource) ?? [];
  const known = resource !== undefined && (ofTheNode.includes(resource) || resource.startsWith(hugePagesResourcePrefix));
  if (!known) throw new VolumeError(`unsupported container resource : ${selector.resource}`);

  const { requests, limits } = container.resources ?? {};
  const amount = kind === "requests" ? resourceAmount(requests, resource) : limitOrNode(limits, resource, nodeAllocatable);
  const asked = selector.divisor === undefined ? Quantity.zero : parseQuantity(selector.divisor);
  const divisor = asked.isZero() ? parseQuantity("1") : asked;
  return resource === "cpu" ? ceilDivide(amount.milliValue(), divisor.milliValue()) : ceilDivide(amount.value(), divisor.value());
}

/** Resources whose limit may be the node's: huge pages are never overcommitted, so they are not among them. */
const ofTheNode: readonly string[] = ["cpu", "memory", "ephemeral-storage"];

function limitOrNode(limits: ResourceList | undefined, resource: string, nodeAllocatable: ResourceList): Quantity {
  const limit = resourceAmount(limits, resource);
  return limit.isZero() && ofTheNode.includes(resource) ? resourceAmount(nodeAllocatable, resource) : limit;
}

const minInt64 = -(2n ** 63n);
const largestInt64 = 2n ** 63n - 1n;

/** Go divides doubles here and turns the result into an int64; what does not fit becomes the smallest int64 on amd64. */
function ceilDivide(amount: bigint, divisor: bigint): string {
  const quotient = Math.ceil(Number(amount) / Number(divisor));
  const whole = Number.isFinite(quotient) ? BigInt(quotient) : minInt64;
  return (whole < minInt64 || whole > largestInt64 ? minInt64 : whole).toString();
}
