import { describe, expect, it } from "vitest";
import { bytesInWords } from "./bytes";
import { percentOf } from "./use-bar";

describe("bytesInWords", () => {
  it.each([
    ["nothing", "0", "0B"],
    ["below a Ki", "1023", "1023B"],
    ["exactly a Ki", "1024", "1Ki"],
    ["a part of a Gi", "8482560410", "7.9Gi"],
    ["large numbers keep no tenth", "134742016", "128Mi"],
    ["beyond what a double holds", "9223372036854775807", "7.9Ei"],
  ])("%s", (_name, bytes, text) => expect(bytesInWords(bytes)).toBe(text));
});

describe("percentOf", () => {
  it.each([
    ["nearly full is not full", "999", "1000", 99],
    ["full", "1000", "1000", 100],
    ["over full, as quota can be", "1100", "1000", 110],
    ["unknown use", undefined, "1000", undefined],
    ["no capacity", "0", "0", undefined],
  ])("%s", (...[, used, capacity, percent]) => expect(percentOf(used, capacity)).toBe(percent));
});
