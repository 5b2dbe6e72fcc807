/** Questions of a server of 2025 on the stream of a session: a message there does not name the call that it belongs to. */
import { expect, test } from "bun:test";
import { type AskUpstream, type BodySink, CallAborter, type JsonObject } from "../../core/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { McpClient } from "./mcp-client.ts";

/** A server that gives its clients sessions; calls end when the test lets them. */
function scene({ stream = 200 }: { stream?: number } = {}) {
  let now = 0;
  let tick = (): void => undefined;
  const ticker = new Ticker(1, () => now, { every: (_ms, run) => ((tick = run), () => undefined) });
  const begun: JsonObject[] = [];
  const ended: string[] = [];
  const streams = new Map<string, BodySink>();
  const calls: { session: string; end: () => void }[] = [];
  const answers: JsonObject[] = [];
  const subscribed: string[] = [];
  const body = (flowTo: (sink: BodySink) => void, cancel = (): void => undefined) => ({
    flowTo,
    pause: () => undefined,
    resume: () => undefined,
    cancel,
  });
  const reply = (status: number, flowTo: (sink: BodySink) => void, headers: Record<string, string> = {}) => ({
    status,
    headers: { get: (name: string) => headers[name] ?? null },
    body: body(flowTo),
  });
  const whole = (message: JsonObject, headers: Record<string, string> = {}) =>
    reply(200, (sink) => (sink.onBytes(Buffer.from(JSON.stringify(message))), sink.onEnd()), headers);
  const ask: AskUpstream = ({ method: verb, body: sent, headers, signal }) => {
    const session = headers.get("mcp-session-id") ?? "";
    if (verb === "DELETE") ended.push(session);
    if (verb === "DELETE") return Promise.resolve(reply(200, (sink) => sink.onEnd()));
    if (verb === "GET") {
      if (stream !== 200) return Promise.resolve(reply(stream, (sink) => sink.onEnd()));
      signal.addEventListener("abort", { handleEvent: () => streams.delete(session) });
      return Promise.resolve(reply(200, (sink) => streams.set(session, sink), { "content-type": "text/event-stream" }));
    }
    const message = JSON.parse(typeof sent === "string" ? sent : "{}") as JsonObject;
    const { id, method, params } = message;
    if (method === undefined) answers.push(message);
    if (method === "resources/subscribe") subscribed.push(`${session} ${String((params as JsonObject)["uri"])}`);
    if (method === "server/discover") return Promise.resolve(reply(400, (sink) => sink.onEnd()));
    const result = { jsonrpc: "2.0", id, result: {} };
    if (method === "initialize") {
      begun.push((params as JsonObject)["capabilities"] as JsonObject);
      return Promise.resolve(whole(result, { "mcp-session-id": `s${begun.length}` }));
    }
    if (method !== "tools/call") return Promise.resolve(whole(result));
    return new Promise((resolve, reject) => {
      calls.push({ session, end: () => resolve(whole(result)) });
      signal.addEventListener("abort", { handleEvent: () => reject(new Error("closed")) });
    });
  };
  const client = new McpClient({ name: "s", url: "http://s.test/mcp", headers: {}, version: "1", ask, ticker });
  const asked: string[] = [];
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 100; turns += 1) await Promise.resolve();
  };
  /** A call of the client with this id; `leave` is that it waits no longer. */
  const call = async (id: string, capabilities: JsonObject = { elicitation: {} }, ownSession?: string) => {
    const leaving = new CallAborter();
    const answer = client
      .request({
        method: "tools/call",
        params: { name: "pay" },
        timeoutMs: 60_000,
        bytesMax: 1_000,
        signal: leaving,
        asked: {
          client: { owner: id, session: ownSession },
          capabilities,
          ask: ({ method }) => (asked.push(`${id} ${method}`), Promise.resolve({ by: id })),
        },
      })
      .catch(() => undefined);
    await settle();
    const own = calls.at(-1);
    return {
      session: own?.session ?? "",
      end: async () => (own?.end(), await answer),
      leave: async () => (leaving.abort(new Error("gone")), await answer),
    };
  };
  const question = async (session: string, id: string): Promise<unknown> => {
    const message = { jsonrpc: "2.0", id, method: "elicitation/create", params: {} };
    streams.get(session)?.onBytes(Buffer.from(`data: ${JSON.stringify(message)}\n\n`));
    await settle();
    const answer = answers.find((each) => each["id"] === id);
    return answer?.["result"] ?? answer?.["error"];
  };
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    tick();
    await settle();
  };
  const notify = async (session: string, method: string): Promise<void> => {
    const message = { jsonrpc: "2.0", method, params: { of: session } };
    streams.get(session)?.onBytes(Buffer.from(`data: ${JSON.stringify(message)}\n\n`));
    await settle();
  };
  const listen = async (uris: string[]) => {
    const leaving = new CallAborter();
    const heard: string[] = [];
    const onNotification = (method: string, { of }: JsonObject): void => void heard.push(`${method} ${String(of)}`);
    void client.listen({ uris, signal: leaving, onOpen: () => undefined, onNotification }).catch(() => undefined);
    await settle();
    return { heard, leave: () => leaving.abort("left") };
  };
  return { call, question, asked, begun, ended, streams, pass, notify, listen, subscribed };
}

const refused: unknown = expect.objectContaining({ code: -32_601 });

test("two callers at once have a session each, and each is asked what their own call needs", async () => {
  const { call, question, asked, begun } = scene();
  const [one, other] = [await call("ann"), await call("bob")];
  expect(one.session).not.toBe(other.session);
  expect(await question(one.session, "q1")).toEqual({ by: "ann" });
  expect(await question(other.session, "q2")).toEqual({ by: "bob" });
  expect(asked).toEqual(["ann elicitation/create", "bob elicitation/create"]);
  // The common session, in which tools are listed, and the two.
  expect(begun.slice(1).map(Object.keys)).toEqual([
    ["elicitation", "extensions"],
    ["elicitation", "extensions"],
  ]);
  await Promise.all([one.end(), other.end()]);
});

test("between two calls of one client a question belongs to nobody, and so does one after the last call", async () => {
  const { call, question, asked } = scene();
  const [first, second] = [await call("ann"), await call("ann")];
  expect(first.session).toBe(second.session);
  expect(await question(first.session, "q1")).toEqual(refused);
  await first.end();
  expect(await question(first.session, "q2")).toEqual({ by: "ann" });
  await second.end();
  expect(await question(first.session, "q3")).toEqual(refused);
  expect(asked).toHaveLength(1);
});

test("a late question about a call that its client has left reaches no later call", async () => {
  const { call, question, asked } = scene();
  const left = await call("ann");
  const beside = await call("ann");
  await left.leave();
  expect(await question(left.session, "q1")).toEqual(refused);
  const next = await call("ann");
  expect(next.session).not.toBe(left.session);
  expect(await question(left.session, "q2")).toEqual(refused);
  expect(await question(next.session, "q3")).toEqual({ by: "ann" });
  await Promise.all([beside.end(), next.end()]);
  expect(asked).toHaveLength(1);
});

test("a client that takes other questions has another session", async () => {
  const { call, begun } = scene();
  const [one, other] = [await call("ann"), await call("ann", { roots: {} })];
  expect(one.session).not.toBe(other.session);
  expect(begun.slice(1).map(Object.keys)).toEqual([
    ["elicitation", "extensions"],
    ["roots", "extensions"],
  ]);
  await Promise.all([one.end(), other.end()]);
});

test("the stream ends soon after the last call, and the session a while after it", async () => {
  const { call, ended, streams, pass } = scene();
  const { session, end } = await call("ann");
  expect([...streams.keys()]).toEqual([session]);
  await pass(70_000);
  expect(streams.size).toBe(1);
  await end();
  await pass(6_000);
  expect(streams.size).toBe(0);
  await pass(70_000);
  expect(ended).toEqual([]);
  await pass(70_000);
  expect(ended).toEqual([session]);
  const later = await call("ann");
  expect(later.session).not.toBe(session);
  await later.end();
});

test("a server without such a stream is called all the same", async () => {
  const { call, streams } = scene({ stream: 405 });
  const { session, end } = await call("ann");
  expect([session, streams.size]).toEqual(["s2", 0]);
  expect(await end()).toEqual({});
});

test("who listens hears of the changes that a server tells the session of a call alone", async () => {
  const { call, notify, listen, subscribed, streams, pass } = scene();
  const first = await call("ann");
  await notify(first.session, "before");
  const { heard } = await listen(["lib://a"]);
  await notify(first.session, "notifications/tools/list_changed");
  await first.end();
  // It goes on after the call.
  await pass(30_000);
  await notify(first.session, "notifications/resources/updated");
  expect(heard).toEqual([
    `notifications/tools/list_changed ${first.session}`,
    `notifications/resources/updated ${first.session}`,
  ]);
  const other = await call("bob");
  expect(subscribed.toSorted()).toEqual(["s1 lib://a", `${first.session} lib://a`, `${other.session} lib://a`]);
  await other.end();
  for (let minutes = 0; minutes < 13; minutes += 1) await pass(61_000);
  expect([...streams.keys()]).toEqual(["s1"]);
});

test("the session of a call subscribes to a bounded number of resources", async () => {
  const { call, listen, subscribed, pass } = scene();
  await listen(Array.from({ length: 150 }, (_, index) => `lib://${index}`));
  const { session, end } = await call("ann");
  for (let turns = 0; turns < 50; turns += 1) await pass(1);
  const own = subscribed.filter((each) => each.startsWith(`${session} `));
  expect([own.length, new Set(own).size]).toEqual([100, 100]);
  await end();
});

test("the many sessions of one token leave room to others", async () => {
  const { call } = scene();
  const many: Awaited<ReturnType<typeof call>>[] = [];
  for (let index = 0; index < 100; index += 1) many.push(await call("ann", { roots: {} }, `s${index}`));
  const further = await call("ann", { roots: {} }, "s100");
  // That of all who have none of their own.
  expect(further.session).toBe("s1");
  const other = await call("bob");
  expect(other.session).not.toBe("s1");
  await Promise.all([...many, further, other].map(({ end }) => end()));
});
