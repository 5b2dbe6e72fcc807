import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, objectOf, parseObject } from "../../core/index.ts";
import { BridgedServer } from "./bridged-server.ts";
import { WAITING_HEADER } from "./plan.ts";

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

function start(
  source = program,
  times: { discoverMsMax?: number; initializeMsMax?: number } = {},
): { server: BridgedServer; pids: number[]; ends: string[] } {
  const ends: string[] = [];
  const pids: number[] = [];
  const server = new BridgedServer({
    plan: {
      name: "test",
      command: process.execPath,
      args: ["-e", source],
      env: {},
      instance: "shared",
      limits: { memory: 1e9, open_files: 256, processes: 16 },
      idle: 60_000,
      messageBytesMax: 1_000_000,
    },
    directory: folder,
    user: undefined,
    ...times,
    onStart: (pid) => pids.push(pid),
    onEnd: ({ code, signal }) => ends.push(String(code ?? signal)),
  });
  servers.push(server);
  return { server, pids, ends };
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

test("a program that ends while a message is on its way harms no other", async () => {
  const { server, pids, ends } = start();
  expect((await server.answer(post(call("x")), "a")).status).toBe(200);
  process.kill(-(pids[0] ?? 0), "SIGKILL");
  // It ends before this process hears of it.
  Bun.sleepSync(100);
  const large = { ...call("x"), params: { name: "x", arguments: { text: "x".repeat(60_000) } } };
  // A rejection that nobody handles would fail the test, and end the process with all programs.
  const answers = await Promise.all([1, 2].map((id) => server.answer(post({ ...large, id }), "a")));
  expect(answers.map(({ status }) => status)).toEqual([502, 502]);
  expect(ends).toEqual(["SIGKILL"]);
});

test("who begins to listen hears at once that a process takes requests, if one does", async () => {
  const { server } = start();
  const listening = (): Promise<MessageReader> =>
    readerOf(server.answer(new Request("http://tools.invalid/test", { method: "GET" }), "a"));
  const early = await listening();
  const started = { method: "notifications/tollgate/started" };
  const modern = { name: "x", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  await server.answer(post({ id: 1, method: "tools/call", params: modern }), "a");
  for (const reader of [early, await listening()]) expect(await nextMessage(reader)).toMatchObject(started);
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
  const other = await readerOf(server.answer(post(call("plain", 6)), "b"));
  let hasBegun = false;
  const begun = other.read().then(() => (hasBegun = true));
  const answer = { id: question?.["id"], result: { action: "accept" } };
  expect((await server.answer(post(answer), "b")).status).toBe(404);
  expect(hasBegun).toBe(false);
  expect((await server.answer(post(answer), "a")).status).toBe(202);
  expect(await nextMessage(reader)).toMatchObject({ id: 5, result: { got: { action: "accept" } } });
  // The first bytes come when the program gets the call.
  await begun;
  expect(await nextMessage(other)).toMatchObject({ id: 6, result: { name: "plain" } });
});

test("a call that waits for its turn is not sent, and fails with the process", async () => {
  const { server, pids } = start();
  const reader = await readerOf(server.answer(post(call("ask", 5)), "a"));
  await nextMessage(reader);
  const waiting = await server.answer(post(call("plain", 6)), "b");
  expect(waiting.headers.get(WAITING_HEADER)).toBe("1");
  const left = new AbortController();
  const gone = await server.answer(post(call("plain", 7), { signal: left.signal }), "c");
  left.abort();
  expect(await gone.text()).toBe("");
  process.kill(pids[0] ?? 0);
  expect(await waiting.text()).toBe("");
  expect(server.active).toBe(0);
});

test("a process that does not initialize is ended; an answer to server/discover that comes late counts from then on", async () => {
  const silent = start("for await (const line of console) ;", { initializeMsMax: 50 });
  const initialized = await silent.server.answer(post({ id: 1, method: "initialize", params: {} }), "a");
  expect(await initialized.json()).toMatchObject({ error: { message: "The server's process has ended." } });
  expect(silent.ends).toEqual(["SIGKILL"]);
  const slow = start(
    `for await (const line of console) {
      const { id, params } = JSON.parse(line);
      if (params.name === undefined) globalThis.first ??= id;
      else console.log(JSON.stringify({ jsonrpc: "2.0", id: globalThis.first, result: { supportedVersions: ["x"] } }));
      if (params.name !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
    }`,
    { discoverMsMax: 20 },
  );
  const discover = async (): Promise<unknown> =>
    (await slow.server.answer(post({ id: 1, method: "server/discover", params: {} }), "a")).json();
  expect(await discover()).toMatchObject({ error: { code: -32601 } });
  await (await slow.server.answer(post(call("plain")), "a")).json();
  expect(await discover()).toMatchObject({ result: { supportedVersions: ["x"] } });
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
  expect(server.active).toBe(0);
});

test("a message beyond the bound ends the process", async () => {
  const { server, ends } = start();
  expect((await server.answer(post(call("flood")), "a")).status).toBe(502);
  expect(ends).toEqual(["SIGKILL"]);
});
