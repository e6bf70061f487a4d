import type { Adapter } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { specOf, goldenSpecOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import type { PersistentVolume } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import {
  isKubeletExpandable,
  kubeletExpandablePluginName,
  newSpecFromPersistentVolume,
  newSpecFromVolume,
  specName,
} from "@/server/volume/spec";

interface Input {
  readonly spec?: GoldenSpec | null;
  readonly method?: string;
  readonly volume?: Volume | null;
  readonly persistentVolume?: PersistentVolume | null;
  readonly readOnly?: boolean;
}

const methods = { name: specName, isKubeletExpandable, kubeletExpandablePluginName };

export const adapter: Adapter = {
  async answer(line) {
    const input: Input = line.in;
    if (line.fn === "NewSpecFromVolume") return { out: goldenSpecOf(newSpecFromVolume(input.volume ?? undefined)) };
    if (line.fn === "NewSpecFromPersistentVolume") {
      return { out: goldenSpecOf(newSpecFromPersistentVolume(input.persistentVolume ?? undefined, input.readOnly ?? false)) };
    }
    const spec = specOf(input.spec);
    if (line.fn === "SpecNil") {
      const method = Object.entries(methods).find(([name]) => name === input.method)?.[1];
      return answerOf(() => method?.(spec));
    }
    return answerOf(() => Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, method(spec)])));
  },
};
