/** IP addresses as Go's net package reads them. */

const hexGroup = /^[0-9a-fA-F]{1,4}$/;

/**
 * netutils.IsIPv6String: an IPv6 address without a zone that is no IPv4 address in disguise (`::ffff:1.2.3.4`).
 * Source: k8s.io/utils/net/ipfamily.go.
 */
export function isIPv6(text: string): boolean {
  const groups = ipv6Groups(text);
  if (groups === undefined) return false;
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return !mapped;
}

/** The eight groups of an IPv6 address, or undefined. */
function ipv6Groups(text: string): readonly number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => (half === "" ? [] : groupsOf(half)));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === 8 ? head : undefined;
  if (tail === undefined || head.length + tail.length > 7) return undefined;
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** Groups between colons; the last may be an IPv4 address, which makes two. */
function groupsOf(text: string): number[] | undefined {
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const embedded = index === parts.length - 1 ? ipv4Groups(part) : undefined;
    if (embedded) groups.push(...embedded);
    else if (hexGroup.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function ipv4Groups(text: string): readonly [number, number] | undefined {
  const bytes = text.split(".");
  if (bytes.length !== 4 || !bytes.every((byte) => /^\d{1,3}$/.test(byte) && Number(byte) < 256)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  return [a * 256 + b, c * 256 + d];
}
