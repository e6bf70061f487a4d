/**
 * Names as Kubernetes validates them: each check gives a list of messages, empty when the name is valid. Lengths are bytes of UTF-8.
 * Source: apimachinery v1.37.2, pkg/util/validation (IsQualifiedName, IsDNS1123Label, IsDNS1123Subdomain).
 */

const qualifiedName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;

const qualifiedNameExpression = new RegExp(`^${qualifiedName}$`);
const labelExpression = new RegExp(`^${label}$`);
const subdomainExpression = new RegExp(`^${subdomain}$`);

const maxLabelBytes = 63;
const maxSubdomainBytes = 253;

const qualifiedNameWrong = doesNotMatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualifiedName,
  ["MyName", "my.name", "123-abc"],
);
const labelWrong = doesNotMatch(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  label,
  ["my-name", "123-abc"],
);
const subdomainWrong = doesNotMatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomain,
  ["example.com"],
);

/** A label key, an annotation key, the name of a plugin: `name` or `prefix/name`. */
export function isQualifiedName(value: string): string[] {
  const parts = value.split("/");
  if (parts.length > 2) {
    return [`a valid label key ${qualifiedNameWrong} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const messages = prefix === undefined ? [] : prefixMessages(prefix);
  if (name === "") messages.push("name part must be non-empty");
  else if (utf8Length(name) > maxLabelBytes) messages.push(`name part must be no more than ${maxLabelBytes} bytes`);
  if (!qualifiedNameExpression.test(name)) messages.push(`name part ${qualifiedNameWrong}`);
  return messages;
}

function prefixMessages(prefix: string): string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  return subdomainMessages(prefix, "bytes").map((message) => `prefix part ${message}`);
}

export function isDNS1123Label(value: string): string[] {
  const messages: string[] = [];
  if (utf8Length(value) > maxLabelBytes) messages.push(`must be no more than ${maxLabelBytes} characters`);
  if (!labelExpression.test(value)) messages.push(subdomainExpression.test(value) ? "must not contain dots" : labelWrong);
  return messages;
}

export function isDNS1123Subdomain(value: string): string[] {
  return subdomainMessages(value, "characters");
}

function subdomainMessages(value: string, unit: "bytes" | "characters"): string[] {
  const messages: string[] = [];
  if (utf8Length(value) > maxSubdomainBytes) messages.push(`must be no more than ${maxSubdomainBytes} ${unit}`);
  if (!subdomainExpression.test(value)) messages.push(subdomainWrong);
  return messages;
}

/** validation.RegexError: every example but the last is followed by a comma of its own. */
function doesNotMatch(rule: string, expression: string, examples: readonly string[]): string {
  const listed = examples.map((example) => `'${example}', `).join(" or ");
  return `${rule} (e.g. ${listed}regex used for validation is '${expression}')`;
}

/** Bytes of a text in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Go's order of strings (bytes of UTF-8), which is the order of code points. For `sort`. */
export function compareText(a: string, b: string): number {
  const [left, right] = [a[Symbol.iterator](), b[Symbol.iterator]()];
  for (;;) {
    const [x, y] = [left.next(), right.next()];
    if (x.done === true || y.done === true) return (x.done === true ? 0 : 1) - (y.done === true ? 0 : 1);
    const difference = (x.value.codePointAt(0) ?? 0) - (y.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
}
