import { describe, expect, it } from "vitest";
import { duration, span } from "./time-text";

describe("span", () => {
  it.each([
    ["below a second", 900, "0 s"],
    ["seconds", 59_999, "59 s"],
    ["one minute exactly", 60_000, "1 min"],
    ["an hour less a second", 3_599_000, "59 min"],
    ["hours", 7_200_000, "2 h"],
    ["days", 2 * 86_400_000 + 3_600_000, "2 d"],
  ])("%s", (_name, ms, text) => expect(span(ms)).toBe(text));
});

describe("duration", () => {
  it.each([
    ["short work to a tenth", 812, "0.8 s"],
    ["seconds", 27_400, "27 s"],
    ["just under a minute", 59_600, "1 min 0 s"],
    ["minutes", 252_000, "4 min 12 s"],
    ["hours", 3_720_000, "1 h 2 min"],
  ])("%s", (_name, ms, text) => expect(duration(ms)).toBe(text));
});
