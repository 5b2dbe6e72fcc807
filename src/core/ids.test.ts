import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { isRequestId, randomId, requestId } from "./ids.ts";

const real = (size: number): Uint8Array => randomBytes(size);

describe("random ids", () => {
  test.each([0, 1, 12, 100])("have %p characters of [0-9a-z]", (length) => {
    expect(randomId(real, length)).toMatch(new RegExp(`^[0-9a-z]{${length}}$`));
  });

  test("discard the numbers that would favour the first pairs", () => {
    // 64,800 is 50 times the number of pairs; 65,535 would give one of the first pairs an extra chance.
    const numbers = [64_800, 65_535, 35, 1_295, 1_296, 64_799];
    const bytes = Uint8Array.from(numbers.flatMap((number) => [number >> 8, number & 255]));
    expect(randomId(() => bytes, 8)).toBe("0zzz00zz");
  });

  test("request more bytes if too few of them were usable", () => {
    const answers = [Uint8Array.of(255, 255), Uint8Array.of(255, 255, 1, 104)];
    expect(randomId(() => answers.shift() ?? Uint8Array.of(), 1)).toBe("a");
    expect(answers).toEqual([]);
  });

  test("use every character about as often", () => {
    const counts = new Map<string, number>();
    for (const character of randomId(real, 36_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(36);
    // Seven standard deviations around 1,000.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(220);
  });
});

describe("request ids", () => {
  test("begin with the time, so that they sort by it", () => {
    const moments = [0, 1, 35, 36, 1_700_000_000_000, 1_700_000_000_001, 36 ** 9 - 1];
    const ids = moments.map((moment) => requestId(() => moment, real));
    expect(ids).toEqual(ids.toSorted());
    for (const [index, id] of ids.entries()) {
      expect(id).toMatch(/^req_[0-9a-z]{25}$/);
      expect(Number.parseInt(id.slice(4, 13), 36)).toBe(moments[index] ?? -1);
    }
  });

  test("of the same moment differ", () => {
    const ids = Array.from({ length: 1_000 }, () => requestId(() => 5, real));
    expect(new Set(ids).size).toBe(1_000);
  });

  test("are distinguished from other texts", () => {
    const id = requestId(() => 5, real);
    expect(isRequestId(id)).toBe(true);
    for (const other of ["", "req_", id.slice(0, -1), `${id}0`, ` ${id}`, `${id}\n`, id.toUpperCase(), id.slice(4)])
      expect([other, isRequestId(other)]).toEqual([other, false]);
  });
});
