import { describe, expect, it } from "vitest";
import { unifiedDiff } from "./unified-diff";

const lines = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join("\n");

describe("unifiedDiff", () => {
  it("is empty for equal texts", () => {
    expect(unifiedDiff("a\nb", "a\nb")).toBe("");
  });

  it("shows three lines around a change", () => {
    expect(unifiedDiff(lines(1, 9), lines(1, 9).replace("line 5", "other"))).toBe(
      "@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+other\n line 6\n line 7\n line 8\n",
    );
  });

  it("cuts distant changes into hunks", () => {
    const after = `new\n${lines(1, 20)}\nlast`;
    expect(unifiedDiff(lines(1, 20), after)).toBe(
      "@@ -1,3 +1,4 @@\n+new\n line 1\n line 2\n line 3\n@@ -18,3 +19,4 @@\n line 18\n line 19\n line 20\n+last\n",
    );
  });
});
