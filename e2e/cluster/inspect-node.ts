/**
 * Holds `voldeck inspect` against a real node: what it lists in the node's mount namespace must be what findmnt, the pods' folders and
 * the API say. Prints each difference, and last `N volumes, N equal`. Needs root on the machine where the node's kubelet runs.
 * Usage: VOLDECK_TEST_KUBECONFIG=FILE tsx e2e/cluster/inspect-node.ts [NODE]   (default node1)
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAppError } from "@/lib/errors";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { ApiClient } from "@/server/cluster/client";
import { expectedVolumes, type ApiObjects, type ExpectedVolume } from "./expected-volumes";
import { openTestCluster } from "./test-cluster";

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const root = "/var/lib/kubelet";
/** A pod that starts or ends meanwhile makes a difference that the next look does not see. */
const attempts = 3;

interface FoundMount {
  readonly target: string;
  readonly source: string;
  readonly fstype: string;
}

interface Comparison {
  readonly volumes: number;
  readonly equal: number;
  readonly differences: readonly string[];
}

async function main(node: string): Promise<number> {
  let client: ApiClient;
  try {
    client = await openTestCluster(process.env);
  } catch (error) {
    if (!isAppError(error)) throw error;
    console.error(error.message);
    return 2;
  }
  try {
    const pid = kubeletOf(node);
    if (pid === undefined) {
      console.error(`no kubelet of ${node} runs on this machine`);
      return 2;
    }
    let comparison = await compareOnce(client, node, pid);
    for (let tried = 1; tried < attempts && comparison.differences.length > 0; tried += 1) comparison = await compareOnce(client, node, pid);
    for (const difference of comparison.differences) console.log(difference);
    console.log(`${comparison.volumes} volumes, ${comparison.equal} equal`);
    return comparison.volumes > 0 && comparison.differences.length === 0 ? 0 : 1;
  } finally {
    await client.close();
  }
}

/** The process whose mount namespace is the node's. */
function kubeletOf(node: string): number | undefined {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const pid = pids.find((each) => {
    const words = commandLine(each);
    const named = words.indexOf("--hostname-override");
    return basename(words[0] ?? "") === "kubelet" && (words.includes(`--hostname-override=${node}`) || (named > 0 && words[named + 1] === node));
  });
  return pid === undefined ? undefined : Number(pid);
}

function commandLine(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

async function compareOnce(client: ApiClient, node: string, pid: number): Promise<Comparison> {
  const api = await objectsOf(client, node);
  const report = inspectIn(pid, node);
  return compare(report, { expected: expectedVolumes(root, api), mounts: findmnt(pid), folders: volumeFolders(pid) });
}

async function objectsOf(client: ApiClient, node: string): Promise<ApiObjects> {
  const [pods, claims, persistentVolumes] = await Promise.all([
    client.list<Pod>("/api/v1/pods", { query: { fieldSelector: `spec.nodeName=${node}` } }),
    client.list<PersistentVolumeClaim>("/api/v1/persistentvolumeclaims"),
    client.list<PersistentVolume>("/api/v1/persistentvolumes"),
  ]);
  return { pods: pods.items, claims: claims.items, persistentVolumes: persistentVolumes.items };
}

function inNode(pid: number, command: readonly string[]): string {
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(project, "tsconfig.json") };
  return execFileSync("nsenter", ["-t", String(pid), "-m", "--", ...command], { env, encoding: "utf8", maxBuffer: 1 << 28 });
}

/** Exit code 1 says that the report has findings: a report all the same. */
function inspectIn(pid: number, node: string): NodeReport {
  const loader = import.meta.resolve("tsx");
  const command = [process.execPath, "--import", loader, join(project, "e2e/cluster/inspect-command.ts"), "--root", root, "--node-name", node, "--json"];
  try {
    return JSON.parse(inNode(pid, command)) as NodeReport;
  } catch (error) {
    const stopped = error as { status?: number; stdout?: string };
    if (stopped.status !== 1 || stopped.stdout === undefined) throw error;
    return JSON.parse(stopped.stdout) as NodeReport;
  }
}

function findmnt(pid: number): readonly FoundMount[] {
  const { filesystems } = JSON.parse(inNode(pid, ["findmnt", "--json", "--list", "-o", "TARGET,SOURCE,FSTYPE"])) as { filesystems: FoundMount[] };
  return filesystems.filter(({ target }) => target === root || target.startsWith(`${root}/`));
}

/** Folders of volumes, as find lists them. */
function volumeFolders(pid: number): readonly string[] {
  const found = inNode(pid, ["find", `${root}/pods`, "-mindepth", "4", "-maxdepth", "4", "-path", "*/volume*s/*", "-print0"]);
  return found.split("\0").filter((path) => /\/pods\/[^/]+\/(volumes|volumeDevices)\//.test(path));
}

interface Truth {
  readonly expected: readonly ExpectedVolume[];
  readonly mounts: readonly FoundMount[];
  readonly folders: readonly string[];
}

function compare(report: NodeReport, truth: Truth): Comparison {
  const differences: string[] = [];
  const onDisk = new Set(truth.folders);
  const due = truth.expected.filter(({ folder, isDue }) => isDue || onDisk.has(folder));
  const expectedBy = new Map(due.map((volume) => [volume.folder, volume]));
  const reportedBy = new Map(report.volumes.map((volume) => [volume.path, volume]));
  const paths = new Set([...onDisk, ...expectedBy.keys(), ...reportedBy.keys()]);
  let equal = 0;
  for (const path of paths) {
    const [expected, reported] = [expectedBy.get(path), reportedBy.get(path)];
    const wrong = [
      ...(onDisk.has(path) ? [] : ["find does not see its folder"]),
      ...(expected ? [] : ["no pod of the API has it"]),
      ...(reported ? [] : ["inspect does not list it"]),
      ...(expected && reported ? differencesOf(expected, reported, truth.mounts) : []),
    ];
    if (wrong.length === 0) equal += 1;
    differences.push(...wrong.map((each) => `${expected?.shown ?? path}: ${each}`));
  }
  differences.push(...differentMounts(report, truth.mounts));
  return { volumes: paths.size, equal, differences };
}

function differencesOf(expected: ExpectedVolume, reported: ReportedVolume, mounts: readonly FoundMount[]): readonly string[] {
  const there = new Set(mounts.map(({ target }) => target));
  const isStaged = expected.stagedAt !== undefined && there.has(expected.stagedAt);
  const subpaths = `/pods/${reported.podUID}/volume-subpaths/${reported.specName}/`;
  const targets = [...expected.targets, ...(isStaged ? [expected.stagedAt] : []), ...[...there].filter((target) => target.includes(subpaths))];
  return [
    ...unequal("key", expected.key, `${reported.podUID}/${reported.pluginName}/${reported.specName}`),
    ...unequal("mode", expected.mode, reported.mode),
    ...unequal("state", "mounted", reported.state),
    ...unequal("mounts", [...targets].sort(), reported.mounts.map(({ target }) => target).sort()),
    ...unequal("mounts that findmnt lacks", [], expected.targets.filter((target) => !there.has(target))),
    ...unequal("global mount", isStaged ? expected.stagedAt : undefined, reported.deviceMountPath),
    ...unequal("volume handle", expected.volumeHandle, reported.dataFile?.volumeHandle),
    ...unequal("problem", undefined, reported.problem),
  ];
}

/** Every mount below the root, once, with source and file system. */
function differentMounts(report: NodeReport, mounts: readonly FoundMount[]): readonly string[] {
  const reported = new Map([...report.volumes.flatMap((volume) => volume.mounts), ...report.otherMounts].map((mount) => [mount.target, mount]));
  const found = new Map(mounts.map((mount) => [mount.target, mount]));
  return [...new Set([...found.keys(), ...reported.keys()])].flatMap((target) => {
    const [theirs, ours] = [found.get(target), reported.get(target)];
    if (!theirs || !ours) return [`${target}: ${theirs ? "inspect" : "findmnt"} does not list it`];
    // findmnt adds the part of a file system that a bind shows.
    const source = theirs.source.replace(/\[.*\]$/, "");
    return [...unequal("source", source, ours.source), ...unequal("file system", theirs.fstype, ours.fsType)].map((each) => `${target}: ${each}`);
  });
}

function unequal(what: string, expected: unknown, actual: unknown): readonly string[] {
  const [one, other] = [JSON.stringify(expected), JSON.stringify(actual)];
  return one === other ? [] : [`${what}: expected ${one ?? "none"}, inspect has ${other ?? "none"}`];
}

process.exitCode = await main(process.argv[2] ?? "node1");
