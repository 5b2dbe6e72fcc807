import { expect, test } from "bun:test";
import { type AskUpstream, CallAborter, type JsonObject } from "../../core/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { McpClient } from "./mcp-client.ts";

/** A server of 2025, or of both revisions, whose calls get this answer, and the methods that it was asked for, with their sessions. */
function scene(call: { status: number } | "never", session?: string, isBoth = false) {
  const asked: string[] = [];
  const sessions: (string | null)[] = [];
  let tick = (): void => undefined;
  let now = 0;
  const ticker = new Ticker(1, () => now, { every: (_ms, run) => ((tick = run), () => undefined) });
  const ask: AskUpstream = async ({ method: verb, body, signal, headers: sent }) => {
    if (verb !== "POST") throw new Error("it takes messages alone");
    const { method, id } = JSON.parse(typeof body === "string" ? body : "{}") as { method: string; id?: number };
    asked.push(method);
    sessions.push(sent.get("mcp-session-id"));
    const isCall = method === "tools/call";
    if (isCall && call === "never") {
      await new Promise<void>((resolve) => signal.addEventListener("abort", { handleEvent: resolve }));
      throw new Error("closed");
    }
    const status = isCall && call !== "never" ? call.status : method === "server/discover" && !isBoth ? 400 : 200;
    const result = { protocolVersion: "2025-06-18", supportedVersions: ["2026-07-28"] };
    const message: JsonObject = { jsonrpc: "2.0", id, result };
    const headers = { get: (name: string) => (name === "mcp-session-id" ? (session ?? null) : null) };
    const text = Buffer.from(status === 200 ? JSON.stringify(message) : "");
    return {
      status,
      headers,
      body: {
        flowTo: (sink) => (sink.onBytes(text), sink.onEnd()),
        pause: () => undefined,
        resume: () => undefined,
        cancel: () => undefined,
      },
    };
  };
  const client = new McpClient({ name: "s", url: "http://s.test/mcp", headers: {}, version: "1", ask, ticker });
  const request = { method: "tools/call", params: { name: "pay" }, timeoutMs: 1_000, bytesMax: 1_000 };
  const send = (more: object = {}): Promise<JsonObject> => client.request({ ...request, ...more });
  return { asked, sessions, request: send, pass: (ms: number) => ((now += ms), tick()) };
}

test.each([
  ["alive", 1],
  ["gone", 2],
])("404 for the stream of a session that is %s", async (state, begun) => {
  const asked: string[] = [];
  const ask: AskUpstream = ({ method: verb, body }) => {
    const { method = verb, id } = JSON.parse(typeof body === "string" ? body : "{}") as {
      method?: string;
      id?: number;
    };
    asked.push(method);
    const isMissing = verb === "GET" || (method === "ping" && state === "gone");
    const status = isMissing ? 404 : method === "server/discover" ? 400 : 200;
    const text = JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: "2025-06-18" } });
    return Promise.resolve({
      status,
      headers: { get: (name: string) => (name === "mcp-session-id" ? "s1" : null) },
      body: {
        flowTo: (sink) => (sink.onBytes(Buffer.from(status === 200 ? text : "")), sink.onEnd()),
        pause: () => undefined,
        resume: () => undefined,
        cancel: () => undefined,
      },
    });
  };
  const ticker = new Ticker(1, () => 0, { every: () => () => undefined });
  const client = new McpClient({ name: "s", url: "http://s.test/mcp", headers: {}, version: "1", ask, ticker });
  const changes = { uris: [], signal: new CallAborter(), onOpen: () => undefined, onNotification: () => undefined };
  for (let attempt = 0; attempt < 2; attempt += 1)
    expect(await client.listen(changes).catch((reason: unknown) => reason)).toMatchObject({
      code: "upstream_invalid_answer",
    });
  expect(asked.filter((method) => method === "initialize")).toHaveLength(begun);
});

test("a server that asks during a call gets an answer to each request, and waits for none", async () => {
  const told: JsonObject[] = [];
  const ticker = new Ticker(1, () => 0, { every: () => () => undefined });
  const ask: AskUpstream = async ({ body }) => {
    const message = JSON.parse(typeof body === "string" ? body : "{}") as JsonObject;
    const { id, method } = message;
    told.push(message);
    const result = { jsonrpc: "2.0", id, result: { protocolVersion: "2025-06-18" } };
    const questions = [
      { jsonrpc: "2.0", id: "a", method: "ping" },
      { jsonrpc: "2.0", id: 7, method: "sampling/createMessage", params: {} },
    ];
    const messages = method === "tools/call" ? [...questions, result] : [result];
    const text = messages.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
    return {
      status: method === "server/discover" ? 400 : 200,
      headers: { get: (name) => (name === "content-type" ? "text/event-stream" : null) },
      body: {
        flowTo: (sink) => (sink.onBytes(Buffer.from(method === "server/discover" ? "" : text)), sink.onEnd()),
        pause: () => undefined,
        resume: () => undefined,
        cancel: () => undefined,
      },
    };
  };
  const client = new McpClient({ name: "s", url: "http://s.test/mcp", headers: {}, version: "1", ask, ticker });
  await client.request({ method: "tools/call", params: { name: "pay" }, timeoutMs: 1_000, bytesMax: 1_000 });
  expect(told.filter(({ method }) => method === undefined)).toMatchObject([
    { id: "a", result: {} },
    { id: 7, error: { code: -32_601 } },
  ]);
});

const callsIn = (asked: readonly string[]): number => asked.filter((method) => method === "tools/call").length;

test("a call that a server without sessions does not find is not sent again", async () => {
  const { asked, request } = scene({ status: 404 });
  expect(await request().catch(String)).toContain("without a result");
  expect(callsIn(asked)).toBe(1);
});

test("a call of a lost session is sent once more, in another session", async () => {
  const { asked, request } = scene({ status: 404 }, "session-1");
  expect(await request().catch(String)).toContain("without a result");
  expect(asked.filter((method) => method === "initialize")).toHaveLength(2);
  expect(callsIn(asked)).toBe(2);
});

test("a server of 2025 learns that nobody waits for a late call any more", async () => {
  const { asked, request, pass } = scene("never", "session-1");
  const late = request().catch(String);
  while (callsIn(asked) === 0) await Promise.resolve();
  pass(2_000);
  expect(await late).toContain("does not answer in time");
  expect(asked.at(-1)).toBe("notifications/cancelled");
});

const asked = {
  client: { owner: "a", session: undefined },
  capabilities: { roots: {} },
  ask: () => Promise.resolve({}),
};

test("a server of both revisions is asked in a session for clients that have one and take questions, and for no others", async () => {
  const { asked: methods, sessions, request } = scene({ status: 200 }, "session-1", true);
  await request();
  for (let calls = 0; calls < 2; calls += 1) await request({ prefersSession: true, asked });
  for (const others of [{ asked }, { prefersSession: true }, {}]) await request(others);
  const calls = sessions.filter((_session, index) => methods[index] === "tools/call");
  expect(calls).toEqual([null, "session-1", "session-1", null, null, null]);
  expect(methods.filter((method) => method === "initialize")).toHaveLength(1);
});

test("a server of both revisions without sessions is asked in the newer one", async () => {
  const { asked: methods, request } = scene({ status: 200 }, undefined, true);
  for (let calls = 0; calls < 2; calls += 1) await request({ prefersSession: true, asked });
  expect(methods).toEqual(["server/discover", "initialize", "notifications/initialized", "tools/call", "tools/call"]);
});
