/**
 * Field selectors: parsing, the labels each kind allows in them, and the fields of an object they look at.
 * Source: apimachinery v1.37.2, pkg/fields/selector.go; kubernetes v1.37.2, pkg/apis/{core,batch,events}/v1/conversion.go (labels) and
 * the ToSelectableFields functions below pkg/registry.
 */
import { AppError } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import type { StringMap } from "@/lib/kube/meta";
import { compareText } from "@/lib/names";

export interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** All terms must hold; none selects everything. */
export type FieldSelector = readonly FieldTerm[];

export interface GroupKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
}

/**
 * Reads the text of `fieldSelector=`; the terms come out in the order of their texts.
 * @throws AppError `invalid` with Go's text.
 */
export function parseFieldSelector(text: string): FieldSelector {
  const parts = splitTerms(text).filter((part) => part !== "").sort(compareText);
  return parts.map((part) => parseTerm(part, text)).filter(restricts);
}

/**
 * The selector as the lists of a kind understand it: older spellings of a field are replaced by its name.
 * @throws AppError `invalid` with the message of the server's 400, for a field the kind cannot be selected by.
 */
export function convertFieldSelector(selector: FieldSelector, { group, kind }: GroupKind): FieldSelector {
  const labels = kindLabels.get(group === "" ? kind : `${group}/${kind}`);
  return selector.map((term) => ({ ...term, field: labels === undefined ? defaultLabel(term.field) : labelOf(labels, term.field) }));
}

/** Fields that are not there count as empty. */
export function matchesFields(selector: FieldSelector, fields: StringMap): boolean {
  return selector.every(({ field, equal, value }) => ((Object.hasOwn(fields, field) ? fields[field] : "") === value) === equal);
}

export function fieldSelectorText(selector: FieldSelector): string {
  return selector.map(({ field, equal, value }) => `${field}${equal ? "=" : "!="}${escapeFieldValue(value)}`).join(",");
}

/** fields.EscapeValue. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}

// Parsing

/** Split at commas that no backslash escapes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldTerm {
  const operator = /!=|==|=/.exec(term);
  if (operator === null) throw invalid(`invalid selector: '${whole}'; can't understand '${term}'`);
  const field = term.slice(0, operator.index);
  return { field, equal: operator[0] !== "!=", value: unescapeValue(term.slice(operator.index + operator[0].length)) };
}

function unescapeValue(text: string): string {
  return text.replace(/\\(.?)|[,=]/gsu, (sequence, escaped: string | undefined) => {
    if (escaped === undefined) throw invalid(`invalid field selector: unescaped character in value: ${sequence.codePointAt(0)}`);
    if (escaped === "" || !"\\,=".includes(escaped)) throw invalid(`invalid field selector: invalid escape sequence: ${sequence}`);
    return escaped;
  });
}

function restricts({ field, value }: FieldTerm): boolean {
  return field !== "" || value !== "";
}

// Labels

const name = "metadata.name";
const namespace = "metadata.namespace";
const same = (...labels: string[]): [string, string][] => labels.map((label) => [label, label]);
const involvedObjectFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/** The kinds with labels of their own: the label as written to the field it means. */
const kindLabels: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries({
    Pod: [
      ...same(name, namespace, "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork"),
      ...same("status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName"),
      ["spec.host", "spec.nodeName"] satisfies [string, string],
    ],
    Node: same(name, "spec.unschedulable"),
    Namespace: same(name, "status.phase"),
    Secret: same(name, namespace, "type"),
    Service: same(name, namespace, "spec.clusterIP", "spec.type"),
    ReplicationController: same(name, namespace, "status.replicas"),
    "batch/Job": same(name, namespace, "status.successful"),
    Event: same(
      ...involvedObjectFields.map((field) => `involvedObject.${field}`),
      ...["reason", "reportingComponent", "source", "type", name, namespace],
    ),
    "events.k8s.io/Event": [
      ...involvedObjectFields.map((field): [string, string] => [`regarding.${field}`, `involvedObject.${field}`]),
      ...same("reason", "type", name, namespace),
      ["reportingController", "reportingComponent"] satisfies [string, string],
    ],
  }).map(([kind, labels]) => [kind, new Map(labels)]),
);

function labelOf(labels: ReadonlyMap<string, string>, label: string): string {
  const field = labels.get(label);
  if (field === undefined) throw invalid(`field label not supported: ${label}`);
  return field;
}

function defaultLabel(label: string): string {
  if (label !== name && label !== namespace) {
    throw invalid(`${goQuote(label)} is not a known field selector: only ${goQuote(name)}, ${goQuote(namespace)}`);
  }
  return label;
}

// Fields of objects

/** What a list reads of an object to select by fields. Fields are read defensively: objects come from anywhere. */
export interface SelectableObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}

type Reader = (path: string, fallback?: string) => string;

const clusterKinds = new Set(["PersistentVolume", "Node", "Namespace", "StorageClass", "VolumeAttachment", "CSINode", "CSIDriver"]);

/** Every field of an object that a selector may name, with its value (defaults filled in, as the server sees the object). */
export function selectableFields(object: SelectableObject): Record<string, string> {
  const read: Reader = (path, fallback = "") => readText(object, path) || fallback;
  const group = (object.apiVersion ?? "").includes("/") ? (object.apiVersion ?? "").split("/")[0] : "";
  const own = kindFields.get(group === "" ? (object.kind ?? "") : `${group}/${object.kind}`)?.(read) ?? {};
  const fields: Record<string, string> = { [name]: read(name), ...own };
  if (!clusterKinds.has(object.kind ?? "")) fields[namespace] = read(namespace);
  return fields;
}

const kindFields: ReadonlyMap<string, (read: Reader) => Record<string, string>> = new Map([
  [
    "Pod",
    (read) => ({
      "spec.nodeName": read("spec.nodeName"),
      "spec.restartPolicy": read("spec.restartPolicy", "Always"),
      "spec.schedulerName": read("spec.schedulerName", "default-scheduler"),
      "spec.serviceAccountName": read("spec.serviceAccountName", read("spec.serviceAccount")),
      "spec.hostNetwork": read("spec.hostNetwork", "false"),
      "status.phase": read("status.phase"),
      "status.podIP": read("status.podIP", read("status.podIPs.0.ip")),
      "status.nominatedNodeName": read("status.nominatedNodeName"),
    }),
  ],
  ["Node", (read) => ({ "spec.unschedulable": read("spec.unschedulable", "false") })],
  ["Namespace", (read) => ({ "status.phase": read("status.phase"), name: read(name) })],
  // A slip of long ago that clients rely on: these two can also be matched by a field "name", which no label leads to.
  ["PersistentVolume", (read) => ({ name: read(name) })],
  ["PersistentVolumeClaim", (read) => ({ name: read(name) })],
  ["Secret", (read) => ({ type: read("type", "Opaque") })],
  ["Service", (read) => ({ "spec.clusterIP": read("spec.clusterIP"), "spec.type": read("spec.type", "ClusterIP") })],
  ["ReplicationController", (read) => ({ "status.replicas": read("status.replicas", "0") })],
  ["batch/Job", (read) => ({ "status.successful": read("status.succeeded", "0") })],
  ["Event", (read) => eventFields(read, { object: "involvedObject", reporter: "reportingComponent", source: "source" })],
  ["events.k8s.io/Event", (read) => eventFields(read, { object: "regarding", reporter: "reportingController", source: "deprecatedSource" })],
]);

/** The two kinds of events have the same fields under different names. */
function eventFields(read: Reader, names: { object: string; reporter: string; source: string }): Record<string, string> {
  const { object, reporter, source } = names;
  return {
    ...Object.fromEntries(involvedObjectFields.map((field) => [`involvedObject.${field}`, read(`${object}.${field}`)])),
    reason: read("reason"),
    reportingComponent: read(reporter),
    source: read(`${source}.component`, read(reporter)),
    type: read("type"),
  };
}

/** The text at a dotted path; numbers and truth values as Go prints them, everything else as the empty text. */
function readText(object: unknown, path: string): string {
  let value: unknown = object;
  for (const key of path.split(".")) {
    value = typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function invalid(message: string): AppError {
  return new AppError("invalid", message);
}
