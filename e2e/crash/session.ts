/** One data folder and the process that works on it: killed at the points asked for, one after the other, and started again. */
import { createTRPCClient, httpLink, type TRPCClient } from "@trpc/client";
import { chmod, cp, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { project } from "@/e2e/app";
import { Names } from "@/e2e/crash/names";
import { startProgram, type Program, type RunningProgram } from "@/e2e/crash/process";
import type { AppRouter } from "@/server/api/router";
import { createApiClient, type ApiClient } from "@/server/cluster/client";
import { openConnection, type Connection } from "@/server/cluster/connection";
import { clusterSlug, loadContexts } from "@/server/cluster/kubeconfig";
import { holdFolder } from "@/server/hosts/linux";

/** The two doors of a running process. */
export interface Doors {
  /** The embedded API. */
  readonly kube: ApiClient;
  readonly trpc: TRPCClient<AppRouter>;
  /** As tRPC knows it. */
  readonly cluster: string;
}

export interface SessionOptions {
  readonly program: Program;
  /** Made by the caller, and empty: the data folder lies in it. */
  readonly folder: string;
  /** The first start's point, the next one's, and so on. */
  readonly crashAt: readonly string[];
}

const withinMs = 120_000;
const lookEveryMs = 100;
/** From a broken connection to the news that its process is gone. */
const deathWithinMs = 5_000;

export class Session {
  /** Of everything that was seen. */
  readonly names = new Names();
  private kills = 0;
  private closed = false;
  private killing: Promise<void> | undefined;
  private starting: Promise<void> = Promise.resolve();
  private running: { readonly process: RunningProgram; readonly connection: Connection; readonly doors: Doors } | undefined;

  constructor(private readonly options: SessionOptions) {}

  /** Lays out the folder and starts the process. */
  async open(manifests: readonly string[]): Promise<void> {
    const { folder } = this.options;
    for (const name of ["manifests", "attached"]) await mkdir(join(folder, name));
    for (const name of ["00-classes", ...manifests]) await cp(join(project, `e2e/crash/manifests/${name}.yaml`), join(folder, `manifests/${name}.yaml`));
    // The marker first: a folder that others filled would be refused.
    await (await holdFolder(this.dataFolder, 0o700)).release();
    await copyDrivers(join(project, "deploy/sample/flexvolume"), this.dataFolder);
    await copyDrivers(join(project, "e2e/crash/flexvolume"), this.dataFolder);
    await this.start();
  }

  get dataFolder(): string {
    return join(this.options.folder, "data");
  }

  /** What the process that runs now printed. */
  output(): string {
    return this.running?.process.output() ?? "";
  }

  /** Repeated when the process is killed meanwhile, so it has to be good for that. */
  async act(run: (doors: Doors) => Promise<void>): Promise<void> {
    await this.outliving(run);
  }

  /** Looks until the answer is `undefined`; what it was last is said when that takes too long. */
  async until(what: string, missing: (doors: Doors) => Promise<string | undefined>): Promise<void> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const why = await this.outliving(missing);
      if (why === undefined) return;
      if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms: ${why}`);
      await pause();
    }
  }

  /** Throws when one of the points was never passed. */
  async untilKilled(): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (this.kills < this.options.crashAt.length) {
      if (await this.revive(0)) continue;
      if (Date.now() > deadline) throw new Error(`${this.options.crashAt[this.kills] ?? ""} was never reached`);
      await pause();
    }
  }

  /** SIGTERM. Throws when the process does not end well. */
  async stop(): Promise<void> {
    const { running } = this;
    if (!running) return;
    this.running = undefined;
    await running.connection.close();
    running.process.signal("SIGTERM");
    const end = await running.process.ended;
    if (end !== 0) throw new Error(`it ended with ${end} after SIGTERM; it printed:\n${running.process.output()}`);
  }

  /** Whatever state it is in; nothing is started again. Who asks twice waits for the same end. */
  kill(): Promise<void> {
    this.killing ??= this.killNow();
    return this.killing;
  }

  private async killNow(): Promise<void> {
    this.closed = true;
    await this.starting.catch(() => undefined);
    const { running } = this;
    this.running = undefined;
    running?.process.signal("SIGKILL");
    await running?.process.ended;
    await running?.connection.close();
  }

  private async outliving<T>(run: (doors: Doors) => Promise<T>): Promise<T> {
    for (;;) {
      await this.revive(0);
      if (!this.running) throw new Error("it does not run");
      try {
        return await run(this.running.doors);
      } catch (error) {
        if (!this.running) throw error;
        if (!(await this.revive(deathWithinMs))) throw error;
      }
    }
  }

  /** Starts it again where it was killed at a point; false when it lives. */
  private async revive(graceMs: number): Promise<boolean> {
    const { running } = this;
    if (!running || !(await endedWithin(running.process, graceMs))) return false;
    const end = await running.process.ended;
    if (end !== "SIGKILL" || this.kills === this.options.crashAt.length) throw new Error(`it ended (${end}) unasked; it printed:\n${running.process.output()}`);
    this.kills += 1;
    this.running = undefined;
    await running.connection.close();
    await this.start();
    return true;
  }

  private start(): Promise<void> {
    if (this.closed) throw new Error("it was stopped");
    this.starting = this.startProcess(this.options.crashAt[this.kills]);
    return this.starting;
  }

  private async startProcess(crashAt: string | undefined): Promise<void> {
    const { dataFolder } = this;
    const process = await startProgram(this.options.program, this.options.folder, crashAt);
    const context = loadContexts({ paths: [join(dataFolder, "apiserver/kubeconfig")], env: {} })?.contexts[0];
    if (!context) throw new Error("the embedded API wrote no kubeconfig");
    const connection = openConnection(context);
    const trpc = createTRPCClient<AppRouter>({
      links: [httpLink({ url: `${process.origin}/trpc`, headers: { authorization: `Bearer ${process.token}` } })],
    });
    const doors = { kube: createApiClient(connection), trpc, cluster: clusterSlug(context.name, dataFolder) };
    this.running = { process, connection, doors };
  }
}

/** As an installation has them: writable by nobody else, whatever the umask of the checkout. */
async function copyDrivers(from: string, dataFolder: string): Promise<void> {
  for (const name of await readdir(from)) {
    const folder = join(dataFolder, "flexvolume", name);
    await cp(join(from, name), folder, { recursive: true });
    for (const path of [dirname(folder), folder, ...(await readdir(folder)).map((file) => join(folder, file))]) await chmod(path, 0o755);
  }
}

async function endedWithin(process: RunningProgram, graceMs: number): Promise<boolean> {
  const deadline = Date.now() + graceMs;
  while (!process.hasEnded() && Date.now() < deadline) await pause();
  return process.hasEnded();
}

function pause(): Promise<void> {
  return sleep(lookEveryMs);
}
