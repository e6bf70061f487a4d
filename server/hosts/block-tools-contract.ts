/** The BlockTools port: one suite for every adapter. */
import { describe, expect } from "vitest";
import { casesOf, mebibyte } from "./contract-kit";
import type { Case, ContractFactory } from "./contract-kit";

/** XFS asks for 300 MiB at least; the files behind are sparse. */
const xfsBytes = 320n * mebibyte;
const smallBytes = 32n * mebibyte;

export function blockToolsContract(factory: ContractFactory): void {
  describe(`block tools of ${factory.name}`, () => {
    const test = casesOf("block tools", factory, factory.withoutDevices);
    probeCases(test);
    formatCases(test);
    growCases(test);
    refusalCases(test);
  });
}

function probeCases(test: Case): void {
  test("nothing is recognised on an empty device", async (host) => {
    expect(await host.ports.blockTools.probe(await host.makeDevice(smallBytes))).toEqual({ fsType: "" });
  });

  test("the size is the device's", async (host) => {
    expect(await host.ports.blockTools.sizeBytes(await host.makeDevice(smallBytes))).toBe(smallBytes);
  });

  test("the size follows a device that grew", async (host) => {
    const device = await host.makeDevice(smallBytes);
    await host.growDevice(device, 2n * smallBytes);
    expect(await host.ports.blockTools.sizeBytes(device)).toBe(2n * smallBytes);
  });
}

function formatCases(test: Case): void {
  test("ext4 is made and recognised", async (host) => {
    const device = await host.makeDevice(smallBytes);
    await host.ports.blockTools.format(device, "ext4", []);
    expect(await host.ports.blockTools.probe(device)).toEqual({ fsType: "ext4" });
  });

  test("XFS is made and recognised", async (host) => {
    const device = await host.makeDevice(xfsBytes);
    await host.ports.blockTools.format(device, "xfs", []);
    expect(await host.ports.blockTools.probe(device)).toEqual({ fsType: "xfs" });
  });

  test("what is formatted is not formatted again, to the same or another type", async (host) => {
    const { blockTools } = host.ports;
    const device = await host.makeDevice(xfsBytes);
    await blockTools.format(device, "ext4", []);
    await expect(blockTools.format(device, "ext4", [])).rejects.toMatchObject({ code: "EEXIST", message: `format ${device}: holds ext4 already` });
    await expect(blockTools.format(device, "xfs", [])).rejects.toMatchObject({ code: "EEXIST" });
    expect(await blockTools.probe(device)).toEqual({ fsType: "ext4" });
  });

  for (const where of ["start", "end"] as const) {
    test(`unknown bytes at the ${where} of a device forbid to format it`, async (host) => {
      const device = await host.makeDevice(smallBytes);
      await host.scribble(device, where);
      await expect(host.ports.blockTools.format(device, "ext4", [])).rejects.toMatchObject({ code: "EEXIST" });
      expect(await host.ports.blockTools.probe(device)).toEqual({ fsType: "" });
    });
  }

  test("a type that is none", async (host) => {
    const device = await host.makeDevice(smallBytes);
    for (const type of ["", "nosuchfs", "../ext4", "__proto__"]) {
      await expect(host.ports.blockTools.format(device, type, [])).rejects.toMatchObject({ code: "volume-error" });
    }
    expect(await host.ports.blockTools.probe(device)).toEqual({ fsType: "" });
  });

  test("a new file system is sound", async (host) => {
    const device = await host.makeDevice(smallBytes);
    await host.ports.blockTools.format(device, "ext4", []);
    expect(await host.ports.blockTools.check(device, "ext4")).toBeUndefined();
  });
}

function growCases(test: Case): void {
  test("a mounted XFS grows with its device and keeps its content", async (host) => {
    const { root, mounter, ports: { files, blockTools } } = host;
    const device = await host.makeDevice(xfsBytes);
    const target = `${root}/t`;
    await files.mkdirAll(target, 0o755);
    await mounter.formatAndMount({ source: device, target, fsType: "xfs", options: [] });
    await files.writeFile(`${target}/f`, "kept", 0o644);
    const before = (await files.statfs(target)).totalBytes;
    await host.growDevice(device, 2n * xfsBytes);
    expect((await files.statfs(target)).totalBytes).toBe(before);
    expect(await blockTools.grow(device, target)).toBe(true);
    expect((await files.statfs(target)).totalBytes > before + (xfsBytes * 9n) / 10n).toBe(true);
    expect(await files.readText(`${target}/f`)).toBe("kept");
  });

  test("what fits already is grown without a change", async (host) => {
    const { root, mounter, ports: { files, blockTools } } = host;
    const device = await host.makeDevice(xfsBytes);
    await files.mkdirAll(`${root}/t`, 0o755);
    await mounter.formatAndMount({ source: device, target: `${root}/t`, fsType: "xfs", options: [] });
    const before = (await files.statfs(`${root}/t`)).totalBytes;
    expect(await blockTools.grow(device, `${root}/t`)).toBe(true);
    expect((await files.statfs(`${root}/t`)).totalBytes).toBe(before);
  });

  test("an ext4 that is not mounted grows with its device", async (host) => {
    const { root, mounter, ports: { files, blockTools } } = host;
    const device = await host.makeDevice(smallBytes);
    await blockTools.format(device, "ext4", []);
    await host.growDevice(device, 4n * smallBytes);
    expect(await blockTools.grow(device, `${root}/t`)).toBe(true);
    await files.mkdirAll(`${root}/t`, 0o755);
    await mounter.mount({ source: device, target: `${root}/t`, fsType: "ext4", options: [] });
    expect((await files.statfs(`${root}/t`)).totalBytes > 2n * smallBytes).toBe(true);
  });

  test("an XFS is grown only where it is mounted itself", async (host) => {
    const { root, mounter, ports: { files, blockTools } } = host;
    const [device, other] = [await host.makeDevice(xfsBytes), await host.makeDevice(xfsBytes)];
    const target = `${root}/t`;
    await files.mkdirAll(`${target}/below`, 0o755);
    await blockTools.format(device, "xfs", []);
    const refused = { code: "refused", message: `resize of device ${device} failed: it is not what is mounted at ${target}` };
    await expect(blockTools.grow(device, target)).rejects.toMatchObject(refused);
    await mounter.formatAndMount({ source: other, target, fsType: "xfs", options: [] });
    const before = (await files.statfs(target)).totalBytes;
    await host.growDevice(other, 2n * xfsBytes);
    await expect(blockTools.grow(device, target)).rejects.toMatchObject(refused);
    expect((await files.statfs(target)).totalBytes).toBe(before);
    await mounter.unmount(target);
    await mounter.mount({ source: device, target, fsType: "xfs", options: [] });
    await files.mkdirAll(`${target}/below`, 0o755);
    await expect(blockTools.grow(device, `${target}/below`)).rejects.toMatchObject({ code: "refused" });
    expect(await blockTools.grow(device, target)).toBe(true);
  });

  test("nothing grows on an empty device", async (host) => {
    const device = await host.makeDevice(smallBytes);
    expect(await host.ports.blockTools.grow(device, `${host.root}/t`)).toBe(false);
  });
}

function refusalCases(test: Case): void {
  test("a device nobody allowed is not even read", async ({ root, foreignDevice, ports: { blockTools } }) => {
    const device = await foreignDevice();
    const refused = { code: "EACCES" };
    await expect(blockTools.probe(device)).rejects.toMatchObject(refused);
    await expect(blockTools.format(device, "ext4", [])).rejects.toMatchObject(refused);
    await expect(blockTools.check(device, "ext4")).rejects.toMatchObject(refused);
    await expect(blockTools.grow(device, root)).rejects.toMatchObject(refused);
    await expect(blockTools.sizeBytes(device)).rejects.toMatchObject(refused);
  });

  test("a device that is not there", async ({ ports: { blockTools } }) => {
    await expect(blockTools.probe("/dev/voldeck-none")).rejects.toMatchObject({
      code: "ENOENT",
      message: "open /dev/voldeck-none: no such file or directory",
    });
  });
}
