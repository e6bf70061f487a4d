/** Label and field selectors of a request, parsed against a kind and asked of objects. */
import { messageOf } from "@/lib/errors";
import { convertFieldSelector, fieldSelectorText, matchesFields, parseFieldSelector, selectableFields, type FieldSelector } from "@/lib/kube/field-selectors";
import type { JsonObject } from "@/lib/kube/json";
import { labelSelectorText, matchesLabels, parseLabelSelector, type ParsedLabelSelector } from "@/lib/kube/selectors";
import { objectAt, textMap } from "./access";
import type { Kind } from "./kinds";
import { badRequest } from "./status";

export interface Selectors {
  readonly labels: ParsedLabelSelector;
  readonly fields: FieldSelector;
  readonly labelText: string;
  readonly fieldText: string;
}

/** Throws ApiError 400 with the words of the parser, or of the kind that cannot be selected by such a field. */
export function parseSelectors(options: { readonly labelSelector: string; readonly fieldSelector: string }, kind?: Kind): Selectors {
  try {
    const labels = parseLabelSelector(options.labelSelector);
    const parsed = parseFieldSelector(options.fieldSelector);
    const fields = kind === undefined ? parsed : convertFieldSelector(parsed, { group: kind.group, kind: kind.kind });
    return { labels, fields, labelText: labelSelectorText(labels), fieldText: fieldSelectorText(fields) };
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}

export function selectsEverything(selectors: Selectors): boolean {
  return selectors.labels.length === 0 && selectors.fields.length === 0;
}

export function selects(selectors: Selectors, object: JsonObject): boolean {
  if (selectsEverything(selectors)) return true;
  const labels = Object.fromEntries(textMap(objectAt(object, "metadata"), "labels"));
  if (!matchesLabels(selectors.labels, labels)) return false;
  if (selectors.fields.length === 0) return true;
  return matchesFields(selectors.fields, selectableFields(object));
}
