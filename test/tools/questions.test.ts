/** Servers that ask the client in the middle of a call, across the revisions, with every message at another node on Postgres. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  oneCredit,
  type PostgresServer,
  type Rig,
  spentBy,
  startGateway,
  startPostgres,
  startRig,
  storageOn,
  until,
} from "../kit/index.ts";
import { type JsonAnswer as Json, withKey } from "./ask-as.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

const form = (name: string): Json => ({
  message: `Which ${name}? the-secret-of-the-operator\u202E`,
  requestedSchema: { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
});
const capital: Json = {
  messages: [{ role: "user", content: { type: "text", text: "The capital of France?" } }],
  maxTokens: 10,
};
const tools = ["dialogue", "sampling", "url", "roots", "slow", "protected", "task", "reports"].map((name) => ({
  name,
  inputSchema: { type: "object" },
}));
const task = { taskId: "t1", status: "working", createdAt: "2026-11-28T00:00:00Z", lastUpdatedAt: "", ttlMs: null };
const address = { mode: "url", elicitationId: "1", url: "https://example.com/sign-in", message: "Sign in" };

/** Answers that the old server has got, and its calls that were ended. */
let got: Json[];
let ended: number;
/** Each second one of them is let in. */
let protectedCalls = 0;

function startOld(): TestServer {
  return startTestServer({
    era: "2025",
    bearer: "the-secret-of-the-operator",
    tools,
    async call({ name }, report, signal, { ask, notify }) {
      signal.addEventListener("abort", () => (ended += 1));
      const take = async (method: string, params: Json): Promise<unknown> => {
        const answer = await ask(method, params);
        got.push(answer);
        return answer["result"] ?? (answer["error"] as Json)["code"];
      };
      if (name === "sampling") return textResult(JSON.stringify(await take("sampling/createMessage", capital)));
      if (name === "protected") {
        protectedCalls += 1;
        const error = { code: -32_042, message: "Sign in first.", data: { elicitations: [address] } };
        return protectedCalls % 2 === 1 ? { error } : textResult("welcome");
      }
      if (name === "slow") {
        await take("roots/list", {});
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
      if (name === "reports") {
        await take("roots/list", {});
        report({ progress: 1, total: 2, message: "half the-secret-of-the-operator" });
        for (const level of ["debug", "warning"]) notify("notifications/message", { level, data: `at ${level}` });
      }
      if (name === "reports") return textResult("reported");
      if (name === "roots") return textResult(JSON.stringify(await take("roots/list", {})));
      if (name === "url") return textResult(JSON.stringify(await take("elicitation/create", address)));
      const first = await take("elicitation/create", form("name"));
      const others = await Promise.all([take("sampling/createMessage", capital), take("roots/list", {})]);
      return textResult(JSON.stringify([first, ...others]));
    },
  });
}

function startNew(): TestServer {
  return startTestServer({
    era: "2026",
    bearer: "the-secret-of-the-operator",
    tools,
    answer: (method, { taskId }) => (method === "tasks/get" && taskId === "t1" ? task : undefined),
    call({ name: tool, inputResponses, requestState, _meta: meta }) {
      const requiredCapabilities = tool === "sampling" ? { sampling: {} } : { experimental: {} };
      if (tool === "sampling" || tool === "roots")
        return { error: { code: -32_021, message: "Not without it.", data: { requiredCapabilities } } };
      if (tool === "task") return { resultType: "task", ...task };
      const given = inputResponses as Record<string, Json> | undefined;
      const round = (state: string, inputRequests: Json) => ({
        resultType: "input_required",
        inputRequests,
        requestState: state,
      });
      const { "io.modelcontextprotocol/clientCapabilities": declared } = meta as Record<string, Json>;
      got.push(declared ?? {});
      if (given === undefined) return round("1", { name: { method: "elicitation/create", params: form("name") } });
      if (requestState !== "1") return textResult(JSON.stringify([requestState, given["capital"], given["roots"]]));
      return round(JSON.stringify(given["name"]), {
        capital: { method: "sampling/createMessage", params: capital },
        roots: { method: "roots/list" },
      });
    },
  });
}

const answers = {
  name: { action: "accept", content: { name: "Ada" } },
  capital: { role: "assistant", content: { type: "text", text: "Paris" }, model: "m" },
  roots: { roots: [{ uri: "file:///home" }] },
};

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const modern = { versionNegotiation: { mode: { pin: "2026-07-28" as const } } };

let postgres: PostgresServer;
let servers: TestServer[];
beforeAll(async () => {
  postgres = await startPostgres();
  servers = [startOld(), startNew()];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await postgres.stop();
});

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let gateways: Gateway[];

  beforeAll(async () => {
    const auth = { bearer: "the-secret-of-the-operator" };
    const config = {
      mcp: {
        servers: {
          old: { url: servers[0]?.url, auth, price: { call: 1 } },
          modern: { url: servers[1]?.url, auth, price: { call: 1 } },
        },
      },
      ...withKey,
    };
    rig = await startRig({ ...(await storageOn(engine, postgres)), config });
    gateways = [rig.gateway];
    if (engine === "Postgres")
      gateways.push(await startGateway({ providers: {}, storage: rig.gateway.storageUrl, config }));
  });
  afterAll(async () => {
    await expectCleanAudit(rig.gateway);
    await Promise.all(gateways.slice(1).map((each) => each.stop()));
    await rig.stop();
  });

  let sent = 0;
  /** Each message goes to the next node. */
  const nextUrl = (path: string): string => `${gateways[(sent += 1) % gateways.length]?.url}${path}`;

  async function connect(token: string, name: string, options: object): Promise<{ client: Client; asked: string[] }> {
    const client = new Client({ name: "test", version: "1" }, { capabilities: everything, ...options });
    const asked: string[] = [];
    const note = (params: unknown): void => void asked.push(JSON.stringify(params));
    const { capabilities = everything } = options as { capabilities?: Json };
    if ("elicitation" in capabilities)
      client.setRequestHandler("elicitation/create", ({ params }) => (note(params), answers.name as never));
    if ("sampling" in capabilities)
      client.setRequestHandler("sampling/createMessage", ({ params }) => (note(params), answers.capital as never));
    if ("roots" in capabilities) client.setRequestHandler("roots/list", () => answers.roots);
    const transport = new StreamableHTTPClientTransport(new URL(`http://tollgate.test/mcp/${name}`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
      fetch: (_url, init) => fetch(nextUrl(`/mcp/${name}`), init),
    });
    await client.connect(transport);
    got = [];
    return { client, asked };
  }

  /** One message, as it goes over the wire. */
  async function post(
    token: string,
    message: Json,
    {
      name = "old",
      headers = {},
      signal,
    }: { name?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    return fetch(nextUrl(`/mcp/${name}`), {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal && { signal }),
    });
  }

  /** The same for a client of 2026-07-28. */
  async function call(token: string, name: string, extra: Json = {}, signal?: AbortSignal) {
    const [, answer] = await callModern(token, name, { server: "old", extra, ...(signal && { signal }) });
    return answer;
  }

  const metaWith = (more: Json, capabilities: Json = everything): Json => ({
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...more,
  });

  async function callModern(
    token: string,
    name: string,
    given: { capabilities?: Json; server?: string; extra?: Json; signal?: AbortSignal },
  ) {
    const { capabilities = everything, server = "modern", extra, signal } = given;
    const meta = metaWith({}, capabilities);
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
    const message = { id: 1, method: "tools/call", params: { name, arguments: {}, ...extra, _meta: meta } };
    const answer = await post(token, message, { name: server, headers, ...(signal && { signal }) });
    return [answer.status, (await answer.json()) as { result?: Json; error?: { code: number } }] as const;
  }

  const texts = { isError: true, content: [{ type: "text", text: "Not without it." }] };

  test("a client of 2026-07-28 learns which capability a server wants", async () => {
    const { token, user } = await rig.caller();
    const refused = { error: { code: -32_021, data: { requiredCapabilities: { sampling: {} } } } };
    const elicitation = { elicitation: {} };
    const [status, answer] = await callModern(token, "sampling", { capabilities: elicitation });
    expect(status).toBe(400);
    expect(answer).toMatchObject(refused);
    // One that it has declared, and one that the gateway does not pass on, are no fault of the client.
    expect((await callModern(token, "sampling", {}))[1]).toMatchObject({ result: texts });
    expect((await callModern(token, "roots", {}))[1]).toMatchObject({ result: texts });
    const { client } = await connect(token, "modern", { capabilities: elicitation });
    expect(await client.callTool({ name: "sampling", arguments: {} })).toMatchObject(texts);
    await client.close();
    expect(await spentBy(rig.gateway, user)).toBe(0n);
  });

  test("a task of a server is followed at any node, by its user", async () => {
    const [own, other] = [await rig.caller(), await rig.caller()];
    const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const [, { result }] = await callModern(own.token, "task", { capabilities });
    const taskId = String(result?.["taskId"]);
    expect(result).toMatchObject({ resultType: "task", status: "working" });
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tasks/get", "mcp-name": taskId };
    const look = async (token: string) =>
      (
        await post(token, { id: 1, method: "tasks/get", params: { taskId, _meta: meta } }, { name: "modern", headers })
      ).json();
    for (let node = 0; node < gateways.length; node += 1) {
      expect(await look(own.token)).toMatchObject({ result: { taskId, status: "working" } });
      expect(await look(other.token)).toMatchObject({ error: { code: -32_602 } });
      expect(await look(own.token)).toMatchObject({ result: { taskId } });
    }
    expect(await spentBy(rig.gateway, own.user)).toBe(oneCredit);
    // A client that could not follow it pays nothing.
    expect((await callModern(other.token, "task", {}))[1]).toMatchObject({ result: { isError: true } });
    expect(await spentBy(rig.gateway, other.user)).toBe(0n);
  });

  test("an address that a server of 2025-11-25 wants opened first", async () => {
    const { token, user } = await rig.caller();
    const old = await connect(token, "old", {});
    const thrown: unknown = await old.client
      .callTool({ name: "protected", arguments: {} })
      .catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: -32_042, data: { elicitations: [address] } });
    expect(textOf(await old.client.callTool({ name: "protected", arguments: {} }))).toBe("welcome");
    const { client, asked } = await connect(token, "old", modern);
    expect(textOf(await client.callTool({ name: "protected", arguments: {} }))).toBe("welcome");
    expect(asked.join()).toContain(address.url);
    const without = await connect(token, "old", { capabilities: {} });
    const result = await without.client.callTool({ name: "protected", arguments: {} });
    expect(result).toMatchObject({ isError: true, content: [{ text: `Sign in first. ${address.url}` }] });
    await without.client.callTool({ name: "protected", arguments: {} });
    for (const each of [old.client, client, without.client]) await each.close();
    expect(await spentBy(rig.gateway, user)).toBe(3n * oneCredit);
  });

  async function beginSession(token: string): Promise<Record<string, string>> {
    const params = { protocolVersion: "2025-11-25", capabilities: everything, clientInfo: { name: "t", version: "1" } };
    const begun = await post(token, { id: 0, method: "initialize", params });
    return { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  }

  const textOf = (result: unknown): string => ((result as Json)["content"] as { text: string }[])[0]?.text ?? "";

  test.each([
    ["old", {}],
    ["old", modern],
    ["modern", {}],
    ["modern", modern],
  ])("the server %s asks a client of %j", async (name, options) => {
    const { token, user } = await rig.caller();
    const { client, asked } = await connect(token, name, options);
    const result = await client.callTool({ name: "dialogue", arguments: {} });
    const [first, ...others] = JSON.parse(textOf(result)) as unknown[];
    expect(typeof first === "string" ? JSON.parse(first) : first).toEqual(answers.name);
    expect(others).toEqual([answers.capital, answers.roots]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("Which name?");
    expect(asked.join()).not.toContain("the-secret");
    expect(asked.join()).not.toContain("\u202E");
    expect(await spentBy(rig.gateway, user)).toBe(oneCredit);
    await client.close();
  });

  test.each([{}, modern])("nobody is asked for anything undeclared: %j", async (options) => {
    const { token } = await rig.caller();
    const { client, asked } = await connect(token, "old", { capabilities: { elicitation: { form: {} } }, ...options });
    expect(textOf(await client.callTool({ name: "sampling", arguments: {} }))).toBe("-32601");
    expect(textOf(await client.callTool({ name: "roots", arguments: {} }))).toBe("-32601");
    expect(textOf(await client.callTool({ name: "url", arguments: {} }))).toBe("-32601");
    expect(asked).toEqual([]);
    await client.close();
    const none = await connect(token, "old", { capabilities: {}, ...options });
    expect(textOf(await none.client.callTool({ name: "sampling", arguments: {} }))).toBe("-32601");
    await none.client.close();
  });

  test("progress and log messages pass in a round that another node gets", async () => {
    const { token } = await rig.caller();
    const meta = metaWith({ "io.modelcontextprotocol/logLevel": "info", progressToken: 7 });
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "reports" };
    const callWith = async (more: Json): Promise<Json[]> => {
      const params = { name: "reports", arguments: {}, ...more, _meta: meta };
      const text = await (await post(token, { id: 1, method: "tools/call", params }, { headers })).text();
      const lines = text.split("\n").filter((line) => line.startsWith("data: "));
      return lines.map((line) => JSON.parse(line.slice("data: ".length)) as Json);
    };
    const asked = (await callWith({})).at(-1)?.["result"] as Json;
    const messages = await callWith({
      requestState: asked["requestState"],
      inputResponses: { q1: answers.roots },
    });
    // Those that go to another node go together.
    const inOrder = messages.toSorted((one, other) => String(one["method"]).localeCompare(String(other["method"])));
    expect(inOrder).toMatchObject([
      { method: "notifications/message", params: { level: "warning", data: "at warning" } },
      {
        method: "notifications/progress",
        params: { progressToken: 7, progress: 1, total: 2, message: "half [secret]" },
      },
      { id: 1, result: { content: [{ text: "reported" }] } },
    ]);
  });

  test("a client of 2026-07-28 goes on with a request of its own alone", async () => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const { result } = await call(one.token, "sampling");
    const state = { requestState: result?.["requestState"] };
    expect(result).toMatchObject({ resultType: "input_required", inputRequests: { q1: { params: capital } } });
    const given = { ...state, inputResponses: { q1: answers.capital } };
    const refused = { error: { code: -32_602 } };
    for (let node = 0; node < 2; node += 1) {
      expect(await call(other.token, "sampling", given)).toMatchObject(refused);
      expect(await call(one.token, "roots", given)).toMatchObject(refused);
    }
    // Without its answer, it is asked again.
    expect(await call(one.token, "sampling", { ...state, inputResponses: { q2: answers.capital } })).toMatchObject({
      result: { resultType: "input_required", inputRequests: { q1: {} } },
    });
    const end = await call(one.token, "sampling", given);
    expect(JSON.parse(textOf(end.result))).toEqual(answers.capital);
    for (let node = 0; node < 2; node += 1) expect(await call(one.token, "sampling", given)).toMatchObject(refused);
    expect(await spentBy(rig.gateway, one.user)).toBe(oneCredit);
    expect(await spentBy(rig.gateway, other.user)).toBe(0n);
  });

  test("a client of 2026-07-28 that leaves ends its request, wherever it waits", async () => {
    const { token, user } = await rig.caller();
    for (let node = 0; node < 2; node += 1) {
      const { result } = await call(token, "slow");
      [got, ended] = [[], 0];
      const leaving = new AbortController();
      const given = { requestState: result?.["requestState"], inputResponses: { q1: answers.roots } };
      const going = call(token, "slow", given, leaving.signal).catch(() => "left");
      await until("the server has the answer", () => got.length > 0);
      leaving.abort();
      expect(await going).toBe("left");
      await until("the server's call ends", () => ended > 0);
      await spentBy(rig.gateway, user);
      expect(await call(token, "slow", given)).toMatchObject({ error: { code: -32_602 } });
    }
  });

  test("a client of 2025 is asked on its stream, and answers for itself alone", async () => {
    const [one, other] = [await rig.caller(), await rig.caller()];
    const headers = await beginSession(one.token);
    const secondOfOne = await beginSession(one.token);
    const ofOther = await beginSession(other.token);
    got = [];
    const response = await post(
      one.token,
      { id: 7, method: "tools/call", params: { name: "sampling", arguments: {} } },
      { headers },
    );
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("sampling/createMessage")) text += (await reader?.read())?.value ?? "";
    const data = text.split("\n").find((line) => line.includes("sampling/createMessage"));
    const { id } = JSON.parse(data?.slice("data: ".length) ?? "") as { id: string };
    const forged = { id, result: { ...answers.capital, model: "forged" } };
    for (let node = 0; node < 2; node += 1) {
      expect((await post(other.token, forged, { headers: ofOther })).status).toBe(202);
      expect((await post(other.token, forged, { headers })).status).toBe(202);
      expect((await post(one.token, forged, { headers: secondOfOne })).status).toBe(202);
      expect((await post(one.token, { ...forged, id: "q1" }, { headers })).status).toBe(202);
    }
    expect(got).toEqual([]);
    expect((await post(one.token, { id, result: answers.capital }, { headers })).status).toBe(202);
    while (!text.includes("Paris")) text += (await reader?.read())?.value ?? "";
    expect(text).not.toContain("forged");
    expect(await spentBy(rig.gateway, one.user)).toBe(oneCredit);
    expect(await spentBy(rig.gateway, other.user)).toBe(0n);
  });

  test("a client of 2025 that leaves ends its request", async () => {
    const { token, user } = await rig.caller();
    const headers = await beginSession(token);
    ended = 0;
    const leaving = new AbortController();
    const message = { id: 7, method: "tools/call", params: { name: "sampling", arguments: {} } };
    const response = await post(token, message, { headers, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await until("the server's call ends", () => ended > 0);
    await spentBy(rig.gateway, user);
  });
});
