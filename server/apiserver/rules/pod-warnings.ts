/** Warnings about pods. Source: kubernetes v1.37.2, pkg/api/pod/warnings.go, as far as volumes, resources and variables go. */
import { goQuote } from "@/lib/go-text";
import type { JsonObject } from "@/lib/kube/json";
import { parseQuantity } from "@/lib/quantity";
import { objectAt, objectsAt, optionalText, textAt, textMap } from "@/server/apiserver/access";
import { child, keyed } from "@/server/apiserver/field";
import { fractionWarnings } from "./claim";

const deprecated: readonly (readonly [key: string, text: string, shown?: string])[] = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

export function podWarnings(pod: JsonObject): string[] {
  const spec = objectAt(pod, "spec");
  const volumes = objectsAt(spec, "volumes");
  return [...volumes.flatMap(volumeWarnings), ...volumes.flatMap(overlapWarnings), ...containersOf(spec).flatMap(containerWarnings)];
}

function volumeWarnings(volume: JsonObject, index: number): string[] {
  const at = child("spec", "volumes", index);
  const old = deprecated.filter(([key]) => objectAt(volume, key) !== undefined).map(([key, text, shown]) => `${at}.${shown ?? key}: ${text}`);
  const template = objectAt(volume, "ephemeral", "volumeClaimTemplate", "spec");
  return [...old, ...fractionWarnings(template, `${at}.ephemeral.volumeClaimTemplate.spec`)];
}

interface Placed {
  readonly path: string;
  readonly source: string;
}

/** Files of one volume that hide one another. */
function overlapWarnings(volume: JsonObject): string[] {
  const name = goQuote(textAt(volume, "name"));
  const plain: readonly (readonly [JsonObject | undefined, string])[] = [
    [objectAt(volume, "configMap"), `ConfigMap ${goQuote(textAt(objectAt(volume, "configMap"), "name"))}`],
    [objectAt(volume, "secret"), `Secret ${goQuote(textAt(objectAt(volume, "secret"), "secretName"))}`],
    [objectAt(volume, "downwardAPI"), "DownwardAPI"],
  ];
  const warnings = plain.flatMap(([source, title]) =>
    overlaps(pathsOf(source, "")).map((text) => `volume ${name} (${title}): overlapping paths: ${text}`),
  );
  const sources = objectsAt(objectAt(volume, "projected"), "sources");
  for (const source of sources) if (Object.keys(source).length === 0) warnings.push(`volume ${name} (Projected) has no sources provided`);
  return [...warnings, ...overlaps(sources.flatMap(projectedPaths)).map((text) => `volume ${name} (Projected): overlapping paths: ${text}`)];
}

function pathsOf(source: JsonObject | undefined, title: string): Placed[] {
  return objectsAt(source, "items").map((item) => ({ path: textAt(item, "path"), source: title }));
}

function projectedPaths(source: JsonObject): Placed[] {
  const [settings, secret, token] = [objectAt(source, "configMap"), objectAt(source, "secret"), objectAt(source, "serviceAccountToken")];
  if (settings !== undefined) return pathsOf(settings, `ConfigMap ${goQuote(textAt(settings, "name"))}`);
  if (secret !== undefined) return pathsOf(secret, `Secret ${goQuote(textAt(secret, "name"))}`);
  const downward = objectAt(source, "downwardAPI");
  if (downward !== undefined) return pathsOf(downward, "DownwardAPI");
  if (token !== undefined) return [{ path: textAt(token, "path"), source: "ServiceAccountToken" }];
  const bundle = objectAt(source, "clusterTrustBundle");
  if (bundle !== undefined) {
    const name = optionalText(bundle, "name") ?? textAt(bundle, "signerName");
    return [{ path: textAt(bundle, "path"), source: `ClusterTrustBundle ${goQuote(name)}` }];
  }
  const certificate = objectAt(source, "podCertificate");
  const parts: readonly (readonly [string, string])[] = [
    ["certificateChainPath", "PodCertificate chain"],
    ["keyPath", "PodCertificate key"],
    ["credentialBundlePath", "PodCertificate credential bundle"],
  ];
  return parts.map(([key, title]) => ({ path: textAt(certificate, key), source: title })).filter(({ path }) => path !== "");
}

function overlaps(placed: readonly Placed[]): string[] {
  const show = ({ path, source }: Placed): string => goQuote(path) + (source === "" ? "" : ` (${source})`);
  const trimmed = placed.map(({ path, source }) => ({ path: path.replace(/\/+$/u, ""), source }));
  return trimmed.flatMap((one, index) =>
    trimmed
      .slice(0, index)
      .filter((other) => other.path !== "" && one.path !== "" && (`${other.path}/`.startsWith(`${one.path}/`) || `${one.path}/`.startsWith(`${other.path}/`)))
      .map((other) => `${show(one)} with ${show(other)}`),
  );
}

interface Located {
  readonly container: JsonObject;
  readonly at: string;
}

function containersOf(spec: JsonObject | undefined): Located[] {
  const keys = ["initContainers", "containers", "ephemeralContainers"];
  return keys.flatMap((key) => objectsAt(spec, key).map((container, index) => ({ container, at: child("spec", key, index) })));
}

function containerWarnings({ container, at }: Located): string[] {
  return [...fractions(objectAt(container, "resources"), `${at}.resources`), ...variableWarnings(objectsAt(container, "env"), at)];
}

function fractions(resources: JsonObject | undefined, at: string): string[] {
  return ["memory", "ephemeral-storage"].flatMap((name) =>
    ["limits", "requests"].flatMap((list) => {
      const text = textMap(resources, list).get(name);
      if (text === undefined || parseQuantity(text).milliValue() % 1000n === 0n) return [];
      return [`${keyed(`${at}.${list}`, name)}: fractional byte value ${goQuote(parseQuantity(text).toString())} is invalid, must be an integer`];
    }),
  );
}

function variableWarnings(variables: readonly JsonObject[], at: string): string[] {
  const seen = new Set<string>();
  return variables.flatMap((variable, index) => {
    const name = textAt(variable, "name");
    const isNew = !seen.has(name);
    seen.add(name);
    const value = textAt(variable, "value");
    const reference = `$(${name})`;
    const keepsOld = objectAt(variable, "valueFrom") === undefined && value !== reference && value.includes(reference);
    if (isNew || keepsOld) return [];
    return [`${child(at, "env", index)}: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`];
  });
}
