/** The table of docs/tools.md, cell by cell: the provider gets its own tool, or the function that the gateway runs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
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
