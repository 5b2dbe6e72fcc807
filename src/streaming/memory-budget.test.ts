import { describe, expect, test } from "bun:test";
import { GatewayError } from "../core/index.ts";
import { MemoryBudget } from "./memory-budget.ts";

const MEBIBYTE = 1024 * 1024;

function refusalOf(work: () => void): GatewayError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
  }
  throw new Error("nothing was refused");
}

describe("a budget", () => {
  test("counts all bytes of data over a mebibyte, and none of smaller data", () => {
    const budget = new MemoryBudget(10 * MEBIBYTE);
    const small = Array.from({ length: 100 }, () => budget.share());
    for (const share of small) share.add(MEBIBYTE);
    expect(budget.used).toBe(0);
    const large = budget.share();
    large.add(MEBIBYTE);
    large.add(1);
    expect(budget.used).toBe(MEBIBYTE + 1);
    large.add(MEBIBYTE);
    expect(budget.used).toBe(2 * MEBIBYTE + 1);
  });

  test("refuses what exceeds it, and small data never", () => {
    const budget = new MemoryBudget(10 * MEBIBYTE);
    const first = budget.share();
    first.add(9 * MEBIBYTE);
    const second = budget.share();
    const error = refusalOf(() => second.add(2 * MEBIBYTE));
    expect(error).toMatchObject({ code: "memory_exhausted", status: 503, retryAfterSeconds: 5 });
    expect(budget.used).toBe(9 * MEBIBYTE);
    budget.share().add(MEBIBYTE);
    first.add(MEBIBYTE);
    expect(budget.used).toBe(10 * MEBIBYTE);
  });

  test("gets everything back, once", () => {
    const budget = new MemoryBudget(10 * MEBIBYTE);
    const [one, other] = [budget.share(), budget.share()];
    one.add(4 * MEBIBYTE);
    other.add(3 * MEBIBYTE);
    one.free();
    one.free();
    expect(budget.used).toBe(3 * MEBIBYTE);
    const third = budget.share();
    refusalOf(() => third.add(8 * MEBIBYTE));
    third.free();
    other.free();
    expect(budget.used).toBe(0);
  });

  test("counts nothing for a call that has ended", () => {
    const budget = new MemoryBudget(10 * MEBIBYTE);
    const share = budget.share();
    share.add(2 * MEBIBYTE);
    share.free();
    expect(() => share.add(1)).toThrow("ended");
    expect(budget.used).toBe(0);
  });
});
