import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withoutControls } from "@/lib/controls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NodeReport, ReportedVolume } from "@/lib/node-report";
import { isolatedFolder, removeFolder } from "@/server/hosts/linux/test-folder";
import { hasFindings, inspect, parseInspectOptions } from "@/server/inspect";
import { inspectText } from "@/server/inspect-text";
import { jsonText } from "@/server/print";

const volume: ReportedVolume = {
  podUID: "uid-a",
  specName: "token",
  pluginName: "kubernetes.io/projected",
  mode: "Filesystem",
  path: "/k/pods/uid-a/volumes/kubernetes.io~projected/token",
  found: true,
  state: "mounted",
  mounts: [{ target: "/k/pods/uid-a/volumes/kubernetes.io~projected/token", source: "tmpfs", fsType: "tmpfs", options: ["rw"], line: "40 1 0:40 / /k/t rw - tmpfs tmpfs rw" }],
  usedBytes: "12288",
  capacityBytes: "1073741824",
};

const report: NodeReport = {
  nodeName: "node1",
  takenAt: "2026-01-02T03:04:05.000Z",
  root: "/k",
  mounter: "none",
  volumes: [volume],
  otherMounts: [],
  podFolders: [{ podUID: "uid-a", path: "/k/pods/uid-a" }, { podUID: "uid-b", path: "/k/pods/uid-b" }],
  leftovers: [],
  unread: [],
  pluginSockets: [],
  flexDrivers: [],
};

describe("flags of inspect", () => {
  it("has a kubelet's defaults", () => {
    expect(parseInspectOptions(["--node-name", "n"])).toEqual({
      root: "/var/lib/kubelet",
      flexVolumeDir: undefined,
      nodeName: "n",
      json: false,
      verbose: false,
      timeoutMs: 5000,
    });
  });

  const wrong: readonly [string, readonly string[], string][] = [
    ["a relative root", ["--root", "kubelet"], '--root: "kubelet" is not an absolute path'],
    ["a root with a zero byte", ["--root", "/a\0b"], '--root: "/a\\u0000b" is not an absolute path'],
    ["a relative driver folder", ["--flexvolume-dir", "x"], '--flexvolume-dir: "x" is not an absolute path'],
    ["an empty node name", ["--node-name", ""], "--node-name: the name is empty"],
    ["no time at all", ["--timeout", "0"], '--timeout: "0" is not a number of seconds above 0'],
    ["a time that is no number", ["--timeout", "1e3"], '--timeout: "1e3" is not a number of seconds above 0'],
    ["an unknown flag", ["--rooot", "/x"], "Unknown option '--rooot'"],
    ["a word too many", ["/x"], "Unexpected argument '/x'"],
  ];
  for (const [what, args, message] of wrong) {
    it(`refuses ${what}, naming it`, () => {
      expect(() => parseInspectOptions(args)).toThrow(message);
    });
  }
});

describe("the folder of FlexVolume drivers", () => {
  const given = { nodeName: "n", json: false, verbose: false, timeoutMs: 5000 };
  let data = "";
  beforeEach(() => {
    data = isolatedFolder();
    mkdirSync(join(data, "node/pods/uid-a/volumes/acme~share/docs"), { recursive: true });
    mkdirSync(join(data, "flexvolume/acme~share"), { recursive: true });
    writeFileSync(join(data, "flexvolume/acme~share/share"), "", { mode: 0o755 });
  });
  afterEach(() => removeFolder(data));

  const inspected = async (flexVolumeDir?: string) => {
    const { volumes, flexDrivers } = await inspect({ ...given, root: join(data, "node"), flexVolumeDir });
    return { problem: volumes[0]?.problem, drivers: flexDrivers.map(({ name }) => name) };
  };

  it("is the one beside a root that Voldeck made", async () => {
    writeFileSync(join(data, "node/.voldeck-root"), "");
    expect(await inspected()).toEqual({ problem: undefined, drivers: ["acme/share"] });
  });

  it("is a kubelet's own beside any other root, unless it is named", async () => {
    expect((await inspected()).problem).toContain("lies in /usr/libexec/kubernetes/kubelet-plugins/volume/exec");
    expect(await inspected(join(data, "flexvolume"))).toEqual({ problem: undefined, drivers: ["acme/share"] });
  });
});

describe("findings", () => {
  const cases: readonly [string, Partial<NodeReport>, boolean][] = [
    ["nothing wrong", {}, false],
    ["a volume with a problem", { volumes: [{ ...volume, problem: "x" }] }, true],
    ["a leftover", { leftovers: [{ path: "/k/x", why: "y" }] }, true],
    ["an unread folder", { unread: [{ path: "/k/x", why: "y" }] }, true],
    ["a driver with a problem", { flexDrivers: [{ name: "a/b", path: "/x", problem: "y" }] }, true],
  ];
  for (const [what, over, expected] of cases) {
    it(`${what}: ${String(expected)}`, () => expect(hasFindings({ ...report, ...over })).toBe(expected));
  }
});

describe("text", () => {
  it("counts the problems of drivers in its head too", () => {
    const broken = { ...report, flexDrivers: [{ name: "a/b", path: "/x", problem: "the driver may not be executed" }] };
    const text = inspectText(broken, { verbose: false });
    expect(text).toContain("1 problem,");
    expect(text).toContain("Problems\n  /x\n");
  });

  it("has one quiet line for a healthy volume", () => {
    expect(inspectText(report, { verbose: false })).toBe(
      [
        "node1  /k  2026-01-02T03:04:05.000Z",
        "1 volume of 2 pod folders, 1 mount and no other mounts; no problems, no leftovers, no unread folders",
        "",
        "Pod uid-a",
        "     token  kubernetes.io/projected  mounted  tmpfs  tmpfs  12.0 KiB of 1.0 GiB",
        "",
        "Pods without a volume folder",
        "  uid-b",
        "",
      ].join("\n"),
    );
  });

  it("says what is wrong first, every line of it", () => {
    const lines = inspectText({ ...report, volumes: [{ ...volume, problem: "first\nsecond" }], unread: [{ path: "/k/u", why: "closed" }], leftovers: [{ path: "/k/l", why: "idle" }] }, { verbose: false }).split("\n");
    const at = (line: string) => lines.indexOf(line);
    expect([at("Problems"), at("    first"), at("    second"), at("Could not be read"), at("May be left over (a pod that is just starting looks the same)"), at("Pod uid-a")].every((found, index, all) => found > (all[index - 1] ?? 0))).toBe(true);
    expect(lines).toContain("        mount   40 1 0:40 / /k/t rw - tmpfs tmpfs rw");
  });

  it("shows mount lines of healthy volumes when asked", () => {
    expect(inspectText(report, { verbose: true })).toContain("40 1 0:40 / /k/t rw - tmpfs tmpfs rw");
    expect(inspectText(report, { verbose: false })).not.toContain("40 1 0:40");
  });

  it("lets no name steer a terminal", () => {
    const hostile = "a\nPod fake\u001b[2J\u009b1m\u202egnp.exe\u0007";
    const text = inspectText({ ...report, volumes: [{ ...volume, podUID: hostile, specName: hostile, path: `/k/${hostile}`, problem: `broken ${hostile}` }] }, { verbose: true });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(text.split("\n").filter((line) => line.startsWith("Pod "))).toHaveLength(1);
    expect(withoutControls("a\tb")).toBe("a\ufffdb");
  });
});

describe("json", () => {
  it("is the report, with nothing in it that steers a terminal", () => {
    const hostile = { ...report, nodeName: "n\u001b[2J\u009b1m\u202e\u2028" };
    const text = jsonText(hostile);
    expect(JSON.parse(text)).toEqual(hostile);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
  });
});
