import { expect, test } from "bun:test";
import { CallAborter, type ErrorCode, GatewayError } from "../core/index.ts";
import { repeatLost } from "./repeat-lost.ts";

interface Played {
  failures: readonly (ErrorCode | Error)[];
  mayRepeat?: boolean;
  /** Of each attempt, in milliseconds. */
  lasts?: number;
  leavesAfter?: number;
}

/** The end of a call whose attempts fail so, one after the other, and the time that each attempt has. */
async function play({ failures, mayRepeat = true, lasts = 10, leavesAfter }: Played) {
  let now = 0;
  const times: number[] = [];
  const signal = new CallAborter();
  const wait = (ms: number): Promise<void> => {
    now += ms;
    return Promise.resolve();
  };
  const ended = await repeatLost({ mayRepeat, timeoutMs: 1_000, signal, clock: () => now, wait }, (timeoutMs) => {
    const failure = failures[times.length];
    times.push(timeoutMs);
    now += lasts;
    if (leavesAfter === times.length) signal.abort(new Error("left"));
    if (failure === undefined) return Promise.resolve("done");
    return Promise.reject(typeof failure === "string" ? new GatewayError(failure, failure) : failure);
  }).catch((thrown: unknown) => (thrown as Error).message);
  return { ended, times };
}

test("a call whose answer is lost is made three times at most, within its time", async () => {
  expect(await play({ failures: ["upstream_unreachable", "upstream_interrupted"] })).toEqual({
    ended: "done",
    times: [1_000, 740, 230],
  });
  const failures = ["upstream_unreachable", "upstream_unreachable", "upstream_unreachable"] as const;
  expect((await play({ failures })).times).toHaveLength(3);
  expect(await play({ failures, lasts: 400 })).toEqual({ ended: "upstream_unreachable", times: [1_000, 350] });
});

test("a call that may not be repeated, or that has an answer, is made once", async () => {
  expect((await play({ failures: ["upstream_unreachable"], mayRepeat: false })).times).toHaveLength(1);
  for (const failure of ["upstream_timeout", "upstream_invalid_answer", new Error("refused")] as const)
    expect((await play({ failures: [failure] })).times).toHaveLength(1);
});

test("a caller that has left gets no further attempt", async () => {
  const { ended, times } = await play({ failures: ["upstream_unreachable"], leavesAfter: 1 });
  expect([ended, times.length]).toEqual(["left", 1]);
});
