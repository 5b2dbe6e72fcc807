/** The table of docs/tools.md, cell by cell: the provider gets its own tool, or the function that the gateway runs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { askedTools, askingFor, runnerOf, samples } from "../../scripts/hosted/hosted-matrix.ts";
import { lastReceived, post, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({
    config: { pricing: {}, web: { search: { backend: "searxng", base_url: "http://127.0.0.1:9" } } },
  });
  ({ token } = await rig.caller());
});
afterAll(() => rig.stop());

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
const functionName = /"name":"(?:web_search|web_fetch|open_page)"/;

test.each(cells)("in %s %s at %s", async (dialect, tool, prefix, model) => {
  const answer = await post(rig, paths[dialect], token, { model, ...bodies[dialect], ...askingFor(tool) });
  expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")], await answer.text()).toEqual([200, null]);
  const { body } = lastReceived(rig);
  const isOwn = /"type":"web_(?:search|fetch)[\d_]*"|"googleSearch"|"web_search_options"/.test(body);
  const seen = isOwn ? "native" : functionName.test(body) ? "gateway" : "neither";
  expect(seen).toBe(runnerOf(dialect, tool, prefix));
});
