import { expect, test } from "bun:test";
import { abortSignalOf, type CallAbort, CallAborter } from "./call-abort.ts";

const reason = new Error("enough");

/** What is done to a call's abort, and heard of it, in turn. */
function play(call: CallAbort): unknown[] {
  const { signal } = call;
  const heard: unknown[] = [];
  const first = { handleEvent: () => heard.push("first", signal.aborted, signal.reason) };
  const gone = { handleEvent: () => heard.push("gone") };
  const third = { handleEvent: () => heard.push("third") };
  const second = {
    handleEvent(): void {
      heard.push("second");
      signal.removeEventListener("abort", third);
    },
  };
  for (const listener of [first, gone, second, third]) signal.addEventListener("abort", listener);
  signal.removeEventListener("abort", gone);
  heard.push(signal.aborted, signal.reason);
  call.abort(reason);
  call.abort(new Error("again"));
  signal.addEventListener("abort", { handleEvent: () => heard.push("late") });
  return [...heard, signal.aborted, signal.reason];
}

test("is heard of as that of the platform", () => {
  const [own, platform] = [new CallAborter(), new AbortController()];
  expect(play(own)).toEqual(play(platform));
  expect(own.reason).toBe(reason);
});

test("can be followed by a signal of the platform", () => {
  const own = new CallAborter();
  const following = abortSignalOf(own);
  expect(following.aborted).toBe(false);
  own.abort(reason);
  expect([following.aborted, following.reason]).toEqual([true, reason]);
  expect(abortSignalOf(own).reason).toBe(reason);
  const { signal } = new AbortController();
  expect(abortSignalOf(signal)).toBe(signal);
});
