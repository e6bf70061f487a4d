import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OverlayMap } from "@/server/cluster/overlay-map";

describe("an overlay map", () => {
  it("is what a plain map would be after any changes, and leaves the one before it alone", () => {
    const key = fc.integer({ min: 0, max: 12 });
    const changes = fc.array(fc.tuple(key, fc.option(fc.integer(), { nil: undefined })), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.integer())), fc.array(changes, { maxLength: 6 }), (start, rounds) => {
        let overlay = OverlayMap.over(new Map(start));
        const plain = new Map(start);
        for (const round of rounds) {
          const before = [...overlay];
          const next = overlay.with(round);
          for (const [changed, value] of round) {
            if (value === undefined) plain.delete(changed);
            else plain.set(changed, value);
          }
          expect([...overlay]).toEqual(before);
          overlay = next;
          expect(new Map(overlay)).toEqual(plain);
          expect(overlay.size).toBe(plain.size);
          for (let probe = 0; probe <= 12; probe += 1) {
            expect(overlay.get(probe)).toBe(plain.get(probe));
            expect(overlay.has(probe)).toBe(plain.has(probe));
          }
          expect([...overlay.keys()].length).toBe(plain.size);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("keeps the order of keys that were there, also when the layer is folded into the base", () => {
    let map = OverlayMap.over(new Map([["a", 1], ["b", 2], ["c", 3]]));
    map = map.with([["b", 20], ["d", 4]]);
    expect([...map]).toEqual([["a", 1], ["b", 20], ["c", 3], ["d", 4]]);
    const many = Array.from({ length: 5_000 }, (_, index) => [`x${index}`, index] as const);
    map = map.with(many).with([["a", undefined]]);
    expect([...map.keys()].slice(0, 3)).toEqual(["b", "c", "d"]);
    expect(map.size).toBe(5_003);
  });
});
