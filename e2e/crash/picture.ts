/**
 * What is there, as lines that two runs can be compared by: mounts, loop devices and folders as the kernel has them, the objects of the
 * embedded API, and the journal. Pods and disks are called by their names instead of their uids; times and versions are left out.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Names, World } from "@/e2e/crash/names";
import type { Doors } from "@/e2e/crash/session";
import { lockWaitMs } from "@/lib/database";
import type { KubeObject } from "@/lib/kube/meta";
import { resourcePath } from "@/server/cluster/resources";
import { parseMountInfo } from "@/server/hosts/linux";
import type { OperationRecord } from "@/server/operations/operation";

export const namespace = "crash";

export async function readWorld({ kube }: Doors): Promise<World> {
  const list = async (path: string) => (await kube.list<KubeObject>(path)).items;
  const [pods, claims, volumes] = await Promise.all([
    list(resourcePath("pods", { namespace })),
    list(resourcePath("persistentvolumeclaims", { namespace })),
    list(resourcePath("persistentvolumes")),
  ]);
  return { pods, claims, volumes };
}

export interface PictureOptions {
  readonly dataFolder: string;
  readonly names: Names;
}

/** Everything. Throws ENOENT for what vanishes while it is looked at. */
export async function picture(doors: Doors, options: PictureOptions): Promise<readonly string[]> {
  const world = await readWorld(doors);
  options.names.learn(world);
  const { dataFolder, names } = options;
  const byName = (a: KubeObject, b: KubeObject) => names.inText(a.metadata.name ?? "").localeCompare(names.inText(b.metadata.name ?? ""));
  const objects = Object.entries(world).flatMap(([kind, list]: [string, readonly KubeObject[]]) => linesOf(kind, list.toSorted(byName)));
  const named = (lines: readonly string[]) => lines.map((line) => names.inText(line.replaceAll(dirname(dataFolder), "")));
  const machine = named([...heldLines(dataFolder), ...folderLines(dataFolder)]).sort();
  return [...machine, ...named([...objects, ...journalLines(dataFolder)])];
}

/** What the kernel holds: mounts and loop devices. */
export function heldLines(dataFolder: string): readonly string[] {
  return [...mountLines(dataFolder), ...loopLines(dataFolder)];
}

function mountLines(dataFolder: string): readonly string[] {
  return parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"))
    .filter(({ mountPoint }) => mountPoint.startsWith(`${dataFolder}/`))
    .map((row) => {
      const { blocks, bsize } = statfsSync(row.mountPoint);
      const source = loopFileOf(row.source) ?? row.source;
      const options = [...row.mountOptions, "-", ...row.superOptions].join(",");
      return `mount ${row.mountPoint} ${row.fsType} of ${source} ${options} ${blocks * bsize} bytes`;
    });
}

function loopFileOf(device: string): string | undefined {
  const file = `/sys/block/${device.replace("/dev/", "")}/loop/backing_file`;
  return device.startsWith("/dev/loop") && existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

function loopLines(dataFolder: string): readonly string[] {
  return readdirSync("/sys/block")
    .flatMap((name) => {
      const file = loopFileOf(`/dev/${name}`);
      if (!file?.startsWith(`${dataFolder}/`)) return [];
      return [`loop device over ${file} of ${Number(readFileSync(`/sys/block/${name}/size`, "utf8")) * 512} bytes`];
    });
}

/** A lock says who runs, and a timestamped folder when it was written. */
function folderLines(dataFolder: string): readonly string[] {
  const lines: string[] = [];
  const walk = (folder: string) => {
    for (const name of readdirSync(folder)) {
      if (name.startsWith(".voldeck-lock")) continue;
      const path = join(folder, name);
      const stat = lstatSync(path);
      lines.push(`${path} ${stat.mode.toString(8)} ${stat.uid}:${stat.gid}${contentOf(path)}`);
      if (stat.isDirectory()) walk(path);
    }
  };
  for (const folder of [join(dataFolder, "node"), join(dirname(dataFolder), "attached")]) if (existsSync(folder)) walk(folder);
  return lines.map((line) => line.replaceAll(/\.\.\d{4}(?:_\d\d){5}\.\d+/g, "<time>"));
}

const shownBytes = 4_096;

function contentOf(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(path);
    return ` -> ${loopFileOf(target) ?? target}`;
  }
  if (!stat.isFile()) return "";
  return stat.size > shownBytes ? ` ${stat.size} bytes` : ` ${JSON.stringify(readFileSync(path, "utf8"))}`;
}

function linesOf(kind: string, objects: readonly KubeObject[]): readonly string[] {
  return objects.flatMap((object) => {
    const { name = "", annotations, finalizers, labels, generation, deletionTimestamp } = object.metadata;
    const metadata = { annotations, finalizers, labels, generation, deleted: deletionTimestamp !== undefined };
    return JSON.stringify({ ...object, metadata }, withoutTimes, 1)
      .split("\n")
      .map((line) => `${kind} ${name.startsWith("pvc-") ? `of ${name.slice(4)}` : name} ${line}`);
  });
}

function withoutTimes(key: string, value: unknown): unknown {
  if (/Time$|Timestamp$|^resourceVersion$/.test(key)) return undefined;
  return key === "conditions" && Array.isArray(value) ? [...value].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))) : value;
}

// The journal

interface JournalRow {
  readonly record: OperationRecord;
  /** In the order of writing. */
  readonly phases: readonly string[];
}

/** Oldest first; nothing before the first operation. */
export function readJournal(dataFolder: string): readonly JournalRow[] {
  const database = new DatabaseSync(join(dataFolder, "journal.sqlite"), { readOnly: true, timeout: lockWaitMs });
  try {
    const entries = database.prepare("SELECT phase FROM entry WHERE operation = ? ORDER BY seq");
    return database
      .prepare("SELECT id, record FROM operation ORDER BY rowid")
      .all()
      .map((row) => ({
        record: JSON.parse(String(row["record"])) as OperationRecord,
        phases: entries.all(String(row["id"])).map((entry) => String(entry["phase"])),
      }));
  } finally {
    database.close();
  }
}

/** Ended before anything was known to be sent: a person begins again. */
export function wasNotSent({ record }: JournalRow): boolean {
  return record.phase === "ended" && record.progress.status === "unknown";
}

/** How often progress was noted depends on when somebody looked. */
function journalLines(dataFolder: string): readonly string[] {
  return readJournal(dataFolder)
    .filter((row) => !wasNotSent(row))
    .map(({ record, phases }) => {
      const { verb, subject, from, to, phase, progress } = record;
      const steps = progress.steps.map(({ title, state }) => `${title}: ${state}`);
      const passed = phases.filter((each, index) => each !== phases[index - 1]);
      return `operation ${JSON.stringify({ verb, ...subject, from, to, phase, passed, status: progress.status, sentence: progress.sentence, steps })}`;
    });
}
