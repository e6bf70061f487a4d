/** Goldens `podvolumes`: pods with every kind of volume, mount and device. */
import type { Adapter, Answer } from "@/e2e/goldens/adapter";
import { createAnswer } from "@/e2e/goldens/create-answer";

export const adapter: Adapter = {
  answer: (line): Promise<Answer> => Promise.resolve(createAnswer(line.in["object"])),
};
