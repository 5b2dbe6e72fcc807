import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { GatewayError, limits } from "../../core/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { CallWatchdog } from "./watchdog.ts";

const tickMs = 250;
let now: number;
let ticker: Ticker;
let abort: AbortController;
let leaving: AbortController;

beforeEach(() => {
  jest.useFakeTimers();
  now = 1_000_000;
  ticker = new Ticker(tickMs, () => now);
  abort = new AbortController();
  leaving = new AbortController();
});
afterEach(() => {
  ticker.stop();
  jest.useRealTimers();
});

const watchdog = (clientGoneGraceMs = 0): CallWatchdog =>
  new CallWatchdog({
    ticker,
    abort,
    client: new Request("http://gateway.example", { signal: leaving.signal }),
    clientGoneGraceMs,
  });

function pass(milliseconds: number): void {
  now += milliseconds;
  jest.advanceTimersByTime(tickMs);
}

function reason(): unknown {
  const why: unknown = abort.signal.reason;
  return why instanceof GatewayError ? { code: why.code, message: why.message } : undefined;
}

describe("waiting for the upstream", () => {
  const tooLate = { code: "upstream_timeout", message: "too late" };

  test("lasts as long as given, and restarts when it sends something", () => {
    const waiting = watchdog();
    waiting.expect(1_000, "too late");
    pass(999);
    waiting.restart();
    pass(999);
    expect(reason()).toBeUndefined();
    pass(1);
    expect(reason()).toEqual(tooLate);
  });

  test("is unlimited if nothing is awaited, or the watchdog has stopped", () => {
    const resting = watchdog();
    resting.expect(1_000, "too late");
    resting.stopWaiting();
    pass(100_000);
    resting.expect(1_000, "too late");
    resting.end();
    pass(100_000);
    expect(reason()).toBeUndefined();
  });
});

test("a total limit ends a call that never stalls", () => {
  const limited = watchdog();
  limited.limitTotal(10_000);
  limited.expect(1_000, "too late");
  for (let times = 0; times < 19; times += 1) {
    pass(500);
    limited.restart();
  }
  expect(reason()).toBeUndefined();
  pass(500);
  expect(reason()).toEqual({ code: "upstream_timeout", message: "The upstream's answer took too long." });
  expect(limited.isAbandoned).toBe(false);
});

describe("after the client has disconnected", () => {
  const gone = { code: "upstream_interrupted", message: "The client went away." };

  test("ends at once if the call ends with its client", () => {
    watchdog();
    pass(tickMs);
    expect(reason()).toBeUndefined();
    leaving.abort();
    pass(tickMs);
    expect(reason()).toEqual(gone);
  });

  test("the call is abandoned only if that is why it ended", () => {
    const left = watchdog();
    leaving.abort();
    expect(left.isAbandoned).toBe(false);
    pass(tickMs);
    expect(left.isAbandoned).toBe(true);
  });

  test.each([0, Number.POSITIVE_INFINITY])(
    "the call ends as a failure of the gateway if that ended the client (%p)",
    (grace) => {
      const ended = watchdog(grace);
      leaving.abort(new GatewayError("shutting_down", "The server is going down."));
      pass(tickMs);
      expect(reason()).toMatchObject({ code: "shutting_down" });
      expect(ended.isAbandoned).toBe(false);
    },
  );

  test("lasts until the upstream's answer has arrived, within a bound", () => {
    watchdog(limits.drainMsMax);
    leaving.abort();
    pass(tickMs);
    pass(limits.drainMsMax - 1);
    expect(reason()).toBeUndefined();
    pass(1);
    expect(reason()).toEqual(gone);
  });

  test("lasts to the end of a call that must be completed", () => {
    watchdog(Number.POSITIVE_INFINITY);
    leaving.abort();
    for (let times = 0; times < 10; times += 1) pass(limits.drainMsMax);
    expect(reason()).toBeUndefined();
  });

  test("ends if the upstream is too late, whatever its remaining time", () => {
    const waiting = watchdog(Number.POSITIVE_INFINITY);
    waiting.expect(1_000, "too late");
    leaving.abort();
    pass(1_000);
    expect(reason()).toEqual({ code: "upstream_timeout", message: "too late" });
  });
});

describe("an attempt of a call", () => {
  test("times out alone", () => {
    const call = watchdog();
    const attempt = call.ofAttempt();
    attempt.expect(500, "too late");
    pass(500);
    expect(attempt.abort.signal.aborted).toBe(true);
    expect(abort.signal.aborted).toBe(false);
    // A later one begins again.
    expect(call.ofAttempt().abort.signal.aborted).toBe(false);
  });

  test("ends with its call, also one that begins later", () => {
    const call = watchdog();
    const attempt = call.ofAttempt();
    leaving.abort();
    pass(1);
    expect(call.isAbandoned).toBe(true);
    expect([attempt, call.ofAttempt()].map((each) => each.abort.signal.reason)).toEqual([
      abort.signal.reason,
      abort.signal.reason,
    ]);
  });
});
