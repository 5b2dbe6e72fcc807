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

/** Required, and not passed: questions in the middle of a call, log messages, subscriptions to resources, and the error of a lacking capability. */
const notPassed: Readonly<Record<"2025-11-25" | "2026-07-28", string[]>> = {
  "2025-11-25": ["logging-set-level", "tools-call-with-logging", "resources-subscribe", "resources-unsubscribe"],
  "2026-07-28": [],
};

test.each(["2025-11-25", "2026-07-28"] as const)("the scenarios of %s", async (revision) => {
  const output = join(rig.gateway.folder, revision);
  const url = `http://localhost:${proxy.port}/mcp/asking`;
  const run = { side: "server", revision, subject: ["--url", url], output } as const;
  const { required, failed } = await runSuite(run, ["FAILURE"]);
  expect(required.length).toBe(revision === "2025-11-25" ? 30 : 37);
  expect(failed).toEqual(notPassed[revision]);
});

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

  /** One message, as it goes over the wire. */
  async function call(token: string, name: string, extra: object = {}, capabilities: object = { elicitation: {} }) {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const answer = await fetch(`${rig.gateway.url}/mcp/asking`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, ...extra, _meta: meta } }),
    });
    return (await answer.json()) as { result?: Record<string, unknown>; error?: { code: number } };
  }

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
