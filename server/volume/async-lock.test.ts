import { describe, expect, it } from "vitest";
import { AsyncLock } from "@/server/volume/async-lock";
import { settled } from "@/server/volume/test-plugins";

describe("AsyncLock", () => {
  it("runs one task at a time in the order asked, and goes on after one that failed", async () => {
    const lock = new AsyncLock();
    const order: string[] = [];
    let release: () => void = () => {};
    const first = lock.run(async () => {
      order.push("first");
      await new Promise<void>((resolve) => (release = resolve));
      throw new Error("first failed");
    });
    const second = lock.run(async () => order.push("second"));
    await settled();
    expect(order).toEqual(["first"]);
    release();
    await expect(first).rejects.toThrow("first failed");
    expect(await second).toBe(2);
    expect(order).toEqual(["first", "second"]);
  });
});
