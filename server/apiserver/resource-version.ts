/** Resource versions in requests. Source: k8s.io/apiserver/pkg/storage/api_object_versioner.go. */
import { goQuote } from "@/lib/go-text";
import type { ApiError } from "./status";

const largest = 2n ** 64n - 1n;

/** Why strconv.ParseUint refuses the text, or the number. */
export function parseUint(text: string): bigint | string {
  if (!/^[0-9]+$/u.test(text)) return `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`;
  const value = BigInt(text);
  return value > largest ? `strconv.ParseUint: parsing ${goQuote(text)}: value out of range` : value;
}

/** "" and "0" are 0. `refuse` makes the error of the text. */
export function parseResourceVersion(text: string, refuse: (text: string) => ApiError): bigint {
  if (text === "" || text === "0") return 0n;
  const value = parseUint(text);
  if (typeof value === "string") throw refuse(`resourceVersion: Invalid value: ${goQuote(text)}: ${value}`);
  return value;
}
