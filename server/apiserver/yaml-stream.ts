/**
 * The documents of one text as kubectl splits it: YAML documents between lines of three dashes, or JSON objects one after the other.
 * Source: k8s.io/apimachinery v0.37.2, pkg/util/yaml/decoder.go (YAMLOrJSONDecoder, YAMLReader).
 */
import { readYaml, type YamlDocument, type YamlProblem } from "./yaml";

/** Lines count from the beginning of the whole text. */
export function readYamlStream(text: string): YamlDocument[] {
  const documents: YamlDocument[] = [];
  let rest = 0;
  let above = 0;
  for (let end = endOfJsonObject(text, rest); end !== undefined; end = endOfJsonObject(text, rest)) {
    const part = text.slice(rest, end);
    documents.push(read(part, above));
    above += linesIn(part);
    rest = end;
  }
  return [...documents, ...yamlDocuments(text.slice(rest), above)];
}

function yamlDocuments(text: string, linesAbove: number): YamlDocument[] {
  const documents: YamlDocument[] = [];
  let start = 0;
  let above = linesAbove;
  for (const separator of text.matchAll(/^---(.*)$/gmu)) {
    const part = text.slice(start, separator.index);
    documents.push(read(part, above));
    above += linesIn(part);
    start = separator.index + separator[0].length;
    const after = (separator[1] ?? "").trim();
    if (after !== "" && !after.startsWith("#")) documents.push(refused(`invalid Yaml document separator: ${after}`, above + 1));
  }
  return [...documents, read(text.slice(start), above)];
}

function linesIn(text: string): number {
  return text.split("\n").length - 1;
}

function read(text: string, above: number): YamlDocument {
  const { value, errors, isSyntax, repeated, moreAtLine, lineOf } = readYaml(text);
  const more = moreAtLine === undefined ? [] : [{ line: moreAtLine, message: "a document ended above; another one begins with a line of three dashes" }];
  const moved = (problems: readonly YamlProblem[]) => problems.map(({ line, message }) => ({ line: line + above, message }));
  return { value, errors: moved([...errors, ...more]), isSyntax, repeated: moved(repeated), moreAtLine: undefined, lineOf: (field) => lineOf(field) + above };
}

function refused(message: string, line: number): YamlDocument {
  return { value: null, errors: [{ line, message }], isSyntax: true, repeated: [], moreAtLine: undefined, lineOf: () => line };
}

/** Where the JSON object ends that begins at `from`, after white space; undefined where none begins or it does not end. */
function endOfJsonObject(text: string, from: number): number | undefined {
  const opening = /\S/gu;
  opening.lastIndex = from;
  if (opening.exec(text)?.[0] !== "{") return undefined;
  const token = /"(?:[^"\\]|\\.)*"|[{}]/gsu;
  token.lastIndex = from;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === "{") depth += 1;
    if (found[0] === "}") depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return undefined;
}
