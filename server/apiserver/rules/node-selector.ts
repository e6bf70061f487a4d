/** Node selectors and topology terms. Source: kubernetes v1.37.2, ValidateNodeSelector and ValidateTopologySelectorTerm. */
import type { JsonObject } from "@/lib/kube/json";
import { isDNS1123Subdomain, isLabelValue, isQualifiedName } from "@/lib/names";
import { objectsAt, textAt, textsAt } from "@/server/apiserver/access";
import { child, duplicate, forbidden, invalid, required, type FieldError } from "@/server/apiserver/field";

export function nodeSelectorErrors(selector: JsonObject, at: string, allowInvalidValues = false): FieldError[] {
  const terms = objectsAt(selector, "nodeSelectorTerms");
  const path = child(at, "nodeSelectorTerms");
  if (terms.length === 0) return [required(path, "must have at least one node selector term")];
  return terms.flatMap((term, index) => [
    ...objectsAt(term, "matchExpressions").flatMap((one, j) => labelRequirement(one, child(path, index, "matchExpressions", j), allowInvalidValues)),
    ...objectsAt(term, "matchFields").flatMap((one, j) => fieldRequirement(one, child(path, index, "matchFields", j))),
  ]);
}

function labelRequirement(one: JsonObject, at: string, allowInvalidValues: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const operator = textAt(one, "operator");
  const values = textsAt(one, "values");
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) errors.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (operator === "Gt" || operator === "Lt") {
    if (values.length !== 1) errors.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.push(invalid(`${at}.operator`, operator, "not a valid selector operator"));
  const key = textAt(one, "key");
  errors.push(...isQualifiedName(key).map((message) => invalid(`${at}.key`, key, message)));
  if (allowInvalidValues) return errors;
  return [...errors, ...values.flatMap((value, index) => isLabelValue(value).map((message) => invalid(`${at}.values[${index}]`, value, message)))];
}

function fieldRequirement(one: JsonObject, at: string): FieldError[] {
  const errors: FieldError[] = [];
  const operator = textAt(one, "operator");
  const values = textsAt(one, "values");
  const key = textAt(one, "key");
  if (operator !== "In" && operator !== "NotIn") errors.push(invalid(`${at}.operator`, operator, "not a valid selector operator"));
  else if (values.length !== 1) errors.push(required(`${at}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  if (key !== "metadata.name") return [...errors, invalid(`${at}.key`, key, "not a valid field selector key")];
  return [...errors, ...values.flatMap((value, index) => isDNS1123Subdomain(value).map((message) => invalid(`${at}.values[${index}]`, value, message)))];
}

export function topologyErrors(terms: readonly JsonObject[], at: string): FieldError[] {
  // The real server starts with one empty term for each that is given, so that an empty one counts as repeated.
  const seen: string[] = terms.map(() => "[]");
  return terms.flatMap((term, index) => {
    const path = child(at, index, "matchLabelExpressions");
    const expressions = objectsAt(term, "matchLabelExpressions");
    const errors = expressions.flatMap((one, j) => topologyRequirement(one, { at: child(path, j), earlier: expressions.slice(0, j) }));
    const id = JSON.stringify(expressions.map((one) => [textAt(one, "key"), [...new Set(textsAt(one, "values"))].sort()]).sort());
    errors.push(...seen.filter((other) => other === id).map(() => duplicate(path, "")));
    seen.push(id);
    return errors;
  });
}

function topologyRequirement(one: JsonObject, { at, earlier }: { at: string; earlier: readonly JsonObject[] }): FieldError[] {
  const key = textAt(one, "key");
  const values = textsAt(one, "values");
  const errors = values.length === 0 ? [required(`${at}.values`, "")] : [];
  values.forEach((value, index) => {
    if (values.indexOf(value) < index) errors.push(duplicate(`${at}.values[${index}]`, value));
  });
  errors.push(...isQualifiedName(key).map((message) => invalid(`${at}.key`, key, message)));
  if (earlier.some((other) => textAt(other, "key") === key)) errors.push(duplicate(`${at}.key`, key));
  return errors;
}

const deprecatedLabels = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ["failure-domain.beta.kubernetes.io/region", 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ["failure-domain.beta.kubernetes.io/zone", 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ["beta.kubernetes.io/instance-type", 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

export function deprecatedLabel(key: string): string | undefined {
  return deprecatedLabels.get(key);
}
