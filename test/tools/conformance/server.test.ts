/** The official suite with the gateway as the server, before a server of the newest revision; and clients that this server asks. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { oneCredit, type Rig, spentBy, startRig } from "../../kit/index.ts";
import { startFixture } from "./fixture.ts";
import { runSuite } from "./suite.ts";

const fixture = startFixture("2026");
let rig: Rig;
/** Adds the token, which the suite cannot send, and leaves `Host` and `Origin` as they are. */
let proxy: Bun.Server<undefined>;

beforeAll(async () => {
  rig = await startRig({ config: { mcp: { servers: { asking: { url: fixture.url, price: { call: 1 } } } } } });
  const { token } = await rig.caller();
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      const { method, body, signal } = request;
      return fetch(`${rig.gateway.url}${new URL(request.url).pathname}`, {
        method,
        headers,
        body,
        signal,
        decompress: false,
      });
    },
  });
});
afterAll(async () => {
  await proxy.stop(true);
  await rig.stop();
  await fixture.stop();
});

/** Required, and not passed: subscriptions to resources. */
const notPassed: Readonly<Record<"2025-11-25" | "2026-07-28", string[]>> = {
  "2025-11-25": [],
  "2026-07-28": [],
};

/** Those that the suite does not score: about tasks, but one that it skips itself, schemas, arguments in headers, and the ends of sessions. */
const unscored = {
  "2025-11-25": ["server-session-lifecycle", "json-schema-2020-12"],
  "2026-07-28": [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
    "json-schema-2020-12",
    "http-custom-header-server-validation",
  ],
};

test.each(["2025-11-25", "2026-07-28"] as const)("the scenarios of %s", async (revision) => {
  const output = join(rig.gateway.folder, revision);
  const url = `http://localhost:${proxy.port}/mcp/asking`;
  const run = { side: "server", revision, subject: ["--url", url], output } as const;
  const { required, failed, isPassed } = await runSuite(run, ["FAILURE"]);
  expect(required.length).toBe(revision === "2025-11-25" ? 30 : 37);
  expect(failed).toEqual(notPassed[revision]);
  expect(unscored[revision].filter((scenario) => !isPassed(scenario))).toEqual([]);
});

/** One message of a client of 2026-07-28, as it goes over the wire. */
async function send(
  token: string,
  { method, name = "", path = "/mcp/asking", capabilities = { elicitation: {} }, ...params }: Sent,
) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const answer = await fetch(`${rig.gateway.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...(method === "tools/call" && { name }), ...params, _meta: meta },
    }),
  });
  return (await answer.json()) as { result?: Record<string, unknown>; error?: { code: number } };
}

interface Sent {
  method: string;
  /** That of the tool or the task. */
  name?: string;
  path?: string;
  capabilities?: object;
  [param: string]: unknown;
}

const tool = (name: string) => `test_input_required_result_${name}`;

describe("a client that a server asks", () => {
  const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };

  async function connect(token: string, options: object): Promise<Client> {
    const client = new Client({ name: "test", version: "1" }, options);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const url = new URL(`${rig.gateway.url}/mcp/asking`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return client;
  }

  const call = (token: string, name: string, extra: object = {}, capabilities?: object) =>
    send(token, { method: "tools/call", name, ...(capabilities && { capabilities }), ...extra });

  test("answers in each round, and pays once", async () => {
    const { token, user } = await rig.caller();
    const client = await connect(token, { ...modern, capabilities: { elicitation: {} } });
    client.setRequestHandler("elicitation/create", () => ({ action: "accept" as const, content: { name: "Ada" } }));
    const { content } = await client.callTool({ name: tool("multi_round"), arguments: {} });
    expect(content).toEqual([{ type: "text", text: "state-ok: round 1" }]);
    expect(await spentBy(rig.gateway, user)).toBe(oneCredit);
    await client.close();
  });

  test("goes on with a request of its own alone", async () => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const name = tool("request_state");
    const { result } = await call(one.token, name);
    expect(result).toMatchObject({ resultType: "input_required", inputRequests: { confirm: {} } });
    const requestState = String(result?.["requestState"]);
    expect(requestState).not.toContain("round");
    const answers = { requestState, inputResponses: { confirm: { action: "accept", content: { ok: true } } } };
    const refused = { error: { code: -32_602 } };
    expect(await call(other.token, name, answers)).toMatchObject(refused);
    expect(await call(one.token, tool("tampered_state"), answers)).toMatchObject(refused);
    expect(await call(one.token, name, { ...answers, requestState: "round 0" })).toMatchObject(refused);
    expect(await call(one.token, name, { ...answers, inputResponses: "none" })).toMatchObject(refused);
    expect(await spentBy(rig.gateway, other.user)).toBe(0n);
    expect(await call(one.token, name, answers)).toMatchObject({ result: { resultType: "complete" } });
    expect(await spentBy(rig.gateway, one.user)).toBe(oneCredit);
  });

  test("is asked for nothing that it has not declared", async () => {
    const { token, user } = await rig.caller();
    const undeclared = { result: { isError: true } };
    expect(await call(token, tool("sampling"))).toMatchObject(undeclared);
    expect(await call(token, tool("sampling"), {}, {})).toMatchObject(undeclared);
    const old = await connect(token, { capabilities: { elicitation: {} } });
    expect(await old.callTool({ name: tool("sampling"), arguments: {} })).toMatchObject({ isError: true });
    await old.close();
    expect(await spentBy(rig.gateway, user)).toBe(0n);
  });
});

describe("tasks of a server", () => {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const begin = async (token: string, name = "confirm_delete", path?: string) =>
    send(token, {
      method: "tools/call",
      name,
      capabilities,
      arguments: { filename: "a" },
      ...(path !== undefined && { path }),
    });
  const about = (token: string, taskId: string, method = "tasks/get", more: object = {}) =>
    send(token, { method, name: taskId, taskId, capabilities, ...more });

  test("belong to the user who has begun them, at their URL, and are paid once", async () => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const { result } = await begin(one.token);
    expect(result).toMatchObject({ resultType: "task" });
    const taskId = String(result?.["taskId"]);
    const [calls, cancels] = [fixture.of("tools/call").length, fixture.of("tasks/cancel").length];
    expect(await about(one.token, taskId)).toMatchObject({ result: { taskId, resultType: "complete" } });
    const refused = { error: { code: -32_602 } };
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const answers = { inputResponses: { confirm: { action: "accept" } } };
      expect(await about(other.token, taskId, method, answers)).toMatchObject(refused);
      expect(await about(one.token, `${taskId}A`, method, answers)).toMatchObject(refused);
      expect(await about(one.token, taskId, method, { ...answers, path: "/mcp/all" })).toMatchObject(refused);
    }
    const limited = await rig.gateway.token({ user: one.user, tools: ["asking__greet"] });
    expect(await about(limited, taskId)).toMatchObject(refused);
    // An id of the server itself is none here.
    const received = fixture.of("tasks/get").at(-1)?.params["taskId"];
    expect(await about(one.token, String(received))).toMatchObject(refused);
    expect(fixture.of("tasks/cancel").length).toBe(cancels);
    expect(await about(one.token, taskId, "tasks/cancel")).toMatchObject({ result: { resultType: "complete" } });
    expect(await about(one.token, taskId)).toMatchObject({ result: { status: "cancelled" } });
    expect(fixture.of("tools/call").length).toBe(calls);
    expect(await spentBy(rig.gateway, one.user)).toBe(oneCredit);
    expect(await spentBy(rig.gateway, other.user)).toBe(0n);
  });

  test("ask only what their client has declared", async () => {
    const { token } = await rig.caller();
    const taskId = String((await begin(token)).result?.["taskId"]);
    const look = async (declared: object) => {
      const asked = { method: "tasks/get", name: taskId, taskId, capabilities: { ...capabilities, ...declared } };
      return (await send(token, asked)).result;
    };
    expect(await look({})).toMatchObject({ status: "input_required", inputRequests: {} });
    expect(Object.keys((await look({}))?.["inputRequests"] ?? {})).toEqual([]);
    expect(Object.keys((await look({ elicitation: {} }))?.["inputRequests"] ?? {})).toEqual(["confirm"]);
  });

  test("are none for a client that does not follow them, nor over REST", async () => {
    const { token } = await rig.caller();
    const answer = await fetch(`${rig.gateway.url}/v1/tools/asking__slow_compute`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: '{"label":"x"}',
    });
    expect(await answer.json()).toMatchObject({ content: [{ text: "computed x" }] });
    const plain = await send(token, { method: "tools/call", name: "slow_compute", arguments: { label: "y" } });
    expect(plain).toMatchObject({ result: { resultType: "complete", content: [{ text: "computed y" }] } });
    expect(await send(token, { method: "tools/call", name: "failing_job" })).toMatchObject({
      error: { code: -32_021 },
    });
  });
});
