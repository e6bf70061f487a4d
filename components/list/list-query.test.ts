import { describe, expect, it } from "vitest";
import { sortingOf, sortingText } from "./list-query";

const order = { columns: ["started", "status"], descending: true } as const;

describe("sorting in the address", () => {
  it.each([
    ["nothing is the order rows come in", "", { column: "started", descending: true }],
    ["a column", "status", { column: "status", descending: false }],
    ["a column turned round", "-status", { column: "status", descending: true }],
    ["the first column turned round", "started", { column: "started", descending: false }],
    ["an unknown column is the order rows come in", "-size", { column: "started", descending: true }],
  ])("%s", (_name, text, sorting) => expect(sortingOf(text, order)).toEqual(sorting));

  it.each(["", "status", "-status", "started"])("'%s' comes back as it was", (text) => {
    expect(sortingText(sortingOf(text, order), order)).toBe(text);
  });
});
