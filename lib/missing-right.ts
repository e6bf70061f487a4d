/** A right that a person lacks, and the rule that would give it. */

export interface MissingRight {
  /** "" for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Absent: in the whole cluster. */
  readonly namespace?: string;
}

export const readVerbs = ["get", "list", "watch"] as const;

/** What it takes to read a watched resource, by its plural. */
export function missingToRead(resource: string): MissingRight {
  const group = storageResources.has(resource) ? "storage.k8s.io" : "";
  return { group, resource, verbs: readVerbs };
}

const storageResources: ReadonlySet<string> = new Set(["storageclasses", "csidrivers", "csinodes", "volumeattachments"]);

/** The right in one line, such as `list pods` or `patch pods/resize in shop`. */
export function rightInWords(right: MissingRight): string {
  const where = right.namespace === undefined ? "" : ` in ${right.namespace}`;
  return `${right.verbs.join(", ")} ${right.group === "" ? "" : `${right.group} `}${right.resource}${where}`;
}

/** Several rights in one line, those with the same verbs together: `get, list, watch on pods, csinodes.storage.k8s.io`. */
export function rightsInWords(rights: readonly MissingRight[]): string {
  const byVerbs = Map.groupBy(rights, ({ verbs }) => verbs.join(", "));
  const resourceOf = ({ group, resource, namespace }: MissingRight) =>
    `${resource}${group === "" ? "" : `.${group}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
  return [...byVerbs].map(([verbs, some]) => `${verbs} on ${some.map(resourceOf).join(", ")}`).join("; ");
}

/** The rules as YAML, ready for `kubectl apply -f -`. All rights of one call share one namespace, or none. */
export function ruleFor(rights: readonly MissingRight[], name: string): string {
  const namespace = rights[0]?.namespace;
  return [
    "apiVersion: rbac.authorization.k8s.io/v1",
    `kind: ${namespace === undefined ? "ClusterRole" : "Role"}`,
    `metadata: {name: ${name}${namespace === undefined ? "" : `, namespace: ${namespace}`}}`,
    "rules:",
    ...[...Map.groupBy(rights, ({ group, verbs }) => `${JSON.stringify(group)} ${verbs.join(", ")}`).values()].flatMap((alike) => [
      `- apiGroups: [${JSON.stringify(alike[0]?.group ?? "")}]`,
      `  resources: [${alike.map(({ resource }) => resource).join(", ")}]`,
      `  verbs: [${alike[0]?.verbs.join(", ") ?? ""}]`,
    ]),
    "",
  ].join("\n");
}
