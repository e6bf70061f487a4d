import { describe, expect, it } from "vitest";
import { FakeClock } from "@/server/hosts/memory";
import { AtMostEvery } from "@/server/volume/at-most-every";

function start() {
  const clock = new FakeClock();
  const every = new AtMostEvery(1_000, clock);
  let runs = 0;
  const request = () =>
    every.request(
      async (begin) => {
        begin();
        runs += 1;
      },
      (error) => {
        throw error;
      },
    );
  return { clock, request, runs: () => runs };
}

describe("what runs at most once in an interval", () => {
  it("runs at once, and again when the interval is over", async () => {
    const { clock, request, runs } = start();
    request();
    await clock.advance(0);
    request();
    await clock.advance(999);
    expect(runs()).toBe(1);
    await clock.advance(1);
    expect(runs()).toBe(2);
  });

  it("waits no longer than the interval when the clock was set back", async () => {
    const { clock, request, runs } = start();
    request();
    await clock.advance(0);
    clock.setBack(3_600_000);
    request();
    await clock.advance(1_000);
    expect(runs()).toBe(2);
  });
});
