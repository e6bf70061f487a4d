/** Mounts of block devices: one suite for every adapter. */
import { describe, expect } from "vitest";
import { casesOf, mebibyte } from "./contract-kit";
import type { Case, ContractFactory } from "./contract-kit";

export function deviceMountsContract(factory: ContractFactory): void {
  describe(`mounter of ${factory.name} with devices`, () => {
    deviceCases(casesOf("mounter with devices", factory, factory.withoutDevices));
  });
}

function deviceCases(test: Case): void {
  const size = 32n * mebibyte;

  test("an empty device is formatted and mounted, and keeps its content", async (host) => {
    const { root, mounter, ports: { files, blockTools } } = host;
    const device = await host.makeDevice(size);
    const request = { source: device, target: `${root}/t`, fsType: "ext4", options: [] };
    await files.mkdirAll(`${root}/t`, 0o755);
    await mounter.formatAndMount(request);
    expect((await blockTools.probe(device)).fsType).toBe("ext4");
    await files.writeFile(`${root}/t/f`, "kept", 0o644);
    await mounter.unmount(`${root}/t`);
    await mounter.formatAndMount(request);
    expect(await files.readText(`${root}/t/f`)).toBe("kept");
    expect((await mounter.list()).filter((row) => row.path === `${root}/t`)).toMatchObject([{ device, type: "ext4" }]);
  });

  test("an empty device is not formatted to be read", async (host) => {
    const device = await host.makeDevice(size);
    await host.ports.files.mkdirAll(`${host.root}/t`, 0o755);
    const request = { source: device, target: `${host.root}/t`, fsType: "ext4", options: ["ro"] };
    await expect(host.mounter.formatAndMount(request)).rejects.toMatchObject({
      message: `cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`,
    });
    expect((await host.ports.blockTools.probe(device)).fsType).toBe("");
  });

  test("a device with unknown data is neither formatted nor mounted", async (host) => {
    const device = await host.makeDevice(size);
    await host.scribble(device, "start");
    await host.ports.files.mkdirAll(`${host.root}/t`, 0o755);
    const request = { source: device, target: `${host.root}/t`, fsType: "ext4", options: [] };
    await expect(host.mounter.formatAndMount(request)).rejects.toMatchObject({ code: "EEXIST" });
    expect(await host.mounter.isMountPoint(`${host.root}/t`)).toBe(false);
  });

  test("a device of another file system is not mounted", async (host) => {
    const device = await host.makeDevice(size);
    await host.ports.blockTools.format(device, "ext4", []);
    await host.ports.files.mkdirAll(`${host.root}/t`, 0o755);
    const request = { source: device, target: `${host.root}/t`, fsType: "xfs", options: [] };
    await expect(host.mounter.formatAndMount(request)).rejects.toMatchObject({ message: expect.stringContaining("wrong fs type") });
    expect((await host.ports.blockTools.probe(device)).fsType).toBe("ext4");
  });
}
