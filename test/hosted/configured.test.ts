/** Hosted tools that tools of configured servers run: code, commands, searches in files; for a model that knows chat alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type JsonObject, objectOf } from "../../src/core/index.ts";
import { oneCredit, post } from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

const taking = (name: string, properties: object, required: readonly string[] = Object.keys(properties)) => ({
  name,
  description: "",
  inputSchema: { type: "object", properties, required },
});
const text = { type: "string" };

const results: Readonly<Record<string, (given: JsonObject) => Record<string, unknown>>> = {
  python: ({ source }) => run(String(source)),
  bash: ({ command }) => ({ content: [], structuredContent: { stdout: `ran ${String(command)}`, exit_code: 0 } }),
  edit: ({ command, path }) => textResult(`${String(command)} of ${String(path)}`),
  find: ({ query, max_num_results: most }) => ({
    content: [],
    structuredContent: {
      results: [
        { file_id: "file-1", filename: "a.md", score: 0.9, text: `About ${String(query)}, ${String(most)}.` },
        { id: "file-2", path: "b.md", content: [{ type: "text", text: "More." }] },
      ],
    },
  }),
  picky: () => textResult("never"),
};

function run(source: string): Record<string, unknown> {
  if (source === "fail") return { ...textResult("Traceback: no"), isError: true };
  if (source === "flood") return textResult("x".repeat(900_000));
  if (source === "plot") return { content: [{ type: "image", mimeType: "image/png", data: "aGk=" }] };
  return textResult(`printed by ${source}`);
}

let server: TestServer;
const hangs = { begun: 0, left: 0 };
beforeAll(() => {
  server = startTestServer({
    era: "2026",
    tools: [
      taking("python", { source: text, timeout: { type: "number" } }, ["source"]),
      taking("bash", { command: text }),
      taking("edit", { command: text, path: text, file_text: text }, ["command", "path"]),
      taking("find", { query: text, max_num_results: { type: "integer" } }, ["query"]),
      taking("picky", { one: text, two: text }),
    ],
    call: async ({ name, arguments: given }, _report, signal) => {
      const { source } = given as JsonObject;
      if (source === "hang") {
        hangs.begun += 1;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        hangs.left += 1;
      }
      return results[String(name)]?.(given as JsonObject) ?? {};
    },
  });
});
afterAll(() => server.stop());

const at = hostedScene(() => ({
  mcp: {
    servers: {
      box: { url: server.url, tools: ["*", "!secret"], price: { call: 0.5 }, timeout: "2s" },
      cheap: { url: server.url, price: { call: 0.1 } },
    },
  },
  tools: {
    hosted: {
      code_interpreter: "box__python",
      code_execution: { tool: "box__python", bash: "box__bash", text_editor: "box__edit" },
      file_search: { tool: "box__find", mode: "gateway" },
      shell: "cheap__bash",
    },
  },
}));

const openai = ({ rig, caller }: HostedScene): OpenAI =>
  new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 });
const anthropic = ({ rig, caller }: HostedScene): Anthropic =>
  new Anthropic({ baseURL: rig.gateway.url, apiKey: caller.token, maxRetries: 0 });

const done: ModelAnswer = { text: "Done." };
const calling = (name: string, args: JsonObject): ModelAnswer => ({ calls: [{ name, args }] });
const code = (source: string): ModelAnswer => calling("code_interpreter", { code: source });
const toolResults = (scene: HostedScene): unknown[] =>
  (scene.asked.at(-1)?.messages ?? []).filter(({ role }) => role === "tool").map(({ content }) => content);
const functionsOf = (scene: HostedScene): unknown => scene.asked[0]?.tools?.map(({ function: own }) => own.name);
const interpreter = { type: "code_interpreter" as const, container: { type: "auto" as const } };
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/_0[a-z0-9]{24}/g, "")
      .replaceAll(',"parsed":null', ""),
  );

describe("in Responses", () => {
  const ask = { model, input: "Hi", tools: [interpreter], include: ["code_interpreter_call.outputs" as const] };

  test("code runs at the tool; its events, items and price are those of both", async () => {
    const scene = at();
    const before = await scene.caller.closed();
    const answers = [{ text: "Let me run it.", ...code("print(1)") }, code("plot"), done];
    scene.answers(...answers);
    const stream = openai(scene).responses.stream(ask);
    const names: string[] = [];
    for await (const { type } of stream) names.push(type.replace("response.", ""));
    const item = ["output_item.added", "output_item.done"] as const;
    const ran = [
      item[0],
      "code_interpreter_call.in_progress",
      "code_interpreter_call_code.delta",
      "code_interpreter_call_code.done",
      "code_interpreter_call.interpreting",
      "code_interpreter_call.completed",
      item[1],
    ];
    expect(names.filter((name) => !/^(?:content_part|output_text)/.test(name))).toEqual([
      "created",
      "in_progress",
      ...item,
      ...ran,
      ...ran,
      ...item,
      "completed",
    ]);
    const { output } = await stream.finalResponse();
    const item0 = { type: "code_interpreter_call", status: "completed" };
    expect(output.slice(1)).toMatchObject([
      { ...item0, code: "print(1)", outputs: [{ type: "logs", logs: "printed by print(1)" }] },
      { ...item0, code: "plot", outputs: [{ type: "image", url: "data:image/png;base64,aGk=" }] },
      { type: "message" },
    ]);
    expect(functionsOf(scene)).toEqual(["code_interpreter"]);
    expect(scene.asked[0]?.tools?.[0]?.function).toMatchObject({
      parameters: { required: ["code"], additionalProperties: false },
    });
    expect(scene.asked[0]).not.toHaveProperty("include");
    expect(toolResults(scene)[0]).toMatch(/<untrusted-\w+>\nprinted by print\(1\)\n<\/untrusted/);
    expect((await scene.caller.closed()) - before).toBe(oneCredit + 60_000n);
    scene.answers(...answers);
    const whole = await openai(scene).responses.create(ask);
    expect(plain(whole.output)).toEqual(plain(output));
  });

  test("without `include` there are no outputs, and the next turn tells the model so", async () => {
    const scene = at();
    scene.answers(code("print(1)"), done);
    const { output, id } = await openai(scene).responses.create({ model, input: "Hi", tools: [interpreter] });
    expect(output[0]).toMatchObject({ type: "code_interpreter_call", outputs: null });
    scene.answers(done);
    const more = { model, input: "And?", previous_response_id: id };
    await openai(scene).responses.create({ ...more, tools: [interpreter] });
    expect(toolResults(scene)).toEqual([expect.stringContaining("not in this conversation any more") as string]);
    // Without the tool the call is a text.
    scene.answers(done);
    await openai(scene).responses.create(more);
    expect(JSON.stringify(scene.asked[0]?.messages)).toContain("print(1)");
  });

  test("the outputs of earlier turns are results of the function", async () => {
    const scene = at();
    scene.answers(code("print(1)"), done);
    const { id } = await openai(scene).responses.create(ask);
    const before = scene.asked.at(-1)?.messages ?? [];
    scene.answers(done);
    await openai(scene).responses.create({ ...ask, previous_response_id: id, input: "And?" });
    const withoutIds = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll(/call_\d+|ci_\w+/g, ""));
    expect(withoutIds(scene.asked[0]?.messages.slice(0, before.length))).toEqual(withoutIds(before));
  });

  test("files are searched with each query, and results are there if they are asked for", async () => {
    const scene = at();
    const files = { type: "file_search" as const, vector_store_ids: ["vs_1"], max_num_results: 3 };
    const answers = [calling("file_search", { queries: ["cats", "dogs"] }), done];
    scene.answers(...answers);
    const calls = server.of("tools/call").length;
    const asked = { model, input: "Hi", tools: [files], include: ["file_search_call.results" as const] };
    const stream = openai(scene).responses.stream(asked);
    const names: string[] = [];
    for await (const { type } of stream) if (type.includes("file_search")) names.push(type.replace("response.", ""));
    expect(names).toEqual(["in_progress", "searching", "completed"].map((name) => `file_search_call.${name}`));
    const { output } = await stream.finalResponse();
    const first = (query: string) => ({ file_id: "file-1", filename: "a.md", score: 0.9, text: `About ${query}, 3.` });
    const second = { file_id: "file-2", filename: "b.md", text: "More." };
    expect(output[0]).toMatchObject({
      type: "file_search_call",
      status: "completed",
      queries: ["cats", "dogs"],
      results: [first("cats"), second, first("dogs")],
    });
    const sent = server.of("tools/call").slice(calls);
    expect(sent.map(({ params }) => params["arguments"])).toEqual([
      { query: "cats", max_num_results: 3 },
      { query: "dogs", max_num_results: 3 },
    ]);
    expect(toolResults(scene)[0]).toContain("a.md\nAbout cats, 3.");
    scene.answers(...answers);
    const { output: whole } = await openai(scene).responses.create({ model, input: "Hi", tools: [files] });
    expect(whole[0]).toMatchObject({ type: "file_search_call", queries: ["cats", "dogs"], results: null });
  });

  test("a shell in a container has a call and an output, also in the next turn; the client's own shell stays the client's", async () => {
    const scene = at();
    const shell = { type: "shell" as const, environment: { type: "container_auto" as const } };
    const answers = [calling("shell", { commands: ["ls", "pwd"], timeout_ms: 100 }), done];
    scene.answers(...answers);
    const streamed = openai(scene).responses.stream({ model, input: "Hi", tools: [shell] });
    const { output } = await streamed.finalResponse();
    const ended = (command: string) => ({
      stdout: `ran ${command}`,
      stderr: "",
      outcome: { type: "exit", exit_code: 0 },
    });
    expect(output).toMatchObject([
      { type: "shell_call", status: "completed", action: { commands: ["ls", "pwd"], timeout_ms: 100 } },
      { type: "shell_call_output", status: "completed", output: [ended("ls"), ended("pwd")] },
      { type: "message" },
    ]);
    scene.answers(...answers);
    const whole = await openai(scene).responses.create({ model, input: "Hi", tools: [shell] });
    expect(plain(whole.output)).toEqual(plain(output));
    for (const tools of [[shell], []]) {
      scene.answers(done);
      await openai(scene).responses.create({ model, input: "And?", previous_response_id: whole.id, tools });
      expect(JSON.stringify(scene.asked[0]?.messages)).toContain("ran pwd");
    }
    scene.answers(calling("shell", { commands: ["ls"] }));
    const calls = server.of("tools/call").length;
    const own = await openai(scene).responses.create({ model, input: "Hi", tools: [{ type: "shell" }] });
    expect(own.output).toMatchObject([{ type: "shell_call", action: { commands: ["ls"] } }]);
    expect(server.of("tools/call")).toHaveLength(calls);
  });

  test("a call of a shell that has no output is one that failed", async () => {
    const scene = at();
    scene.answers(done);
    const call = {
      id: "sh_1",
      type: "shell_call",
      call_id: "call_1",
      action: { commands: ["ls"] },
      status: "completed",
    };
    const tools = [{ type: "shell", environment: { type: "container_auto" } }];
    const answer = await scene.post("/v1/responses", { input: [{ role: "user", content: "Hi" }, call], tools });
    expect(answer.status).toBe(200);
    expect(toolResults(scene)).toEqual([expect.stringContaining("unavailable") as string]);
  });

  test("code that fails, a flood, a tool that hangs and arguments that are none are results", async () => {
    const scene = at();
    const wrong = calling("code_interpreter", { source: "print(1)" });
    scene.answers(code("fail"), code("flood"), code("hang"), wrong, done);
    const before = await scene.caller.closed();
    const { output, status } = await openai(scene).responses.create(ask);
    expect(status).toBe("completed");
    expect(output.map((item) => (item.type === "code_interpreter_call" ? item.status : item.type))).toEqual([
      "completed",
      "completed",
      "failed",
      "failed",
      "message",
    ]);
    expect(output[0]).toMatchObject({ outputs: [{ logs: "Traceback: no\nexit code 1" }] });
    expect(output[1]).toMatchObject({ outputs: [{ logs: "x".repeat(200_000) }] });
    const told = toolResults(scene).map(String);
    expect(told.map((each) => each.length < 201_000)).toEqual([true, true, true, true]);
    expect(told[3]).toContain("not valid");
    expect(hangs).toEqual({ begun: 1, left: 1 });
    // A result with isError, and a call that is too late, are free.
    expect((await scene.caller.closed()) - before).toBe(oneCredit / 2n + 5n * 20_000n);
  });

  test("an address that code has printed may not be opened", async () => {
    const scene = at();
    const url = scene.url("/canary");
    scene.answers(code(`print('${url}')`), calling("open_page", { url }), done);
    const tools = [interpreter, { type: "web_search" as const }];
    const { output, id } = await openai(scene).responses.create({ ...ask, tools });
    expect(output[1]).toMatchObject({ type: "web_search_call", status: "failed" });
    scene.answers(calling("open_page", { url }), done);
    await openai(scene).responses.create({ ...ask, tools, previous_response_id: id, input: "And?" });
    expect(scene.read).toEqual([]);
  });

  test("uses beside one that can't be paid are in the answer, with their cost", async () => {
    const scene = at();
    const token = await scene.rig.gateway.token({ user: "short", credits: (oneCredit * 3n) / 10n });
    const both = [code("print(1)"), calling("shell", { commands: ["ls"] })].flatMap(({ calls = [] }) => calls);
    scene.answers({ calls: both }, done);
    const tools = [interpreter, { type: "shell", environment: { type: "container_auto" } }];
    const answer = await post(scene.rig, "/v1/responses", token, { model, input: "Hi", tools });
    expect(answer.headers.get("x-tollgate-credits")).toBe("0.10002");
    expect(await answer.json()).toMatchObject({
      status: "incomplete",
      output: [
        { type: "code_interpreter_call", status: "failed" },
        { type: "shell_call" },
        { type: "shell_call_output", output: [{ stdout: "ran ls" }] },
      ],
    });
  });

  test("several calls of one use are each within the limit of the call's costs, and so are credits", async () => {
    const scene = at();
    const files = { type: "file_search", vector_store_ids: [] };
    const before = await scene.caller.closed();
    const calls = server.of("tools/call").length;
    scene.answers(calling("file_search", { queries: ["a", "b", "c"] }), done);
    const limited = await scene.post(
      "/v1/responses",
      { input: "Hi", tools: [files] },
      { "x-tollgate-max-credits": "1.2" },
    );
    expect(await limited.json()).toMatchObject({ status: "completed", output: [{ status: "completed" }, {}] });
    expect(server.of("tools/call").length).toBe(calls + 2);
    expect((await scene.caller.closed()) - before).toBe(oneCredit + 40_000n);
    expect(limited.headers.get("x-tollgate-credits")).toBe("1.00004");
    const token = await scene.rig.gateway.token({ user: "poor", credits: (oneCredit * 3n) / 10n });
    scene.answers({ text: "Let me see.", ...calling("file_search", { queries: ["a"] }) }, done);
    const poor = await post(scene.rig, "/v1/responses", token, { model, input: "Hi", tools: [files] });
    expect(await poor.json()).toMatchObject({
      status: "incomplete",
      output: [{ type: "message" }, { status: "failed" }],
    });
    expect(server.of("tools/call").length).toBe(calls + 2);
  });

  test("files that the tool does not get are named in the headers, and secrets of a container go nowhere", async () => {
    const scene = at();
    const changesFor = async (tool: object): Promise<string | null> => {
      scene.answers(code("print(1)"), done);
      const answer = await scene.post("/v1/responses", { input: "Hi", tools: [tool] });
      expect(await answer.text()).not.toContain("canary");
      return answer.headers.get("x-tollgate-changes");
    };
    expect(await changesFor(interpreter)).toBeNull();
    expect(await changesFor({ type: "file_search", vector_store_ids: ["vs_1"] })).toBe("files");
    const secret = { domain: "a.example", name: "KEY", value: "canary-0123456789" };
    const network_policy = { type: "allowlist", allowed_domains: ["a.example"], domain_secrets: [secret] };
    const calls = server.of("tools/call").length;
    expect(await changesFor({ type: "code_interpreter", container: { type: "auto", network_policy } })).toBe(
      "containers",
    );
    expect(server.of("tools/call").length).toBe(calls + 1);
    expect(JSON.stringify(server.received) + scene.rig.gateway.log()).not.toContain("canary-0");
  });

  test("a tool that is forced is called, and one without the right to it is refused or left out", async () => {
    const scene = at();
    scene.answers(code("print(1)"), done);
    await openai(scene).responses.create({ ...ask, tool_choice: { type: "code_interpreter" } });
    expect(scene.asked.map(({ tool_choice: choice }) => choice)).toEqual([
      { type: "function", function: { name: "code_interpreter" } },
      undefined,
    ]);
    const apiKey = await scene.rig.gateway.token({ user: "limited", tools: ["*", "!box__python"] });
    const limited = new OpenAI({ baseURL: `${scene.rig.gateway.url}/v1`, apiKey, maxRetries: 0 });
    scene.answers(done);
    const { response } = await limited.responses.create(ask).withResponse();
    expect(response.headers.get("x-tollgate-dropped-tools")).toBe("code_interpreter");
    const forced = limited.responses.create({ ...ask, tool_choice: { type: "code_interpreter" } });
    expect(await forced.catch((thrown: Error) => thrown.message)).toContain("code_interpreter");
  });
});

describe("in Messages", () => {
  const messages = [{ role: "user" as const, content: "Hi" }];
  const ask = { model, max_tokens: 100, messages };
  const tool = { type: "code_execution_20250825" as const, name: "code_execution" as const };

  test("code, commands and files have blocks of their own, and the next turn has them as they were", async () => {
    const scene = at();
    const answers = [
      { text: "Look. ", ...calling("bash_code_execution", { command: "ls" }) },
      calling("text_editor_code_execution", { command: "create", path: "/a", file_text: "x" }),
      calling("text_editor_code_execution", { command: "view", path: "/a" }),
      calling("code_execution", { code: "fail" }),
      done,
    ];
    scene.answers(...answers);
    const stream = anthropic(scene).beta.messages.stream({
      ...ask,
      tools: [tool],
      betas: ["code-execution-2025-08-25"],
    });
    const streamed = await stream.finalMessage();
    const blocks = streamed.content.map((block) => objectOf(block));
    expect(functionsOf(scene)).toEqual(["code_execution", "bash_code_execution", "text_editor_code_execution"]);
    expect(blocks).toMatchObject([
      { type: "text" },
      { type: "server_tool_use", name: "bash_code_execution", input: { command: "ls" } },
      {
        type: "bash_code_execution_tool_result",
        content: { type: "bash_code_execution_result", stdout: "ran ls", stderr: "", return_code: 0, content: [] },
      },
      { type: "server_tool_use", name: "text_editor_code_execution" },
      {
        type: "text_editor_code_execution_tool_result",
        content: { type: "text_editor_code_execution_create_result", is_file_update: false },
      },
      { type: "server_tool_use" },
      {
        type: "text_editor_code_execution_tool_result",
        content: { type: "text_editor_code_execution_view_result", content: "view of /a", num_lines: 1 },
      },
      { type: "server_tool_use", name: "code_execution", input: { code: "fail" } },
      { type: "code_execution_tool_result", content: { stdout: "", stderr: "Traceback: no", return_code: 1 } },
      { type: "text", text: "Done." },
    ]);
    const before = scene.asked.at(-1)?.messages.map(({ content }) => content) ?? [];
    scene.answers(...answers);
    const whole = await anthropic(scene).beta.messages.create({ ...ask, tools: [tool] });
    expect(plain(whole.content)).toEqual(plain(streamed.content));
    scene.answers(done);
    const next = [
      ...messages,
      { role: "assistant" as const, content: streamed.content as Anthropic.Beta.BetaContentBlockParam[] },
      { role: "user" as const, content: "And?" },
    ];
    await anthropic(scene).beta.messages.create({ ...ask, tools: [tool], messages: next });
    expect(scene.asked[0]?.messages.map(({ content }) => content).slice(0, before.length)).toEqual(before);
    // Without the tool its results are texts.
    scene.answers(done);
    await anthropic(scene).beta.messages.create({ ...ask, messages: next });
    expect(JSON.stringify(scene.asked[0]?.messages)).toContain("ran ls");
  });

  test("ten uses are a pause, and the answer goes on with the eleventh", async () => {
    const scene = at();
    const again = calling("bash_code_execution", { command: "ls" });
    scene.answers(again);
    const paused = await anthropic(scene).beta.messages.create({ ...ask, tools: [tool] });
    expect([paused.stop_reason, paused.content.length]).toEqual(["pause_turn", 21]);
    expect(paused.content.at(-1)).toMatchObject({ type: "server_tool_use", name: "bash_code_execution" });
    scene.answers(done);
    const calls = server.of("tools/call").length;
    const content = paused.content as Anthropic.Beta.BetaContentBlockParam[];
    const turns = [...messages, { role: "assistant" as const, content }];
    const next = await anthropic(scene).beta.messages.create({ ...ask, tools: [tool], messages: turns });
    expect(next.content).toMatchObject([{ type: "bash_code_execution_tool_result" }, { type: "text" }]);
    expect(server.of("tools/call").length).toBe(calls + 1);
  });

  test("the first version runs Python alone, and a tool that is too late is told by its name", async () => {
    const scene = at();
    scene.answers(calling("code_execution", { code: "hang" }), done);
    const first = { type: "code_execution_20250522" as const, name: "code_execution" as const };
    const { content } = await anthropic(scene).beta.messages.create({ ...ask, tools: [first] });
    expect(functionsOf(scene)).toEqual(["code_execution"]);
    expect(content[1]).toMatchObject({
      type: "code_execution_tool_result",
      content: { type: "code_execution_tool_result_error", error_code: "execution_time_exceeded" },
    });
  });
});

test("in chat the runs are invisible", async () => {
  const scene = at();
  scene.answers({ text: "Let me see.", ...code("print(1)") }, done);
  const answer = await scene.post("/v1/chat/completions", {
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "code_interpreter" }],
  });
  expect(await answer.json()).toMatchObject({
    choices: [{ message: { content: "Let me see.\n\nDone." }, finish_reason: "stop" }],
  });
});

describe("a configuration", () => {
  const other = hostedScene(() => ({
    mcp: { servers: { box: { url: server.url }, gone: { url: "http://127.0.0.1:9/mcp" } } },
    tools: { hosted: { code_interpreter: "box__picky", file_search: "box__missing", shell: "gone__sh" } },
  }));

  test.each([
    [interpreter, "code_interpreter is run by box__picky here, but it has no property for the arguments"],
    [
      { type: "file_search", vector_store_ids: [] },
      "file_search is run by box__missing here, but its server does not offer it",
    ],
    [
      { type: "shell", environment: { type: "container_auto" } },
      'the tools of the server \\"gone\\" can\'t be listed now',
    ],
  ])("whose tool can't run it is named: %j", async (tool, message) => {
    const scene = other();
    scene.answers(done);
    const answer = await scene.post("/v1/responses", { input: "Hi", tools: [tool] });
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain(message);
    expect(scene.asked).toEqual([]);
  });
});
