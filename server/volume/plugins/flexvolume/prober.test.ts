import { describe, expect, it } from "vitest";
import { messageOf } from "@/lib/errors";
import { fileError } from "@/server/hosts/file-errors";
import { createMemoryHost, type MemoryHost, type Program } from "@/server/hosts/memory";
import { VolumeError } from "@/server/volume/errors";
import { probeAddOrUpdate, probeRemove, type ProbeResult } from "@/server/volume/plugin";
import { VolumePluginManager } from "@/server/volume/plugin-manager";
import type { DriverCheck } from "@/server/volume/plugins/flexvolume/driver-call";
import { newFlexVolumeProber, type FlexVolumeProber } from "@/server/volume/plugins/flexvolume/prober";

const pluginDir = "/plugins";
const driverDir = `${pluginDir}/example.com~share`;
const driver = `${driverDir}/share`;
const good: Program = () => '{"status":"Success"}';
const allowAll: DriverCheck = async () => {};

interface Scene {
  readonly memory: MemoryHost;
  readonly prober: FlexVolumeProber;
}

async function start(setup: { readonly installed?: boolean; readonly check?: DriverCheck } = {}): Promise<Scene> {
  const memory = createMemoryHost({ files: setup.installed === true ? { [driver]: { kind: "file", mode: 0o755 } } : {} });
  memory.exec.setFallback(good);
  const prober = newFlexVolumeProber({ pluginDir, ports: memory.ports, checkDriver: setup.check ?? allowAll });
  await prober.init();
  return { memory, prober };
}

async function install({ memory }: Scene, path = driver): Promise<void> {
  await memory.files.mkdirAll(path.slice(0, path.lastIndexOf("/")), 0o755);
  await memory.files.writeFile(path, "#!/bin/sh\n", 0o755);
  await delivered();
}

/** Events come a moment after the change. */
async function delivered(): Promise<void> {
  await Promise.resolve();
  await Promise.resolve();
}

function told({ events }: ProbeResult): readonly string[] {
  return events.map(({ op, pluginName }) => `${op === probeRemove ? "remove" : "add"} ${pluginName}`);
}

describe("the FlexVolume prober", () => {
  it("makes its folder and finds nothing in it", async () => {
    const { memory, prober } = await start();
    expect((await memory.files.stat(pluginDir))?.mode).toBe(0o755);
    expect(await prober.probe()).toEqual({ events: [] });
  });

  it("tells of an installed driver once", async () => {
    const { prober } = await start({ installed: true });
    const first = await prober.probe();
    expect(first.events).toMatchObject([{ op: probeAddOrUpdate, pluginName: "example.com/share" }]);
    expect(first.events[0]?.plugin?.getPluginName()).toBe("example.com/share");
    expect(await prober.probe()).toEqual({ events: [] });
  });

  it("tells of a driver that is installed later, and runs its init once", async () => {
    const scene = await start();
    await scene.prober.probe();
    await install(scene);
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
    expect(told(await scene.prober.probe())).toEqual([]);
    expect(scene.memory.exec.calls.map(({ command, args }) => [command, ...args])).toEqual([[driver, "init"]]);
  });

  it.each([
    ["a new version", ({ memory }: Scene) => memory.files.writeFile(driver, "#!/bin/sh\nexit 0\n", 0o755)],
    ["another mode", ({ memory }: Scene) => memory.files.chmod(driver, 0o700)],
    ["a file beside the driver", ({ memory }: Scene) => memory.files.writeFile(`${driverDir}/dummy`, "", 0o644)],
    ["a folder beside the driver", ({ memory }: Scene) => memory.files.mkdirAll(`${driverDir}/lib/deep`, 0o755)],
    ["the driver moved away", ({ memory }: Scene) => memory.files.rename(driver, `${driverDir}/old`)],
  ])("asks the driver again after %s", async (_name, change) => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    await change(scene);
    await delivered();
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
    expect(told(await scene.prober.probe())).toEqual([]);
  });

  it("does not care for hidden files and folders", async () => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    await scene.memory.files.writeFile(`${driverDir}/.share.swp`, "", 0o644);
    await scene.memory.files.mkdirAll(`${pluginDir}/.staging`, 0o755);
    await delivered();
    expect(told(await scene.prober.probe())).toEqual([]);
  });

  it("tells of a removed driver once, without running anything", async () => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    scene.memory.exec.calls.length = 0;
    await scene.memory.files.removeAll(driverDir);
    await delivered();
    const { events } = await scene.prober.probe();
    expect(events).toEqual([{ op: probeRemove, pluginName: "example.com/share" }]);
    expect(scene.memory.exec.calls).toEqual([]);
    expect(told(await scene.prober.probe())).toEqual([]);
  });

  it("tries a failing driver again after a pause, tells why, and keeps the others", async () => {
    const scene = await start({ installed: true });
    await install(scene, `${pluginDir}/broken/broken`);
    scene.memory.exec.set(`${pluginDir}/broken/broken`, () => ({ output: "oh no", exitCode: 1 }));
    const first = await scene.prober.probe();
    expect(told(first)).toEqual(["add example.com/share"]);

    // The first probe forgets it; from the next change on it is tried again and again, with a rest between.
    await scene.memory.files.chmod(`${pluginDir}/broken/broken`, 0o700);
    await delivered();
    for (const probe of [1, 2, 3]) {
      const result = await scene.prober.probe();
      expect([probe, told(result), messageOf(result.error)]).toEqual([
        probe,
        [],
        "error creating Flexvolume plugin from directory broken, skipping. Error: invalid character 'o' looking for beginning of value",
      ]);
      expect(result.failures).toEqual([
        {
          pluginName: "broken",
          path: `${pluginDir}/broken/broken`,
          message: `invalid character 'o' looking for beginning of value (${pluginDir}/broken/broken init ended with exit status 1, with the answer "oh no")`,
        },
      ]);
      expect([probe, await scene.prober.probe()]).toEqual([probe, { events: [] }]);
      await scene.memory.clock.advance(5_000);
    }
    scene.memory.exec.set(`${pluginDir}/broken/broken`, good);
    expect(told(await scene.prober.probe())).toEqual(["add broken"]);
  });

  it("tells of a driver that may not be executed what the kubelet says, and the cause", async () => {
    const scene = await start();
    await scene.prober.probe();
    scene.memory.exec.set(driver, () => {
      throw fileError("fork/exec", driver, "EACCES");
    });
    await install(scene);
    const { failures } = await scene.prober.probe();
    expect(failures).toEqual([{ pluginName: "example.com/share", path: driver, message: `unexpected end of JSON input (fork/exec ${driver}: permission denied)` }]);
  });

  it("gives a driver that sleeps little time, and leaves it alone until its folder changes or a pause is over", async () => {
    const scene = await start();
    await scene.prober.probe();
    scene.memory.exec.set(driver, () => ({ exitCode: undefined, timedOut: true }));
    await install(scene);
    const runs = () => scene.memory.exec.calls.length;
    expect((await scene.prober.probe()).failures).toMatchObject([{ pluginName: "example.com/share", message: "timeout" }]);
    expect(scene.memory.exec.calls[0]?.options.timeoutMs).toBeLessThanOrEqual(15_000);
    expect([await scene.prober.probe(), runs()]).toEqual([{ events: [] }, 1]);

    await scene.memory.files.chmod(driver, 0o700);
    await delivered();
    expect([messageOf((await scene.prober.probe()).error), runs()]).toEqual([expect.stringContaining("timeout"), 2]);

    scene.memory.exec.set(driver, good);
    expect([told(await scene.prober.probe()), runs()]).toEqual([[], 2]);
    await scene.memory.clock.advance(300_000);
    expect([told(await scene.prober.probe()), runs()]).toEqual([["add example.com/share"], 3]);
  });

  it("gives a driver that slept another chance when the clock was set back", async () => {
    const scene = await start();
    await scene.prober.probe();
    scene.memory.exec.set(driver, () => ({ exitCode: undefined, timedOut: true }));
    await install(scene);
    expect((await scene.prober.probe()).failures).toHaveLength(1);
    scene.memory.exec.set(driver, good);
    scene.memory.clock.setBack(3_600_000);
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
  });

  it.each([
    ["null for its capabilities", '{"status":"Success","capabilities":null}', 'the driver answered init with "capabilities": null'],
    ["that it knows no init", '{"status":"Not supported"}', "Not supported"],
  ])("gives no event for a driver that answers %s", async (_name, output, message) => {
    const { memory, prober } = await start({ installed: true });
    memory.exec.setFallback(() => output);
    const { events, failures } = await prober.probe();
    expect(events).toEqual([]);
    expect(failures).toMatchObject([{ pluginName: "example.com/share", message }]);
  });

  it("does not run a driver that the check refuses", async () => {
    const { memory, prober } = await start({
      installed: true,
      check: async (path) => {
        throw new VolumeError(`driver ${path} is not run: others may write to it`, "refused");
      },
    });
    const { events, failures } = await prober.probe();
    expect(events).toEqual([]);
    expect(failures).toMatchObject([{ message: `driver ${driver} is not run: others may write to it` }]);
    expect(memory.exec.calls).toEqual([]);
  });

  it("makes and watches its folder again when it is removed", async () => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    await scene.memory.files.removeAll(driverDir);
    await scene.memory.files.removeAll(pluginDir);
    await delivered();
    expect(told(await scene.prober.probe())).toEqual(["remove example.com/share"]);
    await expect.poll(() => scene.memory.files.stat(pluginDir)).toBeDefined();
    await delivered();
    await install(scene);
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
  });

  it("looks at everything again when the watch lost events", async () => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    let asked = 0;
    scene.prober.onChange(() => (asked += 1));
    scene.memory.watcher.fail(new Error("overflow"));
    expect(asked).toBe(1);
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
  });

  it("keeps a change that comes while the driver runs", async () => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    await scene.memory.files.chmod(driver, 0o700);
    await delivered();
    scene.memory.exec.setFallback(async () => {
      await scene.memory.files.chmod(driver, 0o755);
      await delivered();
      return '{"status":"Success"}';
    });
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
    scene.memory.exec.setFallback(good);
    expect(told(await scene.prober.probe())).toEqual(["add example.com/share"]);
    expect(told(await scene.prober.probe())).toEqual([]);
  });

  it("stops following changes when closed", async () => {
    const scene = await start({ installed: true });
    await scene.prober.probe();
    await scene.prober.close();
    await scene.memory.files.chmod(driver, 0o700);
    await delivered();
    expect(told(await scene.prober.probe())).toEqual([]);
  });

  it("moves a manager's table when a driver comes, without a find", async () => {
    const { memory, prober } = await start();
    const manager = new VolumePluginManager(memory.ports);
    await manager.initPlugins([], prober, memory.host);
    await install({ memory, prober });
    await expect.poll(() => manager.published().rows.map(({ name, state }) => `${name} ${state}`)).toEqual(["example.com/share ok"]);
  });
});
