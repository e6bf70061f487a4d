import { describe, expect, it } from "vitest";
import { decodeInto } from "./go-decode";
import { parseJson, stringifyJson } from "./json";

const decode = (type: string, text: string): ReturnType<typeof decodeInto> => decodeInto(type, parseJson(text));

describe("decodeInto", () => {
  it("writes the fields in the order of the type, quantities and times respelled, empty ones left out", () => {
    const { value } = decode(
      "core/v1.PersistentVolumeClaim",
      '{"status":{"phase":""},"metadata":{"labels":{"b":"1","a":""},"creationTimestamp":"2026-01-02T03:04:05.6+01:00","name":"x"},"spec":{"resources":{"requests":{"storage":1024}},"accessModes":[]}}',
    );
    expect(stringifyJson(value)).toBe(
      '{"metadata":{"name":"x","creationTimestamp":"2026-01-02T02:04:05Z","labels":{"a":"","b":"1"}},"spec":{"resources":{"requests":{"storage":"1024"}}},"status":{}}',
    );
  });

  it("reports unknown and repeated fields with their paths", () => {
    const { strictErrors } = decode("core/v1.Pod", '{"spec":{"odd":1,"containers":[{"name":"a","name":"b","what":1}]}}');
    expect(strictErrors).toEqual(['unknown field "spec.odd"', 'duplicate field "spec.containers[0].name"', 'unknown field "spec.containers[0].what"']);
  });

  it.each([
    ['{"spec":{"containers":["x"]}}', "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type v1.Container"],
    ['{"metadata":{"annotations":{"a":5}}}', "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations of type string"],
    ['{"spec":{"terminationGracePeriodSeconds":1.5}}', "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64"],
    ["[]", "json: cannot unmarshal array into Go value of type v1.Pod"],
    [
      '{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"big"}}]}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])("refuses %s with the decoder's words", (text, message) => {
    expect(() => decode("core/v1.Pod", text)).toThrow(message);
  });
});
