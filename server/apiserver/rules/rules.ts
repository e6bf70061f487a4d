/** The shape of a kind's rules: what the real server's strategy of that kind does, as functions on canonical objects. */
import type { JsonObject } from "@/lib/kube/json";
import type { ServerContext } from "@/server/apiserver/context";
import type { FieldError } from "@/server/apiserver/field";

export interface UpdateRules {
  /** Puts back what this door may not change; changes `next` in place. */
  prepare(next: JsonObject, old: JsonObject, context: ServerContext): void;
  validate(next: JsonObject, old: JsonObject, context: ServerContext): FieldError[];
  warnings?(next: JsonObject, old: JsonObject): readonly string[];
  /** Admission: throws an ApiError where it refuses. Asked after validation. */
  admit?(next: JsonObject, old: JsonObject, context: ServerContext): void;
}

export interface Rules {
  /** Mutating admission, before the rules of the kind. */
  admitCreate?(object: JsonObject, context: ServerContext): void;
  prepareForCreate(object: JsonObject, context: ServerContext): void;
  validateCreate(object: JsonObject, context: ServerContext): FieldError[];
  warningsOnCreate?(object: JsonObject): readonly string[];
  readonly update: UpdateRules;
  /** By subresource: `status`, `resize`. */
  readonly subresources?: Readonly<Record<string, UpdateRules>>;
  /** A PUT or PATCH without resourceVersion is taken; true unless the kind says otherwise. */
  readonly needsResourceVersion?: boolean;
  /** A PUT of a name that does not exist creates it. */
  readonly createsOnUpdate?: boolean;
  /** Seconds between the wish to delete and the removal; undefined: removed at once. */
  graceSeconds?(object: JsonObject, asked: number | undefined): number | undefined;
  /** What a deletion adds to an object that stays for its grace period. */
  readonly deletedObjectStays?: boolean;
}
