import { pages } from "@/components/shell/pages";
import { decodedPart, paths, pluginOfSegment } from "@/components/shell/paths";

const shortIdLength = 8;

export interface Crumb {
  readonly text: string;
  /** undefined: where one is. */
  readonly href?: string;
}

/** Where one is, read from the address: `/c/<cluster>/volumes/shop/web-0/data` is cluster / Volumes / shop / web-0 / data. */
export function crumbsOf(pathname: string, cluster: { id: string; name: string }): readonly Crumb[] {
  const [, , , noun = "", ...rest] = pathname.split("/").map(decodedPart);
  const title = pages.find((page) => page.noun === noun)?.title ?? noun;
  const trail: Crumb[] = [
    { text: cluster.name, href: paths.list(cluster.id, pages[0]?.noun ?? "") },
    { text: title, href: paths.list(cluster.id, noun) },
    ...trailOf(noun, rest).map(({ text, filter }) => ({ text, href: paths.filtered(cluster.id, noun, filter) })),
  ];
  return trail.map((crumb, index) => (index === trail.length - 1 ? { text: crumb.text } : crumb));
}

function trailOf(noun: string, rest: readonly string[]): readonly { text: string; filter: string }[] {
  const [first, second, third] = rest;
  if (first === undefined) return [];
  if (noun === "operations") return [{ text: first.slice(0, shortIdLength), filter: first }];
  if (noun === "plugins") return [{ text: pluginOfSegment(first), filter: first }];
  const trail = [{ text: first, filter: `namespace:${first}` }];
  if (second !== undefined) trail.push({ text: second, filter: `namespace:${first} pod:${second}` });
  if (third !== undefined) trail.push({ text: third, filter: third });
  return trail;
}
