/**
 * Names as Kubernetes validates them: each check gives a list of messages, empty when the name is valid. Lengths are bytes of UTF-8.
 * Source: apimachinery v1.37.2, pkg/util/validation (IsQualifiedName, IsValidLabelValue, IsDNS1123Label, IsDNS1123Subdomain).
 */

const qualifiedName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const labelValue = `(${qualifiedName})?`;
const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;

const qualifiedNameExpression = new RegExp(`^${qualifiedName}$`);
const labelValueExpression = new RegExp(`^${labelValue}$`);
const labelExpression = new RegExp(`^${label}$`);
const subdomainExpression = new RegExp(`^${subdomain}$`);

const maxLabelBytes = 63;
const maxSubdomainBytes = 253;

const qualifiedNameWrong = doesNotMatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  qualifiedName,
  ["MyName", "my.name", "123-abc"],
);
const labelValueWrong = doesNotMatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValue,
  ["MyValue", "my_value", "12345"],
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

/** The value of a label (IsValidLabelValue); the empty text is one. */
export function isLabelValue(value: string): string[] {
  const messages: string[] = [];
  if (utf8Length(value) > maxLabelBytes) messages.push(`must be no more than ${maxLabelBytes} bytes`);
  if (!labelValueExpression.test(value)) messages.push(labelValueWrong);
  return messages;
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

/**
 * A name that is one segment of a path. Source: apimachinery v1.37.2, pkg/api/validation/path (IsValidPathSegmentName,
 * IsValidPathSegmentPrefix for the beginning of a name).
 */
export function isPathSegmentName(value: string, prefix = false): string[] {
  if (!prefix && (value === "." || value === "..")) return [`may not be '${value}'`];
  return ["/", "%"].filter((part) => value.includes(part)).map((part) => `may not contain '${part}'`);
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

/** Go's order of strings (bytes of UTF-8), which is the order of code points and not that of `a < b` here. For `sort`. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Halves of a surrogate pair stand for code points above every other UTF-16 unit. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
