/**
 * Label selectors: the text of `labelSelector=` and the object form of manifests, with Kubernetes' error texts.
 * Source: apimachinery v1.37.2, pkg/labels/selector.go (Parse, NewRequirement, Matches, String) and
 * pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector, FormatLabelSelector).
 */
import { AppError, messageOf } from "@/lib/errors";
import { goAggregate, goJson, goQuote } from "@/lib/go-text";
import type { LabelSelector, StringMap } from "@/lib/kube/meta";
import { compareText, isLabelValue, isQualifiedName } from "@/lib/names";

export type LabelOperator = "in" | "notin" | "=" | "==" | "!=" | "gt" | "lt" | "exists" | "!";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** All requirements must hold, so none selects everything; `"nothing"` is what an absent object form selects. */
export type ParsedLabelSelector = readonly LabelRequirement[] | "nothing";

/**
 * Reads the text form; requirements come out in the order of their keys.
 * @throws AppError `invalid` with Go's text.
 */
export function parseLabelSelector(text: string): ParsedLabelSelector {
  return new Parser(tokensOf(text)).requirements().sort(byKey);
}

/**
 * The object form. An absent selector selects nothing, an empty one everything.
 * @throws AppError `invalid` with Go's text; where several labels are wrong, for the first by key.
 */
export function labelSelectorOf(selector: LabelSelector | null | undefined): ParsedLabelSelector {
  if (selector === undefined || selector === null) return "nothing";
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => compareText(a, b));
  const requirements = labels.map(([key, value]) => newRequirement(key, "=", [value]));
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = objectOperators.get(operator);
    if (known === undefined) throw invalid(`${goQuote(operator)} is not a valid label selector operator`);
    requirements.push(newRequirement(key, known, values?.length ? values : noValues));
  }
  return requirements.sort(byKey);
}

export function matchesLabels(selector: ParsedLabelSelector, labels: StringMap | undefined): boolean {
  return selector !== "nothing" && selector.every((requirement) => requirementHolds(requirement, labels ?? {}));
}

/** The text form of a selector; empty both for everything and for nothing. */
export function labelSelectorText(selector: ParsedLabelSelector): string {
  return selector === "nothing" ? "" : selector.map(requirementText).join(",");
}

/** The object form as Kubernetes prints it: `<none>` where it restricts nothing, `<error>` where it is wrong. */
export function formatLabelSelector(selector: LabelSelector | null | undefined): string {
  try {
    return labelSelectorText(labelSelectorOf(selector)) || "<none>";
  } catch {
    return "<error>";
  }
}

const objectOperators: ReadonlyMap<string, LabelOperator> = new Map([
  ["In", "in"], ["NotIn", "notin"], ["Exists", "exists"], ["DoesNotExist", "!"],
]);

// Requirements

/** Go's nil list, which its messages tell from an empty one. */
export const noValues: readonly string[] = [];

function newRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const requirement = { key, operator, values };
  const messages = requirementMessages(requirement, "");
  if (messages.length > 0) throw invalid(goAggregate(messages));
  return requirement;
}

/** What is wrong with a requirement (labels.NewRequirement), empty when it is right. `path` leads to it, such as `terms[0].`. */
export function requirementMessages({ key, operator, values }: LabelRequirement, path: string): string[] {
  const valueMessages = values.flatMap((value, index) => {
    const wrong = isLabelValue(value);
    return wrong.length === 0 ? [] : [`${path}values[${index}][${key}]: Invalid value: ${goQuote(value)}: ${wrong.join("; ")}`];
  });
  return [...keyMessages(key, `${path}key`), ...countMessages(operator, values, `${path}values`), ...valueMessages];
}

function keyMessages(key: string, path: string): string[] {
  const wrong = isQualifiedName(key);
  return wrong.length === 0 ? [] : [`${path}: Invalid value: ${goQuote(key)}: ${wrong.join("; ")}`];
}

function countMessages(operator: LabelOperator, values: readonly string[], path: string): string[] {
  const wrong = (detail: string): string[] => [`${path}: Invalid value: ${goJson(values === noValues ? null : values)}: ${detail}`];
  switch (operator) {
    case "in":
    case "notin":
      return values.length > 0 ? [] : wrong("for 'in', 'notin' operators, values set can't be empty");
    case "=":
    case "==":
    case "!=":
      return values.length === 1 ? [] : wrong("exact-match compatibility requires one single value");
    case "exists":
    case "!":
      return values.length === 0 ? [] : wrong("values set must be empty for exists and does not exist");
    case "gt":
    case "lt":
      return [
        ...(values.length === 1 ? [] : wrong("for 'Gt', 'Lt' operators, exactly one value is required")),
        ...values.flatMap((value, index) =>
          parseInt64(value) !== undefined
            ? []
            : [`${path}[${index}]: Invalid value: ${goQuote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`],
        ),
      ];
  }
}

/** One requirement against a set of labels. */
export function requirementHolds({ key, operator, values }: LabelRequirement, labels: StringMap): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "in":
    case "=":
    case "==":
      return value !== undefined && values.includes(value);
    case "notin":
    case "!=":
      return value === undefined || !values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt":
      return holdsByNumber(operator, value, values);
  }
}

function holdsByNumber(operator: "gt" | "lt", value: string | undefined, values: readonly string[]): boolean {
  const [theirs, ours] = [parseInt64(value), parseInt64(values.length === 1 ? values[0] : undefined)];
  if (theirs === undefined || ours === undefined) return false;
  return operator === "gt" ? theirs > ours : theirs < ours;
}

/** strconv.ParseInt(text, 10, 64). */
function parseInt64(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${[...values].sort(compareText).join(",")})`;
    case "gt":
      return `${key}>${values.join(",")}`;
    case "lt":
      return `${key}<${values.join(",")}`;
    default:
      return `${key}${operator}${values.join(",")}`;
  }
}

// Text form

interface Token {
  readonly kind: "end" | "identifier" | "in" | "notin" | "(" | ")" | "," | "!" | "!=" | "=" | "==" | ">" | "<";
  readonly text: string;
}

const specials = "=!(),><";
const symbols: readonly Token["kind"][] = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];
const binaryOperators = "in, notin, =, ==, !=, gt, lt";
const operatorOf: Readonly<Partial<Record<Token["kind"], LabelOperator>>> = {
  in: "in", notin: "notin", "=": "=", "==": "==", "!=": "!=", ">": "gt", "<": "lt",
};

/** A NUL ends a word and, between words, the whole text, as it does in Go. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (" \t\r\n".includes(text.charAt(at)) && at < text.length) at += 1;
    if (at >= text.length || text.charAt(at) === "\0") return [...tokens, { kind: "end", text: "" }];
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at));
    const word = symbol ?? wordAt(text, at);
    at += word.length + (symbol === undefined && text.charAt(at + word.length) === "\0" ? 1 : 0);
    tokens.push({ kind: symbol ?? (word === "in" || word === "notin" ? word : "identifier"), text: word });
  }
}

function wordAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && !`${specials} \t\r\n\0`.includes(text.charAt(end))) end += 1;
  return text.slice(start, end);
}

class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  requirements(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    for (;;) {
      const first = this.peek();
      if (first.kind === "end") return found;
      if (first.kind !== "identifier" && first.kind !== "!") {
        throw invalid(`found '${first.text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.requirement());
      const separator = this.next();
      if (separator.kind === "end") return found;
      if (separator.kind !== ",") throw invalid(`found '${separator.text}', expected: ',' or 'end of string'`);
      const following = this.peek();
      if (following.kind !== "identifier" && following.kind !== "!") {
        throw invalid(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  private requirement(): LabelRequirement {
    let token = this.next();
    const negated = token.kind === "!";
    if (negated) token = this.next();
    if (token.kind !== "identifier") throw unparsable(`found '${token.text}', expected: identifier`);
    const [wrong] = keyMessages(token.text, "<nil>");
    if (wrong !== undefined) throw unparsable(wrong);
    const key = token.text;
    if (negated) return checked(key, "!", []);
    if (["end", ","].includes(this.peek().kind)) return checked(key, "exists", []);
    const operator = this.operator();
    return checked(key, operator, operator === "in" || operator === "notin" ? this.values() : [this.exactValue()]);
  }

  private operator(): LabelOperator {
    const token = this.tokens[this.at] ?? end;
    this.at += 1;
    const operator = operatorOf[token.kind];
    if (operator === undefined) throw unparsable(`found '${token.text}', expected: ${binaryOperators}`);
    return operator;
  }

  private exactValue(): string {
    if (["end", ","].includes(this.peek().kind)) return "";
    const token = this.next();
    if (token.kind !== "identifier") throw unparsable(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  private values(): string[] {
    const open = this.next();
    if (open.kind !== "(") throw unparsable(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (first.kind === ")") {
      this.next();
      return [""];
    }
    if (first.kind !== "identifier" && first.kind !== ",") {
      throw unparsable(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.list();
    this.next();
    return [...values].sort(compareText);
  }

  /** Up to the closing parenthesis. Empty items count as the empty value. */
  private list(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      const token = this.next();
      if (token.kind === "identifier") {
        values.add(token.text);
        const following = this.peek();
        if (following.kind === ")") return values;
        if (following.kind !== ",") throw unparsable(`found '${following.text}', expected: ',' or ')'`);
      } else if (token.kind === ",") {
        if (values.size === 0) values.add("");
        const following = this.peek();
        if (following.kind === ")") return values.add("");
        if (following.kind === ",") {
          this.next();
          values.add("");
        }
      } else {
        throw unparsable(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  /** The next token where a name or value is expected: `in` and `notin` are names there. */
  private peek(): Token {
    const token = this.tokens[this.at] ?? end;
    return token.kind === "in" || token.kind === "notin" ? { kind: "identifier", text: token.text } : token;
  }

  private next(): Token {
    const token = this.peek();
    this.at += 1;
    return token;
  }
}

const end: Token = { kind: "end", text: "" };

function checked(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  try {
    return newRequirement(key, operator, values);
  } catch (error) {
    throw unparsable(messageOf(error));
  }
}

function byKey(a: LabelRequirement, b: LabelRequirement): number {
  return compareText(a.key, b.key);
}

function unparsable(message: string): AppError {
  return invalid(`unable to parse requirement: ${message}`);
}

function invalid(message: string): AppError {
  return new AppError("invalid", message);
}
