/** Goldens `selectors`: label and field selectors, and what each kind may be selected by. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { messageOf } from "@/lib/errors";
import type { FieldSelector, SelectableObject } from "@/lib/kube/field-selectors";
import {
  convertFieldSelector, escapeFieldValue, fieldSelectorText, matchesFields, parseFieldSelector, selectableFields,
} from "@/lib/kube/field-selectors";
import type { LabelSelector, Status, StringMap } from "@/lib/kube/meta";
import type { ParsedLabelSelector } from "@/lib/kube/selectors";
import { formatLabelSelector, labelSelectorOf, labelSelectorText, matchesLabels, parseLabelSelector } from "@/lib/kube/selectors";

type Input = GoldenLine["in"];

const questions: Readonly<Record<string, (input: Input) => Answer>> = {
  label: (input) => {
    const selector = parseLabelSelector(textOf(input));
    return { out: { ...labelAnswer(selector, input), empty: selector.length === 0 } };
  },
  labelSelector: (input) => {
    const selector = input["selector"] as LabelSelector | undefined;
    return { out: { ...labelAnswer(labelSelectorOf(selector), input), format: formatLabelSelector(selector) } };
  },
  field: (input) => {
    const selector = parseFieldSelector(textOf(input));
    const matches = setsOf(input).map((set) => matchesFields(selector, set));
    return { out: { string: fieldSelectorText(selector), empty: selector.length === 0, matches } };
  },
  escape: (input) => ({ out: escapeFieldValue(textOf(input)) }),
  listField: (input) => listField(textOf(input), String(input["kind"])),
  selectable: (input) => ({ out: selectableFields(input["object"] as SelectableObject) }),
};

export const adapter: Adapter = {
  answer(line): Promise<Answer> {
    const question = questions[line.fn];
    if (question === undefined) throw new Error(`unknown fn ${line.fn}`);
    try {
      return Promise.resolve(question(line.in));
    } catch (error) {
      return Promise.resolve({ err: messageOf(error) });
    }
  },
};

function labelAnswer(selector: ParsedLabelSelector, input: Input): { string: string; matches: boolean[] } {
  return { string: labelSelectorText(selector), matches: setsOf(input).map((set) => matchesLabels(selector, set)) };
}

/** `kind` is `Kind` or `group/Kind`. */
function listField(text: string, name: string): Answer {
  const [kind = "", group = ""] = name.split("/").reverse();
  let selector: FieldSelector;
  try {
    selector = parseFieldSelector(text);
  } catch (error) {
    return { err: { parse: messageOf(error) } };
  }
  try {
    return { out: { string: fieldSelectorText(convertFieldSelector(selector, { group, kind })) } };
  } catch (error) {
    return { err: badRequest(messageOf(error)) };
  }
}

function badRequest(message: string): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: "BadRequest", code: 400 };
}

function textOf(input: Input): string {
  return String(input["text"]);
}

function setsOf(input: Input): StringMap[] {
  return Array.isArray(input["sets"]) ? input["sets"] : [];
}
