/** The shape of a kind's printer and what printers share. Source: kubernetes v1.37.2, pkg/printers. */
import type { Json, JsonObject } from "@/lib/kube/json";
import { objectAt, textAt } from "@/server/apiserver/access";
import { humanDuration } from "./human-duration";

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number";
  readonly format?: string;
  readonly description: string;
  /** 1: shown by `-o wide` alone. */
  readonly priority?: 0 | 1;
}

export interface Printer {
  readonly columns: readonly Column[];
  cells(object: JsonObject, nowMs: number): Json[];
  /** Row conditions, e.g. that a pod is completed. */
  conditions?(object: JsonObject): Json | undefined;
}

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
};

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
};

/** How long ago; `<unknown>` without a time. */
export function since(time: string, nowMs: number): string {
  return time === "" ? "<unknown>" : humanDuration(nowMs - Date.parse(time));
}

export function ageOf(object: JsonObject, nowMs: number): string {
  return since(textAt(objectAt(object, "metadata"), "creationTimestamp"), nowMs);
}

export function nameOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "name");
}
