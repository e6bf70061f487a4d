/** A pod from text as the real codec makes it: YAML to JSON, decoded into the Go type, defaults filled in. */
import { parseDocument, type YAMLError } from "yaml";
import { VolumeError } from "@/server/volume/errors";
import { decodeInto } from "@/lib/kube/go-decode";
import { isObject, newObject, parseJson, type Json } from "@/lib/kube/json";
import type { Pod } from "@/lib/kube/pods";
import { withDefaults } from "@/server/apiserver/defaults";

/** What Go's YAML parser says where ours says this. Where several fit, the commonest. */
const goYamlTexts: Readonly<Partial<Record<YAMLError["code"], string>>> = {
  BLOCK_AS_IMPLICIT_KEY: "mapping values are not allowed in this context",
  TAB_AS_INDENT: "found character that cannot start any token",
  BAD_SCALAR_START: "found character that cannot start any token",
  MULTILINE_IMPLICIT_KEY: "could not find expected ':'",
  BAD_INDENT: "did not find expected ',' or ']'",
  MISSING_CHAR: "found unexpected end of stream",
};

export function podFromText(text: string): Pod {
  const document = parseDocument(text, { version: "1.1", schema: "core", uniqueKeys: false });
  const [error] = document.errors;
  if (error) throw new VolumeError(`yaml: ${goYamlText(error, text)}`);
  const value = parseJson(JSON.stringify(document.toJS() ?? null)).value;
  if (value !== null && !isObject(value)) {
    const fields = String.raw`APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\""`;
    throw new VolumeError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(value)} into Go value of type struct { ${fields} }`,
    );
  }
  const decoded = decodeInto("core/v1.Pod", { value: value ?? newObject(), duplicates: new Map() });
  return withDefaults("core/v1.Pod", decoded.value) as unknown as Pod;
}

function goKind(value: Json): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}

/** Go names the line only from the second on. */
function goYamlText(error: YAMLError, text: string): string {
  const line = error.linePos?.[0].line ?? 1;
  const startsWithColon = text.trimStart().startsWith(":");
  const words = startsWithColon ? undefined : goYamlTexts[error.code];
  return `${line > 1 ? `line ${line}: ` : ""}${words ?? "did not find expected key"}`;
}
