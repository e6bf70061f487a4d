import { expect, it } from "vitest";
import { messageWithCauses } from "./errors";

const caused = (text: string, cause: unknown) => new Error(text, { cause });

it.each([
  ["a text alone", "no", "no"],
  ["an error without a cause", new Error("no"), "no"],
  ["a cause that the text repeats", caused("mount failed: busy", new Error("busy")), "mount failed: busy"],
  ["a cause that it does not say", caused("unexpected end", new Error("permission denied")), "unexpected end (permission denied)"],
  ["a deeper cause", caused("set-up failed: unexpected end", caused("unexpected end", "permission denied")), "set-up failed: unexpected end (permission denied)"],
  ["an empty cause", caused("no", new Error("")), "no"],
])("the text with its causes: %s", (_name, error, text) => {
  expect(messageWithCauses(error)).toBe(text);
});

it("the text of an error that is its own cause ends", () => {
  const error = new Error("round");
  error.cause = error;
  expect(messageWithCauses(error)).toBe("round");
});
