/** Objects as YAML that kubectl and the API server read back as they were: a text that they would take for something else is quoted. */
import { stringify, type ScalarTag, type Tags, type ToStringOptions } from "yaml";

/** What go-yaml takes for an integer or a merge, and YAML 1.1 does not. */
const goYaml: ScalarTag = { tag: "tag:yaml.org,2002:int", default: true, test: /^(<<|[-+]?0[xXoObB].*|[-+]_.*)$/u, resolve: (text) => text };

/** The text `<<` of an object is no merge. */
const withoutMerge = (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:merge");

const schema = { schema: "yaml-1.1", compat: [goYaml], customTags: withoutMerge };

export interface YamlTextOptions {
  readonly sortMapEntries?: boolean;
  /** False: a list stands at the column of its key, as Go writes it. */
  readonly indentSeq?: ToStringOptions["indentSeq"];
}

export function yamlText(value: unknown, options: YamlTextOptions = {}): string {
  return stringify(value, { ...schema, lineWidth: 0, ...options });
}
