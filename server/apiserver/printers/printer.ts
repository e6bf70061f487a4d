/** The shape of a kind's printer and what printers share. Source: kubernetes v1.37.2, pkg/printers. */
import type { Json, JsonObject } from "@/lib/kube/json";
import { objectAt, textAt } from "@/server/apiserver/access";
import { humanDuration } from "./human-duration";

export interface Surroundings {
  readonly nowMs: number;
  /** The items of the list; absent where one object is shown. */
  readonly items?: readonly JsonObject[];
}

export interface Printer {
  /** The cells of one object's row, in the order of the kind's columns. */
  cells(object: JsonObject, around: Surroundings): Json[];
  /** Row conditions: that a pod is completed. */
  conditions?(object: JsonObject): Json | undefined;
}

/** How long ago; `<unknown>` without a time. */
export function since(time: string, { nowMs }: Surroundings): string {
  return time === "" ? "<unknown>" : humanDuration(nowMs - Date.parse(time));
}

export function ageOf(object: JsonObject, around: Surroundings): string {
  return since(textAt(objectAt(object, "metadata"), "creationTimestamp"), around);
}

export function nameOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "name");
}

export function isDeleted(object: JsonObject): boolean {
  return textAt(objectAt(object, "metadata"), "deletionTimestamp") !== "";
}
