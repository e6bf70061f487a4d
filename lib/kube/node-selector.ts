/**
 * Which nodes a pod or a volume may use: node selectors and the required node affinity.
 * Source: component-helpers v1.37.2, scheduling/corev1/nodeaffinity/nodeaffinity.go.
 */
import { AppError, messageOf } from "@/lib/errors";
import { goAggregate, goJson, goQuote } from "@/lib/go-text";
import type { ObjectMeta, StringMap } from "@/lib/kube/meta";
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "@/lib/kube/nodes";
import type { PodSpec } from "@/lib/kube/pods";
import type { LabelOperator, LabelRequirement } from "@/lib/kube/selectors";
import { noValues, requirementHolds, requirementMessages } from "@/lib/kube/selectors";
import type { StorageClass } from "@/lib/kube/storage";

const labelOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"], ["NotIn", "notin"], ["Exists", "exists"], ["DoesNotExist", "!"], ["Gt", "gt"], ["Lt", "lt"],
]);
const fieldOperators = ["In", "NotIn"];

/**
 * True when one term matches; empty terms match no node. A node without a name (labels alone) passes every `matchFields`.
 * @throws AppError `invalid` with Go's text when no term matches and some of them are wrong.
 */
export function matchesNodeSelector(selector: NodeSelector, node: { metadata: Pick<ObjectMeta, "name" | "labels"> }): boolean {
  const wrong: string[] = [];
  for (const [index, term] of (selector.nodeSelectorTerms ?? []).entries()) {
    if (isEmptyTerm(term)) continue;
    const path = `nodeSelectorTerms[${index}]`;
    const messages = [...expressionMessages(term, path), ...fieldMessages(term, path)];
    wrong.push(...messages);
    if (messages.length === 0 && termMatches(term, node.metadata)) return true;
  }
  if (wrong.length > 0) throw new AppError("invalid", goAggregate(wrong));
  return false;
}

export type NodeFit = { readonly fits: true } | { readonly fits: false; readonly reason: string };

/** Whether a pod's nodeSelector and required node affinity allow a node, and if not, the one that does not (our own words). */
export function podFitsNode(spec: Pick<PodSpec, "nodeSelector" | "affinity">, node: Node): NodeFit {
  const labels = node.metadata.labels ?? {};
  const name = node.metadata.name ?? "";
  const missing = Object.entries(spec.nodeSelector ?? {}).find(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value);
  if (missing !== undefined) return { fits: false, reason: `node ${goQuote(name)} does not have the label ${missing.join("=")} of spec.nodeSelector` };
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return { fits: true };
  try {
    if (matchesNodeSelector(required, node)) return { fits: true };
    return { fits: false, reason: `node ${goQuote(name)} does not match the pod's required node affinity` };
  } catch (error) {
    return { fits: false, reason: `the pod's required node affinity is wrong: ${messageOf(error)}` };
  }
}

/** Whether labels of a node are inside a class' allowed topologies (MatchTopologySelectorTerms): no terms allow every node. */
export function matchesTopology(terms: StorageClass["allowedTopologies"], labels: StringMap): boolean {
  if (terms === undefined || terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions: expressions }) => {
    const requirements = (expressions ?? []).map(({ key, values }): LabelRequirement => ({ key, operator: "in", values: values ?? [] }));
    if (requirements.length === 0 || requirements.some((requirement) => requirementMessages(requirement, "").length > 0)) return false;
    return requirements.every((requirement) => requirementHolds(requirement, labels));
  });
}

function isEmptyTerm({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  return !matchExpressions?.length && !matchFields?.length;
}

function termMatches(term: NodeSelectorTerm, { name, labels }: Pick<ObjectMeta, "name" | "labels">): boolean {
  const labelsMatch = (term.matchExpressions ?? []).every((expression) => {
    const operator = labelOperators.get(expression.operator);
    return operator !== undefined && requirementHolds({ key: expression.key, operator, values: expression.values ?? [] }, labels ?? {});
  });
  if (!labelsMatch || !name) return labelsMatch;
  return (term.matchFields ?? []).every(({ key, operator, values }) => ((key === "metadata.name" ? name : "") === values?.[0]) === (operator === "In"));
}

function expressionMessages({ matchExpressions }: NodeSelectorTerm, path: string): string[] {
  return (matchExpressions ?? []).flatMap(({ key, operator, values }, index) => {
    const here = `${path}.matchExpressions[${index}]`;
    const known = labelOperators.get(operator);
    if (known === undefined) return [unsupported(here, operator, [...labelOperators.keys()])];
    return requirementMessages({ key, operator: known, values: values ?? noValues }, `${here}.`);
  });
}

function fieldMessages({ matchFields }: NodeSelectorTerm, path: string): string[] {
  return (matchFields ?? []).flatMap(({ operator, values }: NodeSelectorRequirement, index) => {
    const here = `${path}.matchFields[${index}]`;
    if (!fieldOperators.includes(operator)) return [unsupported(here, operator, fieldOperators)];
    return values?.length === 1 ? [] : [`${here}.values: Invalid value: ${goJson(values ?? null)}: must have one element`];
  });
}

function unsupported(path: string, operator: string, known: readonly string[]): string {
  return `${path}.operator: Unsupported value: ${goQuote(operator)}: supported values: ${known.map(goQuote).join(", ")}`;
}
