import { expect, test } from "bun:test";
import { CallAborter, GatewayError, untilAborted } from "../core/index.ts";
import { within } from "./within.ts";

test("work that looks at no signal ends with its time, and with an abort", async () => {
  const late = new GatewayError("upstream_timeout", "late");
  const { promise: never } = Promise.withResolvers<string>();
  const abort = new CallAborter();
  const searching = (ms: number, work: Promise<string>): Promise<string> =>
    within({ signal: abort, ms, late }, (either) => untilAborted(either, work));
  expect(await searching(60_000, Promise.resolve("found"))).toBe("found");
  expect(searching(1, never)).rejects.toBe(late);
  const waiting = searching(60_000, never);
  const reason = new Error("gone");
  abort.abort(reason);
  expect(waiting).rejects.toBe(reason);
  expect(searching(60_000, never)).rejects.toBe(reason);
});

test("work that ends by itself when its time is over keeps its result", async () => {
  const late = new GatewayError("target_timeout", "late");
  const partial = within({ signal: new CallAborter(), ms: 1, late }, async (either) => {
    await untilAborted(either, Promise.withResolvers<never>().promise).catch(() => undefined);
    return "what was there";
  });
  expect(await partial).toBe("what was there");
});
