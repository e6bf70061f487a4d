/** Goldens `pvcupdate`: updates of claims and of their status, and the plugin that admits a resize. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { goldenContext, kindOf, toObject, toObjects } from "@/e2e/goldens/api-context";
import { updateAnswer } from "@/e2e/goldens/update-answer";
import { complete } from "@/server/apiserver/codec";
import { rulesOf } from "@/server/apiserver/rules";
import { isApiError } from "@/server/apiserver/status";

function admitOnly({ in: input }: GoldenLine): Answer {
  const context = goldenContext({ objects: toObjects(input["classes"]) });
  const old = toObject(input["old"]);
  const kind = kindOf(context.kinds, old);
  try {
    rulesOf(kind).update.admit?.(complete(kind, toObject(input["new"])), complete(kind, old), context);
    return { out: { allowed: true } };
  } catch (error) {
    if (isApiError(error)) return { err: error.status };
    throw error;
  } finally {
    context.store.close();
  }
}

export const adapter: Adapter = {
  answer(line): Promise<Answer> {
    if (line.fn === "admit") return Promise.resolve(admitOnly(line));
    const subresource = line.fn === "updateStatus" ? "status" : "";
    return Promise.resolve(updateAnswer(line.in, { subresource, objects: toObjects(line.in["classes"]) }));
  },
};
