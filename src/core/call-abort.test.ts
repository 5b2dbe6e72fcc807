import { expect, test } from "bun:test";
import { abortSignalOf, type CallAbort, CallAborter } from "./call-abort.ts";

const reason = new Error("enough");

/** Runs a fixed sequence of steps on a call's abort and returns the notifications and states in order. */
function play(call: CallAbort): unknown[] {
  const { signal } = call;
  const notified: unknown[] = [];
  const first = { handleEvent: () => notified.push("first", signal.aborted, signal.reason) };
  const removed = { handleEvent: () => notified.push("removed") };
  const third = { handleEvent: () => notified.push("third") };
  const second = {
    handleEvent(): void {
      notified.push("second");
      signal.removeEventListener("abort", third);
    },
  };
  for (const listener of [first, removed, second, third]) signal.addEventListener("abort", listener);
  signal.removeEventListener("abort", removed);
  notified.push(signal.aborted, signal.reason);
  call.abort(reason);
  call.abort(new Error("again"));
  signal.addEventListener("abort", { handleEvent: () => notified.push("late") });
  return [...notified, signal.aborted, signal.reason];
}

test("notifies listeners as the platform's AbortController does", () => {
  const [own, platform] = [new CallAborter(), new AbortController()];
  expect(play(own)).toEqual(play(platform));
  expect(own.reason).toBe(reason);
});

test("can be followed by an AbortSignal of the platform", () => {
  const own = new CallAborter();
  const following = abortSignalOf(own);
  expect(following.aborted).toBe(false);
  own.abort(reason);
  expect([following.aborted, following.reason]).toEqual([true, reason]);
  expect(abortSignalOf(own).reason).toBe(reason);
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});
