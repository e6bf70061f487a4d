import { expect, it } from "vitest";
import { createLog } from "./log";

it.each([
  ["a line break", "a\nb", "a\\nb"],
  ["an escape of one byte, which JSON lets through", "a\u009b2Jb", "a\ufffd2Jb"],
  ["a turn of direction", "a\u202eb", "a\ufffdb"],
])("a field with %s stays on its line and moves no cursor", (_, value, shown) => {
  const lines: string[] = [];
  createLog((line) => lines.push(line), () => "now").warn("hostile\u001b[2J", { value });
  expect(lines).toEqual([`now warn hostile\ufffd[2J value="${shown}"\n`]);
});
