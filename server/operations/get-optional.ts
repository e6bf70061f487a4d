import { codeOf } from "@/lib/errors";
import type { OperationClient } from "./ports";

/** An object, or undefined where it does not exist or may not be read; any other failure is thrown. */
export function getOptional<T>(client: OperationClient, path: string): Promise<T | undefined> {
  return getUnless(client, path, ["not-found", "forbidden"]);
}

/** An object, or undefined where it is gone. One that may not be read is not gone: that is thrown, as any other failure. */
export function getUnlessGone<T>(client: OperationClient, path: string): Promise<T | undefined> {
  return getUnless(client, path, ["not-found"]);
}

async function getUnless<T>(client: OperationClient, path: string, codes: readonly string[]): Promise<T | undefined> {
  try {
    return await client.get<T>(path);
  } catch (error) {
    if (codes.includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}
