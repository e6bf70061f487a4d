import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"];

export const widths = [1280, 360] as const;
export const themes = ["light", "dark"] as const;

/** Every violation of WCAG 2.2 A and AA on the page as it stands, one line each. No page has frames: axe's legacy mode, which needs no second page, sees all of it. */
export async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).withTags(tags).setLegacyMode(true).analyze();
  return found.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.target.join(" ")}: ${violation.help}`));
}

/** Pixels that the page is wider than its window: 0 when nothing scrolls sideways. */
export function sideways(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

export interface Combination {
  readonly width: (typeof widths)[number];
  readonly theme: (typeof themes)[number];
  readonly violations: readonly string[];
  readonly sidewaysPx: number;
}

/** As the button does, but also behind an open dialog, which covers the button. */
function show(page: Page, theme: (typeof themes)[number]): Promise<void> {
  return page.evaluate((dark) => void document.documentElement.classList.toggle("dark", dark), theme === "dark");
}

/** Looks at the page as it stands in both themes and both widths. */
export async function inspectAll(page: Page): Promise<readonly Combination[]> {
  const combinations: Combination[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const theme of themes) {
      await show(page, theme);
      combinations.push({ width, theme, violations: await violations(page), sidewaysPx: await sideways(page) });
    }
  }
  return combinations;
}
