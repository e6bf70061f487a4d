import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@playwright/test";
import { project, startApp, type RunningApp } from "@/e2e/app";
import { mountsBelow } from "@/e2e/mounts";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage } from "@/e2e/pages/volumes";
import { startScenario, type RunningScenario } from "@/e2e/scenarios/scenario";

const second = { namespace: "attach", pod: "second", volume: "data" };
const soon = { timeout: 30_000 };
// Between two tries the node pauses longer each time.
const later = { timeout: 60_000 };

let scenario: RunningScenario;
let app: RunningApp;
let state: string;

test.skip(process.getuid?.() !== 0, "attaches loop devices: needs root");
test.setTimeout(120_000);

test.beforeAll(async () => {
  scenario = await startScenario("attach");
  app = scenario.app;
  state = join(dirname(scenario.line.dataFolder), "driver-state");
});

test.afterAll(async () => {
  await app.stop();
  await scenario.stop();
});

const allCalls = () => (existsSync(join(state, "calls")) ? readFileSync(join(state, "calls"), "utf8").trimEnd().split("\n") : []);

/** The driver's calls so far, without options: those of which it said that it does not know them are made once by each process. */
const calls = () => allCalls().filter((line) => !/^(init|getvolumename|mount|unmount)\b/.test(line)).map(withoutPaths);

function withoutPaths(line: string): string {
  const words = line.split("\t").filter((word) => !word.startsWith("{"));
  return words.map((word) => word.replace(scenario.line.dataFolder, "").replace(/^\/dev\/loop\d+$/, "LOOP")).join(" ");
}

const globalPath = "/node/plugins/kubernetes.io/flexvolume/voldeck.dev/disk/mounts/disk";
const mounts = () => mountsBelow(scenario.line.dataFolder).map(({ target }) => target.replace(scenario.line.dataFolder, ""));
const node = () => /^attach (\S+)$/.exec(calls().find((call) => call.startsWith("attach ")) ?? "")?.[1] ?? "";
const boundTo = (count: number) => expect.poll(() => mounts().filter((target) => target.includes("/voldeck.dev~disk/disk")).length, soon).toBe(count);
const manifest = (name: string) => join(scenario.line.dataFolder, "manifests", name);

const putPod = (name: string) => copyFileSync(join(project, "e2e/scenarios/attach/manifests", name), manifest(name));

/** No pod wants the disk, and it is given back. */
async function leave(): Promise<void> {
  for (const name of ["10-first.yaml", "20-second.yaml"]) if (existsSync(manifest(name))) unlinkSync(manifest(name));
  const loops = () => (existsSync(join(state, "disks/disk")) ? execFileSync("losetup", ["-j", join(state, "disks/disk")], { encoding: "utf8" }) : "");
  await expect.poll(() => [mounts(), loops()], later).toEqual([[], ""]);
}

/** As if it was installed anew: what it called unsupported is asked again. */
async function renewDriver(): Promise<void> {
  const inits = () => allCalls().filter((line) => line === "init").length;
  const before = inits();
  utimesSync(join(scenario.line.dataFolder, "flexvolume/voldeck.dev~disk/disk"), new Date(), new Date());
  await expect.poll(inits, soon).toBeGreaterThan(before);
}

test("a disk is attached and mounted once for two pods, survives a kill, and is given back with the last pod", async () => {
  await boundTo(2);
  expect(mounts().filter((target) => target === globalPath)).toHaveLength(1);
  const up = ["waitforattach LOOP", `mountdevice ${globalPath} LOOP`, "waitforattach LOOP"];
  expect(calls()).toEqual([`attach ${node()}`, ...up]);

  const before = mounts();
  await app.kill();
  expect(mounts()).toEqual(before);
  app = await startApp({ dataFolder: scenario.line.dataFolder });
  const again = [`isattached ${node()}`, "waitforattach LOOP", "waitforattach LOOP"];
  await expect.poll(calls, soon).toEqual([`attach ${node()}`, ...up, ...again]);
  expect(mounts()).toEqual(before);

  unlinkSync(manifest("10-first.yaml"));
  await boundTo(1);
  expect(mounts()).toContain(globalPath);
  expect(calls()).toHaveLength(1 + up.length + again.length);

  unlinkSync(manifest("20-second.yaml"));
  await expect.poll(mounts, soon).toEqual([]);
  await expect.poll(() => calls().slice(1 + up.length + again.length), soon).toEqual([`unmountdevice ${globalPath}`, `detach disk ${node()}`]);
});

const failures = [
  { command: "attach", stage: "attach", says: "AttachVolume.Attach failed" },
  { command: "waitforattach", stage: "attach", says: "MountVolume.WaitForAttach failed" },
  { command: "mountdevice", stage: "stage", says: "MountVolume.MountDevice failed" },
  { command: "mount", stage: "publish", says: "MountVolume.SetUp failed" },
];
for (const { command, stage, says } of failures) {
  test(`a driver that fails at ${command} is told of on the pod, and at the stage`, async ({ page }) => {
    const words = `the rack said no to ${command}`;
    await leave();
    await renewDriver();
    writeFileSync(join(state, "fail", command), words);
    putPod("20-second.yaml");

    const cluster = await new Shell(page).enter(app.url);
    const volume = new VolumePage(page);
    await volume.open(cluster, second);
    await expect(volume.title).toContainText(`stuck at ${stage}`, soon);
    await expect(volume.stageIn(stage, "stuck")).toContainText(words);
    if (stage !== "attach") await expect(volume.stageIn("attach", "done")).toBeVisible();
    await expect(volume.events).toContainText(`${says} for volume "disk" : ${command} command failed, status: Failure, reason: ${words}`);

    unlinkSync(join(state, "fail", command));
    await expect(volume.stageIn("publish", "done")).toBeVisible(later);
    await expect(volume.stageIn("attach", "done")).toBeVisible();
  });
}

test("a driver that fails at unmountdevice or detach is asked again until the disk is given back", async () => {
  for (const command of ["unmountdevice", "detach"]) {
    putPod("20-second.yaml");
    await boundTo(1);
    writeFileSync(join(state, "fail", command), "not now");
    const before = calls().length;
    const asked = () => calls().slice(before).filter((call) => call.startsWith(command)).length;
    unlinkSync(manifest("20-second.yaml"));
    await expect.poll(asked, soon).toBeGreaterThan(1);
    expect(execFileSync("losetup", ["-j", join(state, "disks/disk")], { encoding: "utf8" })).not.toBe("");
    unlinkSync(join(state, "fail", command));
    await leave();
  }
});
