import { describe, expect, it } from "vitest";
import { FakeClock } from "@/server/hosts/memory";
import { PendingOperations } from "@/server/node/pending-operations";

function start() {
  const clock = new FakeClock();
  let ends = 0;
  const operations = new PendingOperations(clock, () => (ends += 1));
  const fail = (name: string, text = "no") => operations.start("v", name, () => Promise.reject(new Error(text)));
  return { clock, operations, fail, ends: () => ends };
}

describe("operations", () => {
  it("of one key run one at a time, those of another beside them", async () => {
    const { operations } = start();
    const gate = Promise.withResolvers<void>();
    expect(operations.start("v", "MountVolume", () => gate.promise)).toBe("started");
    expect(operations.start("v", "UnmountVolume", async () => undefined)).toBe("executing");
    expect(operations.start("w", "MountVolume", async () => undefined)).toBe("started");
    gate.resolve();
    await operations.idle();
    expect(operations.start("v", "UnmountVolume", async () => undefined)).toBe("started");
    await operations.idle();
    expect(operations.keys()).toEqual([]);
  });

  it("do not wait for a clock that was set back to catch up", async () => {
    const { clock, operations, fail } = start();
    fail("MountVolume");
    await operations.idle();
    clock.setBack(3_600_000);
    expect(fail("MountVolume")).toBe("started");
    await operations.idle();
    expect(fail("MountVolume")).toBe("paused");
    await clock.advance(1_000);
    expect(fail("MountVolume")).toBe("started");
    await operations.idle();
  });

  it("say why they failed, with the cause that the text leaves out", async () => {
    const { operations } = start();
    operations.start("v", "MountVolume", () => Promise.reject(new Error("unexpected end of JSON input", { cause: new Error("permission denied") })));
    await operations.idle();
    expect(operations.report("v")?.lastError).toBe("unexpected end of JSON input (permission denied)");
  });

  it("wait after a failure, but not another operation of the same key, which ends the pause", async () => {
    const { clock, operations, fail } = start();
    fail("MountVolume");
    await operations.idle();
    expect(fail("MountVolume")).toBe("paused");
    await clock.advance(499);
    expect(fail("MountVolume")).toBe("paused");
    await clock.advance(1);
    expect(fail("MountVolume")).toBe("started");
    await operations.idle();
    expect((operations.nextRetryMs() ?? 0) - clock.nowMs()).toBe(1000);
    expect(fail("UnmountVolume")).toBe("started");
    await operations.idle();
    expect((operations.nextRetryMs() ?? 0) - clock.nowMs()).toBe(500);
  });

  it("are reported with their last failure while they run again", async () => {
    const { clock, operations, fail } = start();
    const startedAt = new Date(clock.nowMs()).toISOString();
    fail("MountVolume", "first");
    await operations.idle();
    expect(operations.report("v")).toEqual({
      name: "MountVolume",
      startedAt,
      attempts: 1,
      lastError: "first",
      lastErrorAt: startedAt,
      noRetryBefore: new Date(clock.nowMs() + 500).toISOString(),
    });
    await clock.advance(500);
    const gate = Promise.withResolvers<void>();
    operations.start("v", "MountVolume", () => gate.promise);
    expect(operations.report("v")).toMatchObject({ attempts: 2, lastError: "first" });
    expect(operations.report("v")?.noRetryBefore).toBeUndefined();
    gate.resolve();
    await operations.idle();
    expect(operations.report("v")).toBeUndefined();
  });

  it("tell of each end, good or bad", async () => {
    const { operations, fail, ends } = start();
    fail("MountVolume");
    operations.start("w", "MountVolume", async () => undefined);
    await operations.idle();
    expect(ends()).toBe(2);
  });
});
