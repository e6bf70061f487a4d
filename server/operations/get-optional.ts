import { codeOf } from "@/lib/errors";
import type { OperationClient } from "./ports";

/** An object, or undefined where it does not exist or may not be read; any other failure is thrown. */
export async function getOptional<T>(client: OperationClient, path: string): Promise<T | undefined> {
  try {
    return await client.get<T>(path);
  } catch (error) {
    if (codeOf(error) === "not-found" || codeOf(error) === "forbidden") return undefined;
    throw error;
  }
}
