/** Paths, modes and names inside volume sources. Source: kubernetes v1.37.2, pkg/apis/core/validation/validation.go. */
import type { JsonObject } from "@/lib/kube/json";
import { isDNS1123Label, isDNS1123Subdomain, utf8Length } from "@/lib/names";
import { numberAt, textAt } from "@/server/apiserver/access";
import { invalid, required, tooLong, type FieldError } from "@/server/apiserver/field";

export function backstepErrors(path: string, at: string): FieldError[] {
  return path.split("/").includes("..") ? [invalid(at, path, "must not contain '..'")] : [];
}

/** Relative, and never upwards. */
export function descendingErrors(path: string, at: string): FieldError[] {
  const absolute = path.startsWith("/") ? [invalid(at, path, "must be a relative path")] : [];
  return [...absolute, ...backstepErrors(path, at)];
}

/** And no name that the atomic writer keeps for itself. */
export function nonReservedErrors(path: string, at: string): FieldError[] {
  const reserved = path.startsWith("..") && !path.startsWith("../") ? [invalid(at, path, "must not start with '..'")] : [];
  return [...descendingErrors(path, at), ...reserved];
}

export function fileModeErrors(object: JsonObject, key: string, at: string): FieldError[] {
  const mode = numberAt(object, key);
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return [];
  return [invalid(`${at}.${key}`, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}

/** The texts that must not be empty. */
export function requiredTexts(object: JsonObject, keys: readonly string[], at: string): FieldError[] {
  return keys.filter((key) => textAt(object, key) === "").map((key) => required(`${at}.${key}`, ""));
}

export function csiDriverNameErrors(name: string, at: string): FieldError[] {
  if (name === "") return [required(at, "")];
  const long = utf8Length(name) > 63 ? [tooLong(at, 63)] : [];
  return [...long, ...isDNS1123Subdomain(name.toLowerCase()).map((message) => invalid(at, name, message))];
}

export function labelErrorsAt(name: string, at: string): FieldError[] {
  return isDNS1123Label(name).map((message) => invalid(at, name, message));
}

export function keyToPathErrors(item: JsonObject, at: string): FieldError[] {
  const path = textAt(item, "path");
  return [...requiredTexts(item, ["key", "path"], at), ...nonReservedErrors(path, `${at}.path`), ...fileModeErrors(item, "mode", at)];
}

export function inclusiveRange(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}
