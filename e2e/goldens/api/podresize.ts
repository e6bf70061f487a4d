/** Goldens `podresize`: the resize door of pods, its bare validation, and the ordinary update. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { goldenContext, kindOf, toObject, toObjects } from "@/e2e/goldens/api-context";
import { updateAnswer } from "@/e2e/goldens/update-answer";
import { complete } from "@/server/apiserver/codec";
import { errorText } from "@/server/apiserver/field";
import { rulesOf } from "@/server/apiserver/rules";

/** The validation alone, on objects as they come: nothing is put back first. */
function validateOnly({ in: input }: GoldenLine): Answer {
  const context = goldenContext({ gates: input["gates"] });
  const kind = kindOf(context.kinds, toObject(input["old"]));
  const decode = (value: unknown): ReturnType<typeof complete> => complete(kind, toObject(value), { keepEmpty: true });
  const errors = rulesOf(kind).subresources?.["resize"]?.validate(decode(input["new"]), decode(input["old"]), context) ?? [];
  context.store.close();
  if (errors.length === 0) return { out: { valid: true } };
  return { err: errors.map((error) => ({ type: error.type, field: error.field, text: errorText(error) })) };
}

export const adapter: Adapter = {
  answer(line): Promise<Answer> {
    if (line.fn === "validateResize") return Promise.resolve(validateOnly(line));
    const nodes = toObjects(line.in["nodes"]);
    const subresource = line.fn === "resize" ? "resize" : "";
    return Promise.resolve(updateAnswer(line.in, { subresource, nodes, admission: line.in["nodes"] !== undefined }));
  },
};
