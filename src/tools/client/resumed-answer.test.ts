/** Answers of a server of 2025 whose streams end early, and questions on the stream of a session. */
import { describe, expect, test } from "bun:test";
import { type AskUpstream, CallAborter, type JsonObject } from "../../core/index.ts";
import { RpcError } from "../../mcp/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { McpClient } from "./mcp-client.ts";

/** What one stream brings before it ends: events as they go over the wire. A cut one breaks. */
interface Part {
  events?: readonly string[];
  isCut?: boolean;
  /** Instead of a stream. */
  status?: number;
}

const idOf = (call: JsonObject): number => Number(call["id"]);
const result = (id: number, text = "done"): string =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })}\n\n`;

/** A server whose call is answered in parts: the first by the POST, the others by GETs behind an event. Time passes when it is waited for. */
function scene(parts: readonly ((id: number) => Part)[], timeoutMs = 60_000) {
  const calls: JsonObject[] = [];
  const told: string[] = [];
  const reads: { eventId: string | null; at: number; session: string | null }[] = [];
  let now = 0;
  let tick = (): void => undefined;
  const ticker = new Ticker(1, () => now, { every: (_ms, run) => ((tick = run), () => undefined) });
  const reply = ({ events = [], isCut = false, status = 200 }: Part) => ({
    status,
    headers: {
      get: (name: string) =>
        ({ "content-type": status === 200 ? "text/event-stream" : null, "mcp-session-id": "own" })[name] ?? null,
    },
    body: {
      flowTo: (sink: { onBytes(b: Buffer): void; onEnd(): void; onFailure(e: unknown): void }) => {
        for (const event of events) sink.onBytes(Buffer.from(event));
        if (isCut) sink.onFailure(new Error("reset"));
        else sink.onEnd();
      },
      pause: () => undefined,
      resume: () => undefined,
      cancel: () => undefined,
    },
  });
  const ask: AskUpstream = ({ method: verb, body, headers }) => {
    if (verb === "GET") {
      const eventId = headers.get("last-event-id");
      reads.push({ eventId, at: now, session: headers.get("mcp-session-id") });
      return Promise.resolve(reply((parts[reads.length] ?? parts.at(-1))?.(idOf(calls[0] ?? {})) ?? {}));
    }
    const message = JSON.parse(typeof body === "string" ? body : "{}") as JsonObject;
    const { id, method } = message;
    told.push(String(method));
    if (method === "server/discover") return Promise.resolve(reply({ status: 400 }));
    if (method !== "tools/call") return Promise.resolve(reply({ events: [result(Number(id))] }));
    calls.push(message);
    return Promise.resolve(reply(parts[0]?.(idOf(message)) ?? {}));
  };
  const client = new McpClient({ name: "s", url: "http://s.test/mcp", headers: {}, version: "1", ask, ticker });
  const signal = new CallAborter();
  const progress = { isOver: false };
  const answer = client
    .request({ method: "tools/call", params: { name: "pay" }, timeoutMs, bytesMax: 10_000, signal })
    .then((value) => JSON.stringify(value), String)
    .finally(() => (progress.isOver = true));
  /** Lets time pass until there is an answer. */
  const finish = async (stepMs = 50): Promise<string> => {
    while (!progress.isOver) {
      for (let turns = 0; turns < 50 && !progress.isOver; turns += 1) await Promise.resolve();
      now += stepMs;
      tick();
    }
    return answer;
  };
  return { calls, told, reads, finish, signal, now: () => now };
}

const primed = (eventId: string, retry?: number): string =>
  `id: ${eventId}\n${retry === undefined ? "" : `retry: ${retry}\n`}data: \n\n`;

describe("a stream that the server closes before its answer", () => {
  test("is read on behind its last event, not before the time that the server has named, and the call is sent once", async () => {
    const { calls, reads, finish, told } = scene([
      () => ({ events: [primed("a1", 500), primed("a2")] }),
      () => ({ events: [primed("a3", 2_000)] }),
      (id) => ({ events: [result(id)] }),
    ]);
    expect(await finish()).toContain("done");
    expect(calls).toHaveLength(1);
    expect(reads.map(({ eventId, session }) => [eventId, session])).toEqual([
      ["a2", "own"],
      ["a3", "own"],
    ]);
    expect(reads[0]?.at).toBeGreaterThanOrEqual(500);
    expect((reads[1]?.at ?? 0) - (reads[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_000);
    expect(told).not.toContain("notifications/cancelled");
  });

  test("is read on too if the connection breaks, behind the last whole event", async () => {
    const { calls, reads, finish } = scene([
      () => ({ events: [primed("a1"), 'id: a2\ndata: {"half'], isCut: true }),
      (id) => ({ events: [result(id)] }),
    ]);
    expect(await finish()).toContain("done");
    expect([calls.length, reads.map(({ eventId }) => eventId)]).toEqual([1, ["a1"]]);
  });

  test("without an event to go on from, the call is lost, and not sent again", async () => {
    for (const isCut of [false, true]) {
      const { calls, reads, finish } = scene([() => ({ events: [": hello\n\n"], isCut })]);
      expect(await finish()).toMatch(/too early|cannot be reached/);
      expect([calls.length, reads.length]).toEqual([1, 0]);
    }
  });

  test("that it closes again and again is read on seldom, and not for ever", async () => {
    const { calls, reads, finish, now, told } = scene([() => ({ events: [primed("a", 0)] }), () => ({})], 3_600_000);
    expect(await finish(1_000)).toContain("too early");
    expect(calls).toHaveLength(1);
    expect(reads.length).toBe(200);
    expect(now() / reads.length).toBeGreaterThan(5_000);
    expect(told.at(-1)).toBe("notifications/cancelled");
  });

  test("a server that wants to be asked again in hours is not waited for", async () => {
    const { reads, finish, now, told } = scene([() => ({ events: [primed("a", 7_200_000)] })]);
    expect(await finish()).toContain("in time");
    expect([reads.length, now() < 1_000, told.at(-1)]).toEqual([0, true, "notifications/cancelled"]);
  });

  test("the time of the call goes on", async () => {
    const { finish, now } = scene(
      [() => ({ events: [primed("a", 900)] }), () => ({ events: [primed("b", 900)] })],
      5_000,
    );
    expect(await finish()).toContain("in time");
    expect(now()).toBeLessThanOrEqual(5_100);
  });

  test("the bytes of all streams count together", async () => {
    const filler = `: ${"x".repeat(3_000)}\n\n`;
    const { reads, finish } = scene([() => ({ events: [primed("a", 100), filler] }), () => ({ events: [filler] })]);
    expect(await finish()).toContain("longer than 10000 bytes");
    expect(reads.length).toBe(3);
  });

  test("only the answer to the call counts on it, whatever else the server sends", async () => {
    const foreign = (id: number): string => result(id + 1, "of another call");
    const { reads, finish } = scene([
      (id) => ({ events: [primed("a", 100), foreign(id)] }),
      (id) => ({ events: [foreign(id), result(id)] }),
    ]);
    expect(await finish()).toContain("done");
    expect(reads.length).toBe(1);
  });

  test.each([401, 404, 405])(
    "is lost if the server refuses it with %d, and the call is not sent again",
    async (status) => {
      const { calls, reads, finish } = scene([() => ({ events: [primed("a")] }), () => ({ status })]);
      expect(await finish()).toContain("too early");
      expect([calls.length, reads.length]).toEqual([1, 1]);
    },
  );

  test("is asked for three times of a server that fails", async () => {
    const { calls, reads, finish } = scene([() => ({ events: [primed("a")] }), () => ({ status: 503 })]);
    expect(await finish()).toContain("too early");
    expect([calls.length, reads.length]).toEqual([1, 3]);
  });

  test("an id that is no header is none", async () => {
    const { reads, finish } = scene([() => ({ events: [primed("a"), primed("ü")] })]);
    expect(await finish()).toContain("too early");
    expect(reads.length).toBe(0);
  });

  test("a client that leaves in the pause ends the call", async () => {
    const { reads, finish, signal, told } = scene([() => ({ events: [primed("a", 5_000)] })]);
    for (let turns = 0; turns < 200; turns += 1) await Promise.resolve();
    signal.abort(new RpcError(0, "gone"));
    expect(await finish()).toContain("gone");
    expect([reads.length, told.at(-1)]).toEqual([0, "notifications/cancelled"]);
  });
});
