/** Goldens `storagecreate`: claims, volumes and the storage.k8s.io kinds, made and changed. */
import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { createAnswer } from "@/e2e/goldens/create-answer";
import { updateAnswer } from "@/e2e/goldens/update-answer";

export const adapter: Adapter = {
  answer(line): Promise<Answer> {
    if (line.fn === "create") return Promise.resolve(createAnswer(line.in["object"]));
    return Promise.resolve(updateAnswer(line.in, { subresource: line.fn === "updateStatus" ? "status" : "" }));
  },
};
