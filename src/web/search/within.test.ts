import { expect, test } from "bun:test";
import { CallAborter, GatewayError } from "../../core/index.ts";
import { within } from "./within.ts";

const late = new GatewayError("upstream_timeout", "late");
const never = (): Promise<string> => Promise.withResolvers<string>().promise;

test("work that looks at no signal ends with its time, and with an abort", async () => {
  const abort = new CallAborter();
  expect(await within({ signal: abort, ms: 60_000, late }, () => Promise.resolve("found"))).toBe("found");
  expect(within({ signal: abort, ms: 1, late }, never)).rejects.toBe(late);
  const waiting = within({ signal: abort, ms: 60_000, late }, never);
  const reason = new Error("gone");
  abort.abort(reason);
  expect(waiting).rejects.toBe(reason);
  expect(within({ signal: abort, ms: 60_000, late }, never)).rejects.toBe(reason);
});
