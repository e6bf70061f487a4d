/** Tells when nothing moves any more, by what the process did, never by how long it did nothing. */
import { picture, namespace, type PictureOptions } from "@/e2e/crash/picture";
import type { Doors } from "@/e2e/crash/session";
import { codeOf, messageOf } from "@/lib/errors";
import { resourcePath } from "@/server/cluster/resources";

/** The first may have begun before the picture that it is to confirm. */
const wholePasses = 2;
const shownDifferences = 20;

/**
 * Looks again and again at a process: it is still when whole passes of its node over the world changed nothing in the picture, which
 * is `expected` where that is given. Each pass is begun by a change that no picture shows.
 */
export class Stillness {
  lines: readonly string[] = [];
  private passes: number | undefined;
  private reportedAt: string | undefined;
  private doors: Doors | undefined;
  private pulses = 0;

  constructor(
    private readonly options: PictureOptions,
    private readonly expected?: readonly string[],
  ) {}

  /** What is not still yet, in words. */
  async missing(doors: Doors): Promise<string | undefined> {
    const before = this.expected ?? this.lines;
    this.lines = await picture(doors, this.options).catch(unlessVanished);
    if (doors !== this.doors) this.passes = undefined;
    this.doors = doors;
    if (!isEqual(this.lines, before)) {
      this.passes = undefined;
      return `it still differs:\n${differences(before, this.lines)}`;
    }
    if (this.passes === wholePasses) return undefined;
    await this.countPass(doors);
    return "it is equal, and may still move";
  }

  /** A pass ends with a report of the node. */
  private async countPass(doors: Doors): Promise<void> {
    const reportedAt = await reportTime(doors);
    if (reportedAt === undefined || (this.passes !== undefined && reportedAt === this.reportedAt)) return;
    this.passes = this.passes === undefined ? 0 : this.passes + 1;
    this.reportedAt = reportedAt;
    this.pulses += 1;
    await doors.kube.patch(resourcePath("namespaces", { name: namespace }), { type: "merge", body: { metadata: { annotations: { pulse: String(this.pulses) } } } });
  }
}

async function reportTime({ trpc, cluster }: Doors): Promise<string | undefined> {
  const { rows } = await trpc.node.list.query({ cluster });
  return rows[0]?.reportedAt;
}

/** Something that was just being removed: not the end yet. */
function unlessVanished(error: unknown): readonly string[] {
  if (codeOf(error) === "ENOENT") return [messageOf(error)];
  throw error;
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

function differences(expected: readonly string[], found: readonly string[]): string {
  const missing = subtract(expected, found).map((line) => `- ${line}`);
  const more = subtract(found, expected).map((line) => `+ ${line}`);
  return [...missing, ...more].slice(0, shownDifferences).join("\n");
}

/** Of a line that stands there twice one stays when the other side has one. */
function subtract(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}
