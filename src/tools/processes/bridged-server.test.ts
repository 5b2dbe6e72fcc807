import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, objectOf, parseObject } from "../../core/index.ts";
import { BridgedServer } from "./bridged-server.ts";

/** Answers in its own way to each tool, and asks for input in the middle of "ask". */
const program = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const waiting = new Map();
process.stdout.write("no message\\n");
for await (const line of console) {
  const { id, method, params = {}, result } = JSON.parse(line);
  if (method === undefined) { send({ id: waiting.get(id), result: { got: result } }); continue; }
  if (method === "notifications/cancelled") { send({ method: "notifications/tools/list_changed", params }); continue; }
  if (id === undefined) continue;
  if (method === "initialize") send({ id, result: { protocolVersion: "2025-06-18", count: (globalThis.count = (globalThis.count ?? 0) + 1) } });
  else if (method === "server/discover") send({ id, error: { code: -32601, message: "none" } });
  else if (params.name === "ask") { waiting.set("q" + id, id); send({ id: "q" + id, method: "elicitation/create", params: {} }); }
  else if (params.name === "progress") {
    send({ method: "notifications/progress", params: { progressToken: params._meta.progressToken, progress: 1 } });
    send({ id, result: { done: true } });
  } else if (params.name === "exit") process.exit(3);
  else if (params.name === "flood") process.stdout.write("x".repeat(3_000_000));
  else if (params.name === "foreign") { send({ id: id + 1, result: { foreign: true } }); send({ id, result: { own: true } }); }
  else if (params.name !== "hang") send({ id, result: { name: params.name } });
}`;

const folder = mkdtempSync(join(tmpdir(), "tollgate-bridge-"));
const servers: BridgedServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.retire(0)));
});
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function start(): { server: BridgedServer; ends: string[] } {
  const ends: string[] = [];
  const server = new BridgedServer({
    plan: {
      name: "test",
      command: process.execPath,
      args: ["-e", program],
      env: {},
      instance: "shared",
      limits: { memory: 1e9, open_files: 256, processes: 16 },
      idle: 60_000,
      messageBytesMax: 1_000_000,
    },
    directory: folder,
    user: undefined,
    onStart: () => undefined,
    onEnd: ({ code, signal }) => ends.push(String(code ?? signal)),
  });
  servers.push(server);
  return { server, ends };
}

function post(message: JsonObject, { session, signal }: { session?: string; signal?: AbortSignal } = {}): Request {
  return new Request("http://tools.invalid/test", {
    method: "POST",
    headers: session === undefined ? {} : { "mcp-session-id": session },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...(signal !== undefined && { signal }),
  });
}

const call = (name: string, id: unknown = 1): JsonObject => ({ id, method: "tools/call", params: { name } });

type MessageReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/** The next message of a stream of events. */
async function nextMessage(reader: MessageReader): Promise<JsonObject | undefined> {
  const { value } = await reader.read();
  return parseObject(new TextDecoder().decode(value).split("data: ")[1] ?? "");
}

async function readerOf(response: Promise<Response>): Promise<MessageReader> {
  const reader = (await response).body?.getReader();
  if (reader === undefined) throw new Error("no body");
  return reader;
}

test("initialize is sent once, and the session names the process", async () => {
  const { server, ends } = start();
  const [first, second] = await Promise.all([
    server.answer(post({ id: 7, method: "initialize" }), "a"),
    server.answer(post({ id: "x", method: "initialize" }), "b"),
  ]);
  expect(await first.json()).toMatchObject({ id: 7, result: { count: 1 } });
  expect(await second.json()).toMatchObject({ id: "x", result: { count: 1 } });
  const session = first.headers.get("mcp-session-id") ?? "";
  expect(second.headers.get("mcp-session-id")).toBe(session);
  const ended = await server.answer(post(call("exit"), { session }), "a");
  expect(ended.status).toBe(502);
  expect(ends).toEqual(["3"]);
  // It is not started again at once; and once it is, the session is lost.
  expect((await server.answer(post(call("x"), { session }), "a")).status).toBe(503);
  let again = await server.answer(post(call("x"), { session }), "a");
  while (again.status === 503) {
    await Bun.sleep(20);
    again = await server.answer(post(call("x"), { session }), "a");
  }
  expect(again.status).toBe(404);
});

test("ids are the caller's, also those of progress, and an answer to another's id belongs to nobody", async () => {
  const { server } = start();
  const [one, two] = await Promise.all([
    server.answer(post(call("first", 1)), "a"),
    server.answer(post(call("second", 1)), "b"),
  ]);
  expect(await one.json()).toMatchObject({ id: 1, result: { name: "first" } });
  expect(await two.json()).toMatchObject({ id: 1, result: { name: "second" } });
  const params = { name: "progress", _meta: { progressToken: "mine" } };
  const reader = await readerOf(server.answer(post({ id: 2, method: "tools/call", params }), "a"));
  expect(await nextMessage(reader)).toMatchObject({ params: { progressToken: "mine", progress: 1 } });
  expect(await nextMessage(reader)).toMatchObject({ id: 2, result: { done: true } });
  const hanging = server.answer(post(call("hang")), "b");
  const foreign = await server.answer(post(call("foreign")), "a");
  expect(await foreign.json()).toMatchObject({ result: { own: true } });
  await server.retire(0);
  expect((await hanging).status).toBe(502);
});

test("a question goes to the only user with a call, who alone may answer it; others wait from then on", async () => {
  const { server } = start();
  const reader = await readerOf(server.answer(post(call("ask", 5)), "a"));
  const question = await nextMessage(reader);
  expect(question).toMatchObject({ method: "elicitation/create" });
  let hasAnswered = false;
  const other = server.answer(post(call("plain", 6)), "b").then((answer) => {
    hasAnswered = true;
    return answer;
  });
  const answer = { id: question?.["id"], result: { action: "accept" } };
  expect((await server.answer(post(answer), "b")).status).toBe(404);
  expect(hasAnswered).toBe(false);
  expect((await server.answer(post(answer), "a")).status).toBe(202);
  expect(await nextMessage(reader)).toMatchObject({ id: 5, result: { got: { action: "accept" } } });
  expect(await (await other).json()).toMatchObject({ id: 6, result: { name: "plain" } });
});

test("a closed request is cancelled, and changes go to those who listen", async () => {
  const { server } = start();
  const listener = await readerOf(server.answer(new Request("http://tools.invalid/test"), "a"));
  await server.answer(post(call("plain")), "a");
  const abort = new AbortController();
  void server.answer(post(call("hang"), { signal: abort.signal }), "a");
  await server.answer(post(call("plain")), "a");
  abort.abort();
  const changed = await nextMessage(listener);
  expect(objectOf(changed?.["params"])).toHaveProperty("requestId");
  expect(server.active).toBe(1);
});

test("a message beyond the bound ends the process", async () => {
  const { server, ends } = start();
  expect((await server.answer(post(call("flood")), "a")).status).toBe(502);
  expect(ends).toEqual(["SIGKILL"]);
});
