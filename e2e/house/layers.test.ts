import { ESLint } from "eslint";
import { describe, expect, it } from "vitest";

/** A planted import per arrow: the lint table must refuse it, and must let the allowed one pass. */
const cases = [
  { file: "lib/planted.ts", code: 'import { x } from "@/server/volume/spec";\nexport const y = x;', refused: true },
  { file: "server/volume/planted.ts", code: 'import { x } from "@/server/hosts/memory";\nexport const y = x;', refused: true },
  { file: "server/volume/planted.ts", code: 'import { x } from "@/lib/errors";\nexport const y = x;', refused: false },
  { file: "server/api/planted.ts", code: 'import { x } from "@/server/hosts/linux";\nexport const y = x;', refused: true },
  { file: "server/node/planted.ts", code: 'import { x } from "@/server/hosts/linux/mounter";\nexport const y = x;', refused: true },
  { file: "components/planted.ts", code: 'import { x } from "@/server/api/router";\nexport const y = x;', refused: true },
  { file: "components/planted.ts", code: 'import type { x } from "@/server/api/router";\nexport type Y = x;', refused: false },
  { file: "components/planted.ts", code: 'import type { x } from "@/server/node/node";\nexport type Y = x;', refused: true },
  { file: "server/http/planted.ts", code: 'import { x } from "../api/router";\nexport const y = x;', refused: true },
];

describe("the layer table", () => {
  const eslint = new ESLint();
  it.each(cases)("$file: $code", async ({ file, code, refused }) => {
    const [result] = await eslint.lintText(code, { filePath: file });
    const rules = result?.messages.map((message) => message.ruleId) ?? [];
    expect(rules.includes("@typescript-eslint/no-restricted-imports")).toBe(refused);
  });

  it.each([
    { file: "lib/planted.ts", code: "export const t = Date.now();", refused: true },
    { file: "server/volume/planted.ts", code: "export const t = Math.random();", refused: true },
    { file: "server/node/planted.ts", code: "export const f = (fs: { rmSync(p: string): void }) => fs.rmSync('/');", refused: true },
    { file: "server/node/planted.ts", code: "export const f = (x: { y?: number }) => x.y!;", refused: true },
  ])("$file refuses: $code", async ({ file, code, refused }) => {
    const [result] = await eslint.lintText(code, { filePath: file });
    expect(result?.messages.some((message) => message.ruleId === "no-restricted-syntax")).toBe(refused);
  });
});
