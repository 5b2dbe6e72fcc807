/** Tools of the gateway's own servers for a model that knows chat alone: lists, calls, approvals, histories. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { JsonObject } from "../../src/core/index.ts";
import { oneCredit, post } from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

const definition = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object", properties: { city: { type: "string" } } },
  ...more,
});

let server: TestServer;
beforeAll(() => {
  server = startTestServer({
    era: "2026",
    tools: [
      definition("weather", { annotations: { readOnlyHint: true } }),
      definition("delete_city"),
      definition("fails"),
      definition("secret"),
    ],
    call: ({ name, arguments: given }) =>
      name === "fails"
        ? { ...textResult("no such city"), isError: true }
        : textResult(`${String(name)} of ${JSON.stringify(given)}`),
  });
});
afterAll(() => server.stop());

const at = hostedScene(() => ({
  mcp: {
    servers: {
      cities: { url: server.url, tools: ["*", "!secret"], price: { call: 0.5 } },
      post: { url: server.url, tools: ["weather"], auth: { header: "x-key", of: "user" } },
    },
  },
}));

const openai = ({ rig, caller }: HostedScene): OpenAI =>
  new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 });

const call = (name: string): ModelAnswer => ({ calls: [{ name, args: { city: "Ulm" } }] });
const done: ModelAnswer = { text: "Done." };
const namesOf = (scene: HostedScene): unknown => scene.asked[0]?.tools?.map(({ function: { name } }) => name);

describe("in Responses", () => {
  const tool = ({ rig }: HostedScene, more: object = {}): OpenAI.Responses.Tool.Mcp => ({
    type: "mcp",
    server_label: "towns",
    server_url: `${rig.gateway.url}/mcp/cities`,
    require_approval: "never",
    ...more,
  });

  test("the tools are listed, called and charged, and the events are those of OpenAI's own", async () => {
    const scene = at();
    const before = await scene.caller.closed();
    scene.answers(call("weather"), call("fails"), done);
    const stream = openai(scene).responses.stream({ model, input: "Hi", tools: [tool(scene)] });
    const names: string[] = [];
    for await (const { type } of stream) if (!type.includes("output_text")) names.push(type.replace("response.", ""));
    const item = ["output_item.added", "output_item.done"] as const;
    const called = (end: string) => [
      item[0],
      "mcp_call.in_progress",
      "mcp_call_arguments.delta",
      "mcp_call_arguments.done",
      `mcp_call.${end}`,
      item[1],
    ];
    expect(names).toEqual([
      "created",
      "in_progress",
      item[0],
      "mcp_list_tools.in_progress",
      "mcp_list_tools.completed",
      item[1],
      ...called("completed"),
      ...called("failed"),
      item[0],
      "content_part.added",
      "content_part.done",
      item[1],
      "completed",
    ]);
    const { output } = await stream.finalResponse();
    expect(output).toMatchObject([
      {
        type: "mcp_list_tools",
        server_label: "towns",
        tools: [
          { name: "weather", description: "Does weather", annotations: { read_only: true } },
          { name: "delete_city" },
          { name: "fails" },
        ],
      },
      {
        type: "mcp_call",
        server_label: "towns",
        name: "weather",
        arguments: '{"city":"Ulm"}',
        output: 'weather of {"city":"Ulm"}',
        error: null,
        approval_request_id: null,
        status: "completed",
      },
      { type: "mcp_call", name: "fails", output: null, status: "failed", error: "no such city" },
      { type: "message" },
    ]);
    expect(namesOf(scene)).toEqual(["weather", "delete_city", "fails"]);
    // Three rounds of 20,000, and one call: a failure is free.
    expect((await scene.caller.closed()) - before).toBe(oneCredit / 2n + 60_000n);
    scene.answers(call("weather"), call("fails"), done);
    const whole = await openai(scene).responses.create({ model, input: "Hi", tools: [tool(scene)] });
    const plain = (value: unknown): string =>
      JSON.stringify(value)
        .replaceAll(/_0[a-z0-9]{24}/g, "")
        .replaceAll(',"parsed":null', "");
    expect(plain(whole.output)).toBe(plain(output));
  });

  test("credentials in a request are neither used nor repeated", async () => {
    const scene = at();
    scene.answers(done);
    const secret = "canary-0123456789";
    const tools = [tool(scene, { headers: { authorization: `Bearer ${secret}` }, authorization: secret })];
    const background = await openai(scene).responses.create({ model, input: "Hi", tools, background: true });
    const text = await (await scene.post("/v1/responses", { input: "Hi", tools, stream: true })).text();
    expect(text).toContain('"server_label":"towns"');
    expect(text + JSON.stringify(background) + scene.rig.gateway.log()).not.toContain("canary");
    expect(server.received.some(({ headers }) => JSON.stringify([...headers]).includes("canary"))).toBe(false);
  });

  test("a label alone names a server, and only permitted tools are offered", async () => {
    const scene = at();
    scene.answers(done);
    const { server_url: _, ...byLabel } = tool(scene, { server_label: "cities", allowed_tools: ["weather"] });
    await openai(scene).responses.create({ model, input: "Hi", tools: [byLabel] });
    expect(namesOf(scene)).toEqual(["weather"]);
  });

  test.each([
    [true, 'delete_city of {"city":"Ulm"}'],
    [false, "The user has refused this call: too dangerous"],
  ])("a call waits for its approval; the answer %p decides", async (approve, told) => {
    const scene = at();
    const tools = [tool(scene, { require_approval: { never: { read_only: true } } })];
    const calls = server.of("tools/call").length;
    scene.answers({ calls: [...(call("weather").calls ?? []), ...(call("delete_city").calls ?? [])] });
    const asked = await openai(scene).responses.create({ model, input: "Hi", tools });
    const types = ["mcp_list_tools", "mcp_call", "mcp_approval_request"];
    expect(asked.output.map(({ type }) => type) as string[]).toEqual(types);
    expect(asked.status).toBe("completed");
    expect(server.of("tools/call")).toHaveLength(calls + 1);
    const request = asked.output.at(-1);
    const approval_request_id = request?.type === "mcp_approval_request" ? request.id : "";
    expect(request).toMatchObject({ server_label: "towns", name: "delete_city", arguments: '{"city":"Ulm"}' });
    scene.answers(done);
    const next = await openai(scene).responses.create({
      model,
      previous_response_id: asked.id,
      tools,
      input: [{ type: "mcp_approval_response", approval_request_id, approve, reason: "too dangerous" }],
    });
    const expected = approve ? ["mcp_list_tools", "mcp_call", "message"] : ["mcp_list_tools", "message"];
    expect(next.output.map(({ type }) => type) as string[]).toEqual(expected);
    if (approve) expect(next.output[1]).toMatchObject({ approval_request_id, output: told });
    expect(server.of("tools/call")).toHaveLength(calls + (approve ? 2 : 1));
    const results = scene.asked[0]?.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    expect(results).toEqual([expect.stringContaining("weather of") as string, expect.stringContaining(told) as string]);
    // The call is not performed again in the turn after that.
    scene.answers(done);
    await openai(scene).responses.create({ model, previous_response_id: next.id, tools, input: "Go on." });
    expect(server.of("tools/call")).toHaveLength(calls + (approve ? 2 : 1));
    expect(JSON.stringify(scene.asked[0]?.messages)).toContain(
      JSON.stringify(told).slice(1, -1).replaceAll("\\", "\\"),
    );
  });

  test("an approval of another user's call, or of none, runs nothing", async () => {
    const scene = at();
    scene.answers(done);
    const calls = server.of("tools/call").length;
    const input = [{ type: "mcp_approval_response" as const, approval_request_id: "mcpr_x", approve: true }];
    await scene.post("/v1/responses", { input: [{ role: "user", content: "Hi" }, ...input], tools: [tool(scene)] });
    expect(server.of("tools/call")).toHaveLength(calls);
  });

  test("a server at another address is not this gateway's, and a token's own list of tools holds", async () => {
    const scene = at();
    scene.answers(done);
    const other = await scene.post("/v1/responses", {
      input: "Hi",
      tools: [tool(scene, { server_url: "https://mcp.example/mcp/cities" })],
    });
    expect([other.status, other.headers.get("x-tollgate-dropped-tools")]).toEqual([200, "mcp"]);
    const apiKey = await scene.rig.gateway.token({ user: "limited", tools: ["cities__weather"] });
    const limited = new OpenAI({ baseURL: `${scene.rig.gateway.url}/v1`, apiKey, maxRetries: 0 });
    scene.answers(call("delete_city"), done);
    const calls = server.of("tools/call").length;
    const { output } = await limited.responses.create({ model, input: "Hi", tools: [tool(scene)] });
    expect(namesOf(scene)).toEqual(["weather"]);
    expect(output.at(-1)).toMatchObject({ type: "function_call", name: "delete_city" });
    expect(server.of("tools/call")).toHaveLength(calls);
  });
});

describe("in Messages", () => {
  const serversOf = ({ rig }: HostedScene, more: object = {}) => ({
    mcp_servers: [{ type: "url", name: "towns", url: `${rig.gateway.url}/mcp/cities`, ...more }],
  });

  test.each([
    ["of the first beta", { tool_configuration: { allowed_tools: ["weather"] } }, {}],
    [
      "of the second beta",
      {},
      {
        tools: [
          {
            type: "mcp_toolset",
            mcp_server_name: "towns",
            default_config: { enabled: false },
            configs: { weather: { enabled: true } },
          },
        ],
      },
    ],
  ])("tools %s are used, and known in the next turn", async (_title, ofServer, more) => {
    const scene = at();
    const messages = [{ role: "user", content: "Hi" }];
    const body = { max_tokens: 100, messages, ...serversOf(scene, ofServer), ...more };
    scene.answers({ text: "Let me see.", ...call("weather") }, done);
    const answer = await scene.post("/v1/messages", body);
    const { content } = (await answer.json()) as { content: JsonObject[] };
    expect(content).toMatchObject([
      { type: "text" },
      { type: "mcp_tool_use", name: "weather", server_name: "towns", input: { city: "Ulm" } },
      { type: "mcp_tool_result", is_error: false, content: [{ type: "text", text: 'weather of {"city":"Ulm"}' }] },
      { type: "text", text: "Done." },
    ]);
    expect(namesOf(scene)).toEqual(["weather"]);
    const before = scene.asked.at(-1)?.messages.map(({ content: text }) => text) ?? [];
    scene.answers(done);
    const next = [...messages, { role: "assistant", content }, { role: "user", content: "And?" }];
    await scene.post("/v1/messages", { ...body, messages: next });
    const repeated = scene.asked[0]?.messages.map(({ content: text }) => text) ?? [];
    expect(repeated.slice(0, before.length)).toEqual(before);
  });
});

test("in chat the calls are invisible", async () => {
  const scene = at();
  scene.answers(call("weather"), done);
  const tools = [{ type: "mcp", server_label: "cities", require_approval: { never: { read_only: true } } }];
  const answer = await scene.post("/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }], tools });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Done." }, finish_reason: "stop" }] });
  expect(namesOf(scene)).toEqual(["weather"]);
});

test("the address of a server chooses the account there, and one that is missing is named with the page that connects it", async () => {
  const scene = at();
  const token = await scene.rig.gateway.token({ user: "with accounts" });
  const send = (path: string, body: object): Promise<Response> => post(scene.rig, path, token, body);
  const ask = (address: string): Promise<Response> => {
    scene.answers(call("weather"), done);
    const tools = [{ type: "mcp", server_label: "post", server_url: address, require_approval: "never" }];
    return send("/v1/responses", { model, input: "Hi", tools });
  };
  const address = `${scene.rig.gateway.url}/mcp/post`;
  const missing = await ask(address);
  expect([missing.status, await missing.text()]).toEqual([
    403,
    expect.stringContaining("connection_required") as string,
  ]);
  for (const account of ["work", "home"]) {
    const connected = await send("/v1/tools/connections", { server: "post", account, secret: `key of ${account}` });
    expect(connected.status).toBeLessThan(300);
  }
  for (const account of ["work", "home"]) {
    expect((await ask(`${address}?account=${account}`)).status).toBe(200);
    expect(server.of("tools/call").at(-1)?.headers.get("x-key")).toBe(`key of ${account}`);
  }
});
