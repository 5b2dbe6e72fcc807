/**
 * Pipelined requests: sent on one connection before the answer to an earlier one. Bun's server closes a connection on
 * which a request arrives while another one is being answered (docs/errors.md). Nothing may be executed or charged twice.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Caller, chatPath, openRaw, type RawConnection, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;
let caller: Caller;
let connection: RawConnection;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
});
beforeEach(async () => {
  rig.simulators.clear();
  caller = await rig.caller();
  connection = await openRaw(rig.gateway.url);
});
afterEach(async () => {
  connection.socket.destroy();
  await rig.expectBalancedBooks();
});
afterAll(() => rig.stop());

const health = "GET /health HTTP/1.1\r\nhost: gateway\r\n\r\n";

/** The bytes of a chat call, with further headers and fields. */
function chat(model: string, more: Record<string, string> = {}, fields: object = {}): string {
  const body = JSON.stringify({ model: `openai/${model}`, messages: [{ role: "user", content: "hi" }], ...fields });
  const headers = {
    host: "gateway",
    authorization: `Bearer ${caller.token}`,
    "content-length": `${body.length}`,
    ...more,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `POST ${chatPath} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

const statuses = (): string[] => connection.received().match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];

/** How the calls of the caller ended, by the log. */
const outcomes = (): unknown[] =>
  rig.gateway
    .logLines()
    .filter((line) => line["user"] === caller.user && line["msg"] === "call")
    .map((line) => line["outcome"]);

describe("a request that arrives", () => {
  test("behind the answer to the first is answered on the same connection", async () => {
    connection.socket.write(chat("gpt-4o-mini"));
    await until("the first is answered", () => statuses().length === 1);
    await connection.answer();
    connection.socket.write(health);
    await until("the second is answered", () => statuses().length === 2);
    expect(statuses()).toEqual(["200", "200"]);
  });

  test("together with others that need no waiting is answered in its turn", async () => {
    connection.socket.write(health + health + health);
    await until("all are answered", () => statuses().length === 3);
    expect(statuses()).toEqual(["200", "200", "200"]);
  });

  test.each<[string, () => string]>([
    ["a free one", () => health],
    ["another call", () => chat("gpt-4o-mini")],
  ])("during a call closes the connection, and is not executed: %s", async (_, second) => {
    connection.socket.write(chat("gpt-4o-mini+slow-300") + second());
    await connection.closed;
    expect(statuses()).toEqual([]);
    // A whole answer is awaited for its usage, as if the client had disconnected.
    await until("the call has ended", () => outcomes().length > 0);
    expect(await caller.closed()).toBeGreaterThan(0n);
    expect([outcomes().length, rig.simulators.total()]).toEqual([1, 1]);
  });

  test("during a stream breaks it off, and is not executed", async () => {
    connection.socket.write(chat("gpt-4o-mini+stall-1", {}, { stream: true }));
    await until("the stream has begun", () => connection.received().includes("data: "));
    connection.socket.write(chat("gpt-4o-mini"));
    await connection.closed;
    expect(statuses()).toEqual(["200"]);
    expect(connection.received()).not.toContain("[DONE]");
    const ended = await until("the call has ended", () => outcomes().length > 0 && outcomes());
    expect([ended, rig.simulators.total()]).toEqual([["abandoned"], 1]);
  });

  test("during a call with a retry key does not end the call, whose answer can be requested again", async () => {
    const key = { "idempotency-key": "pipelined" };
    connection.socket.write(chat("gpt-4o-mini+slow-300", key) + health);
    await connection.closed;
    await until("the call has ended", () => outcomes().length > 0);
    const spent = await caller.closed();
    expect(spent).toBeGreaterThan(0n);
    const again = await openRaw(rig.gateway.url);
    again.socket.write(chat("gpt-4o-mini+slow-300", key));
    const answer = await again.answer();
    again.socket.destroy();
    expect([answer?.status, answer?.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect([await caller.closed(), rig.simulators.total()]).toEqual([spent, 1]);
  });
});
