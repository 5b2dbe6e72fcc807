/** Tools of other servers through the gateway: in both eras, priced, bounded, cleaned; a dead server costs its own tools alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { oneCredit, type Rig, startRig, until } from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

const secret = "the-secret-of-the-operator";
const schema = { type: "object", properties: { city: { type: "string", "x-mcp-header": "City" } } };
const tool = (name: string, more: object = {}) => ({ name, description: `Does ${name}`, inputSchema: schema, ...more });

let servers: Record<"old" | "modern" | "hostile", TestServer>;
let hanging: ReturnType<typeof Bun.serve>;
let rig: Rig;
let finish: (() => void) | undefined;
const aborted: string[] = [];

async function perform(
  { name, arguments: given }: Record<string, unknown>,
  report: (progress: Record<string, unknown>) => void,
  signal: AbortSignal,
) {
  if (name === "fail") return { ...textResult("no such city"), isError: true };
  if (name === "refuse") return undefined;
  if (name === "wait") {
    signal.addEventListener("abort", () => aborted.push("wait"));
    report({ progress: 1, total: 2, message: "half" });
    await new Promise<void>((resolve) => (finish = resolve));
  }
  return { ...textResult(`${String(name)} ${JSON.stringify(given)}`), structuredContent: { given } };
}

beforeAll(async () => {
  const tools = [tool("get"), tool("fail"), tool("refuse"), tool("wait"), tool("delete_all"), tool("budget_get")];
  hanging = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => undefined),
  });
  servers = {
    old: startTestServer({ era: "2025", tools, call: perform, bearer: secret, pageSize: 2 }),
    modern: startTestServer({ era: "2026", tools, call: perform }),
    hostile: startTestServer({
      era: "2026",
      tools: [
        tool("shown", { description: "Fine\u202E\u200B \u001b[31mred\u{E0041}" }),
        tool("dotted.name"),
        tool("x".repeat(100)),
        tool("with space"),
        { name: "no-schema" },
        tool("no-object", { inputSchema: { type: "array" } }),
        { ...tool("odd"), title: {}, description: 5, annotations: "x", outputSchema: 1, _meta: [1], inputSchema: {} },
        tool("shown", { description: "a second one" }),
        tool("bad-header", {
          inputSchema: { type: "object", properties: { a: { type: "number", "x-mcp-header": "A" } } },
        }),
      ],
      call: ({ name }) =>
        name === "shown"
          ? textResult(`${secret} ${Buffer.from(secret).toString("base64")} \u202Eevil\u202C`)
          : textResult("x".repeat(2_000_000)),
    }),
  };
  const { old, modern, hostile } = servers;
  rig = await startRig({
    config: {
      mcp: {
        servers: {
          old: {
            url: old.url,
            auth: { bearer: secret },
            price: { call: 0.001, tools: { "g*": 0.004 } },
            tools: ["*", "!delete_*", "!budget_*"],
          },
          modern: { url: modern.url, price: { call: 0.002 }, timeout: "20s" },
          hostile: { url: hostile.url, auth: { headers: { "x-key": secret } }, max_result: "1MiB" },
          dead: { url: "http://127.0.0.1:9/mcp" },
          hanging: { url: `http://127.0.0.1:${hanging.port}/mcp` },
        },
        sets: {
          dev: {
            servers: ["old", "modern", "tollgate"],
            tools: ["old__*", "modern__get", "modern__budget_get", "budget_get"],
            prefix: "never",
          },
        },
      },
    },
  });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await hanging.stop(true);
  for (const server of Object.values(servers)) await server.stop();
});

const modernClient: ClientOptions = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
const eras: [string, ClientOptions][] = [
  ["2025", {}],
  ["2026", modernClient],
];

async function connect(path: string, token: string, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(rig.gateway.url + path), { requestInit }));
  return client;
}

const textIn = ({ content }: { content?: unknown }): string =>
  (content as { text?: string }[]).map(({ text = "" }) => text).join("");

const namesAt = async (path: string, token: string): Promise<string[]> => {
  const client = await connect(path, token);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
};

describe.each(eras)("a client of %s", (_era, options) => {
  test.each(["old", "modern"] as const)("calls the server %s", async (name) => {
    const caller = await rig.caller();
    const client = await connect(`/mcp/${name}`, caller.token, options);
    const before = servers[name].of("tools/call").length;
    const result = await client.callTool({ name: "get", arguments: { city: "Zürich" } });
    expect(textIn(result)).toBe('get {"city":"Zürich"}');
    expect(result.structuredContent).toEqual({ given: { city: "Zürich" } });
    expect(await caller.closed()).toBe((oneCredit * (name === "old" ? 4n : 2n)) / 1_000n);
    const [sent] = servers[name].of("tools/call").slice(before);
    // The caller's token stays here; the operator's credentials go there.
    expect(sent?.headers.get("authorization")).toBe(name === "old" ? `Bearer ${secret}` : null);
    expect(JSON.stringify([...(sent?.headers ?? [])]) + JSON.stringify(sent?.params)).not.toContain(caller.token);
    const city = `=?base64?${Buffer.from("Zürich").toString("base64")}?=`;
    expect(sent?.headers.get("mcp-param-city")).toBe(name === "modern" ? city : null);
    await client.close();
  });

  test.each(["old", "modern"] as const)("gets progress from %s, and cancels there", async (name) => {
    const caller = await rig.caller();
    const client = await connect(`/mcp/${name}`, caller.token, options);
    const seen: unknown[] = [];
    const abort = new AbortController();
    const before = servers[name].of("notifications/cancelled").length;
    aborted.length = 0;
    const call = client
      .callTool(
        { name: "wait", arguments: {} },
        { onprogress: (progress) => void seen.push(progress), signal: abort.signal },
      )
      .catch(() => "cancelled");
    await until("progress arrives", () => Promise.resolve(seen.length > 0));
    expect(seen).toMatchObject([{ progress: 1, total: 2, message: "half" }]);
    abort.abort();
    expect(await call).toBe("cancelled");
    // A stateless server learns it from the closed request, an older one by a message.
    await until("the server learns of it", () =>
      Promise.resolve(
        name === "modern" ? aborted.length > 0 : servers[name].of("notifications/cancelled").length > before,
      ),
    );
    // It may have been done all the same.
    expect(await caller.closed()).toBe((oneCredit * (name === "old" ? 1n : 2n)) / 1_000n);
    finish?.();
    await client.close();
  });
});

test("a failed call is free, and so is a refused one", async () => {
  const caller = await rig.caller();
  const client = await connect("/mcp/modern", caller.token);
  const failed = await client.callTool({ name: "fail", arguments: {} });
  expect([failed.isError, textIn(failed)]).toEqual([true, "no such city"]);
  // A refusal of the arguments is no result.
  const thrown: unknown = await client.callTool({ name: "refuse", arguments: {} }).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: -32_602 });
  expect(String(thrown)).toContain("Wrong arguments");
  const overRest = await fetch(`${rig.gateway.url}/v1/tools/modern__refuse`, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.token}` },
    body: "{}",
  });
  expect(overRest.status).toBe(422);
  expect(await overRest.json()).toMatchObject({ error: { code: "validation_failed", message: "Wrong arguments" } });
  expect(await caller.closed()).toBe(0n);
  await client.close();
});

test("the caller's span goes on to the server, from the message or the request, if it is one", async () => {
  const { token } = await rig.caller();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const traceOf = (name: "old" | "modern") => {
    const meta = (servers[name].of("tools/call").at(-1)?.params["_meta"] ?? {}) as Record<string, unknown>;
    return [meta["traceparent"], meta["tracestate"], meta["baggage"]];
  };
  for (const name of ["old", "modern"] as const) {
    const client = await connect(`/mcp/${name}`, token);
    const call = (meta: Record<string, unknown>) =>
      client.callTool({ name: "get", arguments: { city: "x" }, _meta: meta });
    await call({ traceparent, tracestate: "a=b", baggage: "user=ann" });
    expect(traceOf(name)).toEqual([traceparent, "a=b", undefined]);
    for (const wrong of [`${traceparent}-`, "x", 5]) {
      await call({ traceparent: wrong, tracestate: "a=b" });
      expect(traceOf(name)).toEqual([undefined, undefined, undefined]);
    }
    await client.close();
  }
  await fetch(`${rig.gateway.url}/v1/tools/old__get`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, traceparent },
    body: '{"city":"x"}',
  });
  expect(traceOf("old")).toEqual([traceparent, undefined, undefined]);
});

test("without credits nothing is sent, and REST answers 402", async () => {
  const token = await rig.gateway.token({ user: "poor", credits: 0n });
  const before = servers.modern.of("tools/call").length;
  const refused = await fetch(`${rig.gateway.url}/v1/tools/modern__get`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: "{}",
  });
  expect(refused.status).toBe(402);
  expect(servers.modern.of("tools/call")).toHaveLength(before);
});

test("a call is recorded as that of a model", async () => {
  const { token } = await rig.caller();
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${rig.gateway.url}/v1/tools/old__get`, { method: "POST", headers, body: '{"city":"x"}' });
  expect(await answer.json()).toMatchObject({ content: [{ text: 'get {"city":"x"}' }] });
  expect(answer.headers.get("x-tollgate-credits")).toBe("0.004");
  const id = answer.headers.get("x-request-id") ?? "";
  const generation = await fetch(`${rig.gateway.url}/v1/generations/${id}`, { headers });
  expect(await generation.json()).toMatchObject({ operation: "tool", provider: "old", usage: { tool_calls: 1 } });
});

describe("names", () => {
  test("are the server's own at its URL, with its name in front at that of all", async () => {
    const { token } = await rig.caller();
    expect(await namesAt("/mcp/old", token)).toEqual(["get", "fail", "refuse", "wait"]);
    const all = await namesAt("/mcp/all", token);
    expect(all).toContain("web_search");
    expect(all).toContain("modern__delete_all");
    expect(all).not.toContain("old__delete_all");
    for (const name of all) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(all.filter((name) => name.startsWith("hostile__"))).toEqual([
      "hostile__shown",
      expect.stringMatching(/^hostile__dotted_name_[0-9a-f]{8}$/) as string,
      expect.stringMatching(/^hostile__x+_[0-9a-f]{8}$/) as string,
      "hostile__odd",
    ]);
  });

  test("have no prefix in a set that wants none, unless two servers, or a server and the gateway, use them", async () => {
    const { token } = await rig.caller();
    expect(await namesAt("/mcp/dev", token)).toEqual([
      "budget_get",
      "old__get",
      "old__fail",
      "old__refuse",
      "old__wait",
      "modern__get",
      "modern__budget_get",
    ]);
  });

  test("decide what a token may call, on every URL", async () => {
    const token = await rig.gateway.token({ tools: ["old__*", "!old__wait"] });
    expect(await namesAt("/mcp/old", token)).toEqual(["get", "fail", "refuse"]);
    expect(await namesAt("/mcp/modern", token)).toEqual([]);
    const client = await connect("/mcp/modern", token);
    expect(String(await client.callTool({ name: "get" }).catch((thrown: unknown) => thrown))).toContain("no such tool");
    await client.close();
  });

  test("that are no server's get 404", async () => {
    const { token } = await rig.caller();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    for (const name of ["nothing", "__proto__", "OLD"]) {
      expect((await fetch(`${rig.gateway.url}/mcp/${name}`, { method: "POST", headers, body })).status).toBe(404);
    }
  });
});

describe("in the mode that searches", () => {
  test("tools are found, described and called by those that the token permits", async () => {
    const token = await rig.gateway.token({ tools: ["old__*", "modern__*", "!old__wait", "budget_get"] });
    const client = await connect("/mcp/all?mode=search", token);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["tool_search", "tool_describe", "tool_call"]);
    const search = async (query: string): Promise<string[]> => {
      const { structuredContent } = await client.callTool({ name: "tool_search", arguments: { query } });
      return (structuredContent as { tools: { name: string }[] }).tools.map(({ name }) => name);
    };
    expect((await search("delete all")).slice(0, 1)).toEqual(["modern__delete_all"]);
    expect(await search("wait")).toEqual(["modern__wait"]);
    expect(await search("budget credits")).toContain("budget_get");
    expect(await search("crawl")).toEqual([]);
    const described = await client.callTool({
      name: "tool_describe",
      arguments: { names: ["modern__get", "old__wait"] },
    });
    expect(described.structuredContent).toMatchObject({
      tools: [{ name: "modern__get", inputSchema: { type: "object" } }],
      unknown: ["old__wait"],
    });
    const named = (name: string) => ({ name: "tool_call", arguments: { name, arguments: { city: "x" } } });
    expect(textIn(await client.callTool(named("modern__get")))).toBe('get {"city":"x"}');
    expect(String(await client.callTool(named("old__wait")).catch((thrown: unknown) => thrown))).toContain(
      "no such tool",
    );
    expect(await client.callTool({ name: "tool_search", arguments: {} })).toMatchObject({ isError: true });
    await client.close();
  });

  test("a set and a server have their own names", async () => {
    const { token } = await rig.caller();
    for (const [path, name] of [
      ["/mcp/modern", "get"],
      ["/mcp/dev", "modern__get"],
    ] as const) {
      const client = await connect(`${path}?mode=search`, token);
      const found = await client.callTool({ name: "tool_search", arguments: { query: "modern get", limit: 1 } });
      expect(found.structuredContent).toMatchObject({ tools: [{ name }] });
      await client.close();
    }
  });
});

test("a call waits for its own server alone", async () => {
  const { token } = await rig.caller();
  const client = await connect("/mcp/all", token);
  const slow = servers.hostile.of("tools/list").length;
  expect(textIn(await client.callTool({ name: "modern__get", arguments: {} }))).toBe("get {}");
  expect(servers.hostile.of("tools/list")).toHaveLength(slow);
  await client.close();
});

test("a dead and a hanging server cost their own tools alone, and are named", async () => {
  const { token } = await rig.caller();
  const client = await connect("/mcp/all", token, modernClient);
  const listed = await client.listTools();
  expect(listed).toMatchObject({ _meta: { "tollgate/unavailable": ["dead", "hanging"] } });
  expect(listed.tools.map(({ name }) => name)).toContain("modern__get");
  await client.close();
});

test("what people do not see is removed, and so is the operator's secret", async () => {
  const { token } = await rig.caller();
  const client = await connect("/mcp/hostile", token);
  const { tools } = await client.listTools();
  expect(tools[0]).toMatchObject({ name: "shown", description: "Fine red" });
  expect(JSON.stringify(tools)).not.toContain("x-mcp-header");
  expect(tools.map(({ name }) => name)).toEqual(["shown", "dotted.name", "x".repeat(100), "odd"]);
  expect(textIn(await client.callTool({ name: "shown", arguments: {} }))).toBe(
    "[secret] [secret]== evil".replace("==", padding()),
  );
  const flooding = await client.callTool({ name: "dotted.name", arguments: {} });
  expect(flooding).toMatchObject({ isError: true, _meta: { "tollgate/error": { code: "upstream_invalid_answer" } } });
  await client.close();
});

/** The end of the secret's base64, which gives nothing away. */
const padding = (): string => /=*$/.exec(Buffer.from(secret).toString("base64"))?.[0] ?? "";

test("a lost session is begun again", async () => {
  const { token } = await rig.caller();
  const client = await connect("/mcp/old", token);
  servers.old.forget();
  expect(textIn(await client.callTool({ name: "get", arguments: {} }))).toBe("get {}");
  await client.close();
});

test("the log has no arguments and no results", () => {
  expect(rig.gateway.log()).not.toContain("Zürich");
  expect(rig.gateway.log()).not.toContain(secret);
});
