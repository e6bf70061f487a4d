/** Goldens `patches`: merge, JSON and strategic merge patches, and the making of the latter. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { codeOf, messageOf } from "@/lib/errors";
import { applyJsonPatch, decodeJsonPatch } from "@/lib/kube/json-patch";
import { isObject, parseJson, stringifyJson, type Json, type JsonObject } from "@/lib/kube/json";
import { canonical } from "@/lib/kube/go-decode";
import { applyMergePatch, parseMergePatch } from "@/lib/kube/merge-patch";
import { createTwoWayPatch } from "@/lib/kube/strategic-diff";
import { applyStrategicMergePatch, objectOfPatch } from "@/lib/kube/strategic-merge";
import { builtInKinds } from "@/server/apiserver/kinds";

type Input = GoldenLine["in"];

/** A body that is no JSON, or not the form that the patch needs. */
class BadPatch extends Error {
  readonly code = "bad-patch";
}

const typeOf = (input: Input): string => builtInKinds.find(({ kind }) => kind === input["kind"])?.type ?? "";

/** The golden's own value, in our form of JSON. */
function object(value: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(value ?? {})).value;
  if (!isObject(parsed)) throw new BadPatch("invalid JSON document");
  return parsed;
}

/** The original goes through its Go type first, as on the server. */
function typed(input: Input): JsonObject {
  return canonical(typeOf(input), object(input["original"]));
}

function strategicPatchOf(input: Input): JsonObject {
  try {
    return objectOfPatch(String(input["patch"]));
  } catch (error) {
    throw new BadPatch(messageOf(error), { cause: error });
  }
}

function mergePatch(input: Input): Json {
  const patch = parseMergePatch(String(input["patch"]));
  return Array.isArray(patch) ? patch : applyMergePatch(object(input["original"]), patch);
}

const questions: Readonly<Record<string, (input: Input) => Json>> = {
  strategic: (input) => applyStrategicMergePatch(typeOf(input), typed(input), strategicPatchOf(input)),
  twoWay: (input) => createTwoWayPatch(typeOf(input), object(input["original"]), object(input["modified"])),
  merge: mergePatch,
  json: (input) => parseJson(applyJsonPatch(stringifyJson(object(input["original"])), decodeJsonPatch(String(input["patch"])))).value,
};

function statusOf(error: unknown): number {
  const code = codeOf(error);
  if (code === "bad-patch") return 400;
  if (code === "patch-failed") return 422;
  const status = typeof error === "object" && error !== null && "status" in error ? error.status : undefined;
  return typeof status === "number" ? status : 500;
}

export const adapter: Adapter = {
  answer(line): Promise<Answer> {
    const question = questions[line.fn];
    if (question === undefined) throw new Error(`unknown fn ${line.fn}`);
    try {
      return Promise.resolve({ out: JSON.parse(stringifyJson(question(line.in))) });
    } catch (error) {
      const text = messageOf(error);
      return Promise.resolve({ err: line.fn === "twoWay" ? text : { code: statusOf(error), text } });
    }
  },
};
