import { randomBytes } from "node:crypto";
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../core/index.ts";
import { createScene, eventsOf, modern, old, resultOf } from "./__fixtures__/scene.ts";
import type { ToolAnswer, ToolTask } from "./server.ts";
import { newSession } from "./session-id.ts";

const call = { name: "t", arguments: { a: 1 } };
const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };

async function answered(response: Response): Promise<{ status: number; code: unknown; result: JsonObject }> {
  const body = (await response.json()) as { error?: { code: number }; result?: JsonObject };
  return { status: response.status, code: body.error?.code, result: body.result ?? {} };
}

/** A call that ends at the word of the test. */
function waitingScene() {
  const { promise, resolve } = Promise.withResolvers<ToolAnswer>();
  const scene = createScene({ tool: () => promise });
  return { ...scene, finish: () => resolve(resultOf("late")) };
}

describe("the revision 2026-07-28", () => {
  test("discovers, lists and calls without anything before it", async () => {
    const { post, calls } = createScene();
    const discovered = await answered(await post(modern("server/discover")));
    expect(discovered.result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
      cacheScope: "private",
    });
    const { result: listed } = await answered(await post(modern("tools/list")));
    expect(listed).toMatchObject({ resultType: "complete", tools: [{ name: "t" }], ttlMs: 300_000 });
    const { result } = await answered(await post(modern("tools/call", call)));
    expect(result).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "done" }] });
    expect(calls).toMatchObject([{ name: "t", arguments: { a: 1 }, takesTasks: false }]);
  });

  const bare = { name: "t" };
  test.each<[string, JsonObject, Record<string, string | undefined>, number, number]>([
    ["no header of the version", modern("tools/list"), { "mcp-protocol-version": undefined }, 400, -32_020],
    ["another version in the header", modern("tools/list"), { "mcp-protocol-version": "2025-11-25" }, 400, -32_020],
    ["no Mcp-Method", modern("tools/list"), { "mcp-method": undefined }, 400, -32_020],
    ["another Mcp-Method", modern("tools/list"), { "mcp-method": "tools/call" }, 400, -32_020],
    ["no Mcp-Name", modern("tools/call", bare), { "mcp-name": undefined }, 400, -32_020],
    ["another Mcp-Name", modern("tools/call", bare), { "mcp-name": "u" }, 400, -32_020],
    ["base64 that is none in Mcp-Name", modern("tools/call", bare), { "mcp-name": "=?base64?dA?=" }, 400, -32_020],
    ["a header alone", old("tools/list"), { "mcp-protocol-version": "2026-07-28" }, 400, -32_602],
    ["a header alone, of a version to come", old("x"), { "mcp-protocol-version": "2027-01-01" }, 400, -32_022],
    ["initialize", old("initialize"), { "mcp-protocol-version": "2026-07-28" }, 400, -32_020],
    ["an unknown method", modern("toString"), {}, 404, -32_601],
    ["a method of 2025", modern("ping"), {}, 404, -32_601],
    ["an unknown tool", modern("tools/call", { name: "x" }), {}, 200, -32_602],
    ["arguments that are none", modern("tools/call", { name: "t", arguments: [] }), {}, 200, -32_602],
    ["a cursor", modern("tools/list", { cursor: "x" }), {}, 200, -32_602],
    ["a task without the extension", modern("tasks/get", { taskId: "1" }), {}, 400, -32_021],
    ["an unknown task", modern("tasks/get", { taskId: "1" }, tasks), {}, 200, -32_602],
    ["no JSON-RPC", { ...modern("tools/list"), jsonrpc: "1.0" }, {}, 400, -32_600],
    ["an id that is none", { ...modern("tools/list"), id: {} }, {}, 400, -32_600],
  ])("refuses %s", async (_what, body, headers, status, code) => {
    expect(await answered(await createScene().post(body, { headers }))).toMatchObject({ status, code });
  });

  test("names the versions that it has, for one that it has not", async () => {
    const meta = { "io.modelcontextprotocol/protocolVersion": "1900-01-01" };
    const response = await createScene().post(modern("tools/list", { _meta: meta }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      id: 1,
      error: { code: -32_022, data: { supported: ["2026-07-28"], requested: "1900-01-01" } },
    });
  });

  test("takes a name that no header could contain as base64", async () => {
    const { post } = createScene();
    const unknown = await answered(await post(modern("tools/call", { name: "wörter" })));
    expect(unknown).toMatchObject({ status: 200, code: -32_602 });
  });

  test("ends a call whose client closes the request", async () => {
    const { post, calls, endpoint } = waitingScene();
    const client = new AbortController();
    const answer = post(modern("tools/call", call), { signal: client.signal });
    expect(endpoint.active).toBe(1);
    client.abort();
    await answer;
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(endpoint.active).toBe(0);
  });

  test("ends a call whose client closes the stream", async () => {
    const { post, calls, tick } = waitingScene();
    const answer = post(modern("tools/call", call));
    tick(5_000);
    await (await answer).body?.cancel();
    expect(calls[0]?.signal.aborted).toBe(true);
  });

  test("returns a task to a client that follows tasks, and its state", async () => {
    const task: ToolTask = {
      taskId: "crawl:1",
      status: "completed",
      createdAt: "2026-11-27T00:00:00.000Z",
      lastUpdatedAt: "2026-11-27T00:00:00.000Z",
      ttlMs: null,
      pollIntervalMs: 1_000,
      result: { content: [] },
    };
    const { post } = createScene({ task, tool: () => Promise.resolve({ result: { task } }) });
    const { result } = await answered(await post(modern("tools/call", call, tasks)));
    expect(result).toMatchObject({ resultType: "task", taskId: "crawl:1" });
    expect(result).not.toHaveProperty("result");
    const id = { taskId: "crawl:1" };
    const got = await answered(await post(modern("tasks/get", id, tasks)));
    expect(got.result).toMatchObject({ resultType: "complete", status: "completed", result: { content: [] } });
    for (const method of ["tasks/cancel", "tasks/update"]) {
      const { result: acknowledged } = await answered(await post(modern(method, id, tasks)));
      expect(acknowledged).toMatchObject({ resultType: "complete" });
    }
  });

  test("listens until the server stops, and acknowledges first", async () => {
    const { post, endpoint } = createScene();
    const response = await post(modern("subscriptions/listen", { notifications: { toolsListChanged: true } }));
    expect(endpoint.active).toBe(0);
    endpoint.close();
    expect(await eventsOf(response)).toMatchObject([
      {
        method: "notifications/subscriptions/acknowledged",
        params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 }, notifications: {} },
      },
      { id: 1, result: { resultType: "complete" } },
    ]);
  });

  test("bounds the streams of one token", async () => {
    const { post } = createScene();
    const listen = (owner: string) => post(modern("subscriptions/listen"), { owner });
    const open = await Promise.all(Array.from({ length: 100 }, () => listen("greedy")));
    expect((await listen("greedy")).status).toBe(429);
    expect((await listen("other")).status).toBe(200);
    await open[0]?.body?.cancel();
    await Promise.resolve();
    expect((await listen("greedy")).status).toBe(200);
  });
});

describe("the revisions of 2025", () => {
  test.each(["2025-11-25", "2025-06-18"])("%s is taken, with a session of the token", async (protocolVersion) => {
    const { post } = createScene();
    const response = await post(old("initialize", { protocolVersion, capabilities: {} }));
    const session = response.headers.get("mcp-session-id") ?? "";
    expect((await answered(response)).result).toMatchObject({ protocolVersion, serverInfo: { name: "test" } });
    const headers = { "mcp-session-id": session, "mcp-protocol-version": protocolVersion };
    const listed = await answered(await post(old("tools/list"), { headers }));
    // Members of a later revision would be rejected by strict clients.
    expect(listed.result).toEqual({ tools: [{ name: "t" }] });
    expect(await answered(await post(old("ping"), { headers }))).toMatchObject({ result: {} });
  });

  test("a client of another revision is offered the newest with a session", async () => {
    const { result } = await answered(await createScene().post(old("initialize", { protocolVersion: "2024-11-05" })));
    expect(result).toMatchObject({ protocolVersion: "2025-11-25" });
  });

  test("another token's session is as if it were not there", async () => {
    const { post, endpoint } = createScene();
    const session = (await post(old("initialize"))).headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": session };
    expect((await post(old("ping"), { headers, owner: "token2" })).status).toBe(404);
    expect((await post(old("ping"), { headers: { "mcp-session-id": `${session}x` } })).status).toBe(404);
    expect((await endpoint.endSession(new Headers(headers), "token2")).status).toBe(404);
    expect((await post(old("ping"), { headers })).status).toBe(200);
    expect((await endpoint.endSession(new Headers(headers), "token1")).status).toBe(204);
    expect((await post(old("ping"), { headers })).status).toBe(404);
  });

  test("an unknown method is an error of the message, not of the request", async () => {
    expect(await answered(await createScene().post(old("x/y")))).toMatchObject({ status: 200, code: -32_601 });
  });

  test("a call is cancelled by its session, and by no other", async () => {
    const { post, calls } = waitingScene();
    const begin = async () => ({
      "mcp-session-id": (await post(old("initialize"))).headers.get("mcp-session-id") ?? "",
    });
    const [own, other] = [await begin(), await begin()];
    const answer = post(old("tools/call", call, 7), { headers: own });
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
    expect((await post(cancel, { headers: other })).status).toBe(202);
    await post({ ...cancel, params: { requestId: "7" } }, { headers: own });
    expect(calls[0]?.signal.aborted).toBe(false);
    await post(cancel, { headers: own });
    expect(calls[0]?.signal.aborted).toBe(true);
    expect((await answer).status).toBe(202);
  });

  test("the stream of a session is replaced by its next one, and is none beyond a number or after the session", async () => {
    const { post, get, endpoint } = createScene({ watch: () => Promise.resolve({ uris: [], stop: () => undefined }) });
    const sessions = await Promise.all(
      Array.from({ length: 101 }, async () => (await post(old("initialize"))).headers.get("mcp-session-id") ?? ""),
    );
    const [first = "", last = ""] = [sessions[0], sessions[100]];
    const streams = await Promise.all(sessions.slice(0, 100).map((session) => get(session)));
    expect(streams.map((stream) => stream?.status)).toEqual(Array.from({ length: 100 }, () => 200));
    expect((await get(last))?.status).toBe(429);
    const again = await get(first);
    expect(again?.status).toBe(200);
    expect(await streams[0]?.text()).toBe(": open\n\n");
    // The other one is still open: a refusal ends nothing.
    expect(await Promise.race([streams[1]?.text(), again?.text(), Promise.resolve("open")])).toBe("open");
    await endpoint.endSession(new Headers({ "mcp-session-id": first }), "token1");
    expect((await get(first))?.status).toBe(404);
    endpoint.close();
  });

  test("the state of a session is read once for all log messages of a call", async () => {
    const messages = 50;
    const { post, reads } = createScene({
      tool: ({ log }) => {
        for (let number = 0; number < messages; number += 1) log?.send({ level: "info", data: number });
        return Promise.resolve(resultOf("done"));
      },
    });
    // Another process has begun it.
    const session = newSession("token1", (size) => randomBytes(size), {});
    const events = await eventsOf(await post(old("tools/call", call), { headers: { "mcp-session-id": session } }));
    expect(events.map(({ params }) => (params as JsonObject | undefined)?.["data"])).toEqual([
      ...Array.from({ length: messages }, (_, index) => index),
      undefined,
    ]);
    expect(reads()).toBe(1);
  });

  test("the end of a session ends its calls", async () => {
    const { post, calls, endpoint } = waitingScene();
    const session = (await post(old("initialize"))).headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": session };
    const answer = post(old("tools/call", call), { headers });
    await endpoint.endSession(new Headers(headers), "token1");
    await answer;
    expect(calls[0]?.signal.aborted).toBe(true);
  });
});

describe("an answer", () => {
  test("becomes a stream when it takes long, kept alive until its end", async () => {
    const { post, tick, finish } = waitingScene();
    const answer = post(old("tools/call", call));
    tick(5_000);
    const response = await answer;
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    tick(15_000);
    finish();
    const text = await response.text();
    expect(text).toStartWith(": keep-alive\n\nevent: message\ndata: ");
    expect(text).toContain('"text":"late"');
  });

  test("waits as JSON for a client that takes no events", async () => {
    const { post, tick, finish } = waitingScene();
    const answer = post(old("tools/call", call), { headers: { accept: "application/json" } });
    tick(5_000);
    finish();
    expect((await answer).headers.get("content-type")).toBe("application/json");
  });

  test("has progress that grows, for a client that asks for it", async () => {
    const { post } = createScene({
      async tool({ onProgress }) {
        onProgress?.({ progress: 1, total: 3 });
        onProgress?.({ progress: 1, total: 3 });
        await Promise.resolve();
        onProgress?.({ progress: 2, total: 3, message: "two" });
        return resultOf("done");
      },
    });
    const messages = await eventsOf(await post(old("tools/call", { ...call, _meta: { progressToken: "p" } })));
    expect(messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "p", progress: 1, total: 3 } },
      { method: "notifications/progress", params: { progressToken: "p", progress: 2, message: "two" } },
      { id: 1, result: { content: [{ text: "done" }] } },
    ]);
    const { calls, post: ask } = createScene();
    await ask(old("tools/call", call));
    expect(calls[0]?.onProgress).toBeUndefined();
  });

  test("has the headers of the call if it is no stream", async () => {
    const headers = { "x-tollgate-credits": "0.5" };
    const { post } = createScene({ tool: () => Promise.resolve({ ...resultOf("x"), headers }) });
    expect((await post(modern("tools/call", call))).headers.get("x-tollgate-credits")).toBe("0.5");
  });

  test("is an error of the stream if the call fails once it is one", async () => {
    const failing = Promise.withResolvers<ToolAnswer>();
    const { post, tick } = createScene({ tool: () => failing.promise });
    const answer = post(old("tools/call", call));
    tick(5_000);
    const response = await answer;
    failing.reject(new Error("a secret of the gateway"));
    const [message] = await eventsOf(response);
    expect(message).toMatchObject({ id: 1, error: { code: 500 } });
    expect(JSON.stringify(message)).not.toContain("secret");
  });
});
