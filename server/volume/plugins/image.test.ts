import { describe, expect, it } from "vitest";
import { newImagePlugin } from "@/server/volume/plugins/image";
import { newSpecFromVolume } from "@/server/volume/spec";

const spec = newSpecFromVolume({ name: "v", image: { reference: "quay.io/shop/theme:1" } });

describe("image", () => {
  it("needs no host and does nothing where a runtime mounts", async () => {
    const plugin = newImagePlugin();
    await plugin.init(undefined);
    const mounter = await plugin.newMounter(spec, undefined);
    await expect(mounter?.setUp({})).resolves.toBeUndefined();
    expect(mounter?.getPath()).toBe("");
    await expect((await plugin.newUnmounter("v", "u"))?.tearDown()).resolves.toBeUndefined();
  });

  it("refuses where no runtime does", async () => {
    const mounter = await newImagePlugin({ unsupported: "no container runtime on this node" }).newMounter(spec, undefined);
    await expect(mounter?.setUp({})).rejects.toMatchObject({ code: "refused", message: "no container runtime on this node" });
  });

  it.each([
    [spec, "quay.io/shop/theme:1"],
    [newSpecFromVolume({ name: "v", image: {} }), ""],
  ])("is named after its reference", async (named, name) => {
    expect(await newImagePlugin().getVolumeName(named)).toBe(name);
  });

  it("can't be found again on disk", async () => {
    expect((await newImagePlugin().constructVolumeSpec("v", "/x")).spec).toBeUndefined();
  });
});
