/** The table of docs/tools.md, cell by cell: the provider gets its own tool, or the function that the gateway runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { askedTools, askingFor, runnerOf, samples } from "../../scripts/hosted/hosted-matrix.ts";
import { lastReceived, post, type Rig, startRig } from "../kit/index.ts";
import { startTestServer, type TestServer } from "../tools/tool-server.ts";

let rig: Rig;
let token: string;
let server: TestServer;
beforeAll(async () => {
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  server = startTestServer({ era: "2026", tools: [{ name: "run", description: "", inputSchema }] });
  const run = "box__run";
  rig = await startRig({
    config: {
      pricing: {},
      web: { search: { backend: "searxng", base_url: "http://127.0.0.1:9" } },
      mcp: { servers: { box: { url: server.url } }, models: { image: "openai/gpt-image-1" } },
      tools: { hosted: { code_interpreter: run, code_execution: run, file_search: run, shell: run } },
    },
  });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.stop();
  await server.stop();
});

const paths = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const;

/** The model thinks, calls a tool, and must get its sealed thoughts back. */
const text = "Hi\nsteps:1";
const bodies = {
  chat: { messages: [{ role: "user", content: text }], reasoning_effort: "low" },
  messages: {
    messages: [{ role: "user", content: text }],
    max_tokens: 2_000,
    thinking: { type: "enabled", budget_tokens: 1_024 },
  },
  responses: { input: text, reasoning: { effort: "low" } },
} as const;

const cells = askedTools.flatMap(([dialect, tool]) =>
  Object.entries(samples).map(([prefix, { model }]) => [dialect, tool, prefix, `${prefix}/${model}`] as const),
);

/** The names of the functions that the gateway offers. */
const functionName =
  /"name":"(?:web_search|web_fetch|open_page|code_interpreter|code_execution|file_search|shell|image_generation|tool_search(?:_tool_bm25|_tool_regex)?)"/;

/** The providers' own tools. */
const ownTool =
  /"type":"(?:web_search|web_fetch|code_interpreter|code_execution|file_search|shell|image_generation|tool_search(?:_tool_bm25|_tool_regex)?)[\d_]*"|"googleSearch"|"web_search_options"/;

test.each(cells)("in %s %s at %s", async (dialect, tool, prefix, model) => {
  const answer = await post(rig, paths[dialect], token, { model, ...bodies[dialect], ...askingFor(tool) });
  expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")], await answer.text()).toEqual([200, null]);
  const { body } = lastReceived(rig);
  const seen = ownTool.test(body) ? "native" : functionName.test(body) ? "gateway" : "neither";
  expect(seen).toBe(runnerOf(dialect, tool, prefix));
});

/** Of runs of tools here, as clients return them. */
const run = "0mx0tuai6fgdt9rypha1uqkwe_1_0";
const container = { container_id: `cntr_${run.slice(0, 25)}` };
const status = "completed";
const ended = { stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } };
const shell = {
  call_id: `call_${run}`,
  action: { commands: ["ls"] },
  environment: { type: "container_reference", ...container },
};
const items = [
  {
    id: `ci_${run}`,
    type: "code_interpreter_call",
    code: "print(1)",
    ...container,
    status,
    outputs: [{ type: "logs", logs: "1" }],
  },
  { id: `sh_${run}`, type: "shell_call", ...shell, status },
  { id: `sho_${run}`, type: "shell_call_output", call_id: shell.call_id, status, output: [ended] },
  { id: `fs_${run}`, type: "file_search_call", queries: ["q"], results: [{ filename: "a", text: "found" }], status },
  { id: `ig_${run}`, type: "image_generation_call", status, result: "iVBORw0KGgo=" },
];
const texts = ["print(1)", "a.txt", "found"];
const user = { role: "user", content: "Hi" };
const use = { type: "server_tool_use", id: `srvtoolu_${run}`, name: "bash_code_execution", input: { command: "ls" } };
const content = { type: "bash_code_execution_result", stdout: "a.txt", stderr: "", return_code: 0, content: [] };
const used = [use, { type: "bash_code_execution_tool_result", tool_use_id: use.id, content }];

describe.each(Object.entries(samples))("at %s, runs of before are taken", (prefix, { model }) => {
  test.each([
    ["without the tool", {}],
    ["with it", askingFor("code_interpreter")],
  ])("in Responses, %s", async (_title, more) => {
    // DeepSeek's models see no images.
    const [taken, parts] = prefix === "deepseek" ? [items.slice(0, -1), texts] : [items, [...texts, "iVBORw0KGgo"]];
    const body = { model: `${prefix}/${model}`, input: [user, ...taken, user], ...more };
    const answer = await post(rig, paths.responses, token, body);
    expect(answer.status, await answer.text()).toBe(200);
    const { body: sent } = lastReceived(rig);
    for (const part of parts) expect(sent).toContain(part);
    expect(sent).not.toContain("cntr_0");
  });

  test.each([
    ["without the tool", {}],
    ["with it", askingFor("code_execution_20250825")],
  ])("in Messages, %s", async (_title, more) => {
    const messages = [user, { role: "assistant", content: used }, user];
    const answer = await post(rig, paths.messages, token, {
      model: `${prefix}/${model}`,
      max_tokens: 100,
      messages,
      ...more,
    });
    expect(answer.status, await answer.text()).toBe(200);
    const { body: sent } = lastReceived(rig);
    expect(sent).toContain("a.txt");
    expect(sent).not.toContain("server_tool_use");
  });
});
