/**
 * Web search of agents whose provider has none, as real processes: the pages on the screen are those of the simulated web, and not the
 * model's. `AGENTS=all` runs Codex too, and both on models of four providers each that have no such tool in the agent's dialect. Searches
 * for tools that the agents run themselves find those of an MCP server.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { agents } from "../agents/agents.ts";
import { type Agent, runAgent, type Settings } from "../agents/run-agent.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, model, type ModelAnswer, type ModelRequest } from "./hosted-scene.ts";

let notes: TestServer;
beforeAll(() => {
  notes = startTestServer({ era: "2026", call: ({ arguments: given }) => textResult(JSON.stringify(given)) });
});
afterAll(() => notes.stop());

/** Names of models with which the agents search for tools; this model answers to them. */
const toolSearchers = { Codex: "gpt-5.5", "Claude Code": "claude-opus-4-8" } as const;

const at = hostedScene(() => ({
  mcp: { servers: { notes: { url: notes.url } } },
  routing: { routes: Object.fromEntries(Object.values(toolSearchers).map((name) => [name, { tiers: [[{ model }]] }])) },
}));

const msMax = 600_000;

const question = "Search the web: how high is Mount Columbia?";

const claudeCode: Agent = {
  find: () => (agents["Claude Code"] as Agent).find(),
  start: ({ url, token, model: name }: Settings) => ({
    command: ["claude", "-p", question, "--allowedTools", "WebSearch"],
    variables: { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_MODEL: name, IS_SANDBOX: "1" },
  }),
};

const codex: Agent = {
  find: () => (agents["Codex"] as Agent).find(),
  start(settings) {
    const { command, files = {}, ...rest } = (agents["Codex"] as Agent).start(settings);
    const [name = "", config = ""] = Object.entries(files)[0] ?? [];
    const searching = `web_search = "live"\n${config}`;
    return { ...rest, command: [...command.slice(0, -1), question], files: { [name]: searching } };
  },
};

/** Their models search because the user dictates it, the one that Claude Code asks for the search itself too. */
const query = "height of Mount Columbia";
const dictated = `call:web_search ${JSON.stringify({ query })}`;
const claudeCodeDictated: Agent = {
  ...claudeCode,
  start(settings) {
    const { command, variables = {} } = claudeCode.start(settings);
    const prompt = `call:WebSearch ${JSON.stringify({ query: `${query}\n${dictated}` })}`;
    const asked = command.map((word) => (word === question ? prompt : word));
    return { command: asked, variables: { ...variables, ENABLE_TOOL_SEARCH: "false" } };
  },
};
const codexDictated: Agent = {
  ...codex,
  start(settings) {
    const { command, ...rest } = codex.start(settings);
    return { ...rest, command: [...command.slice(0, -1), dictated] };
  },
};

const elsewhere: readonly (readonly [string, Agent, string])[] = [
  ...["openai/gpt-5.5", "xai/grok-4.3", "deepseek/deepseek-chat", "mistral/mistral-small-latest"].map(
    (id) => ["Claude Code", claudeCodeDictated, id] as const,
  ),
  ...[
    "anthropic/claude-haiku-4-5",
    "deepseek/deepseek-chat",
    "mistral/mistral-small-latest",
    "byteplus/seed-1-8-251228",
  ].map((id) => ["Codex", codexDictated, id] as const),
];

const namesOf = ({ tools = [] }: ModelRequest): string[] => tools.map(({ function: { name } }) => name);
const textOf = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content));

/** The model searches with whatever the agent offers: its own function, which may have to be loaded, or ours of its hosted tool. */
function nextAnswer(request: ModelRequest): ModelAnswer {
  const names = namesOf(request);
  const results = request.messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
  const args = { query };
  if (results.some((text) => text.includes("3747"))) return { text: `I read: ${results.join(" ")}` };
  if (names.includes("WebSearch")) return { calls: [{ name: "WebSearch", args }] };
  if (names.includes("ToolSearch") && results.length === 0)
    return { calls: [{ name: "ToolSearch", args: { query: "select:WebSearch", max_results: 1 } }] };
  return names.includes("web_search") ? { calls: [{ name: "web_search", args }] } : { text: "ok" };
}

test.each([
  ["Claude Code", claudeCode],
  ...(process.env["AGENTS"] === "all" ? [["Codex", codex] as const] : []),
] as const)(
  "%s shows what was found",
  async (_name, agent) => {
    const found = await agent.find();
    if ("missing" in found) {
      console.log(`skipped: it can't be installed: ${found.missing}`);
      return;
    }
    const scene = at();
    scene.finds({ path: "/columbia", title: "Columbia facts", content: "It is 3747 m high." });
    scene.answers((request) => nextAnswer(request));
    const { url, token } = { url: scene.rig.gateway.url, token: scene.caller.token };
    const { printed } = await runAgent(agent, found.bin, { url, token, model });
    expect(printed).toContain(scene.url("/columbia"));
    expect(printed).toContain("3747 m high");
    expect(new Set(scene.queries)).toEqual(new Set([query]));
  },
  msMax,
);

test.skipIf(process.env["AGENTS"] !== "all").each(elsewhere)(
  "%s shows what was found, on a provider without the tool",
  async (_name, agent, id) => {
    const found = await agent.find();
    if ("missing" in found) {
      console.log(`skipped: it can't be installed: ${found.missing}`);
      return;
    }
    const scene = at();
    scene.finds({ path: "/columbia", title: "Columbia facts", content: "It is 3747 m high." });
    scene.queries.length = 0;
    const { url, token } = { url: scene.rig.gateway.url, token: scene.caller.token };
    const { printed } = await runAgent(agent, found.bin, { url, token, model: id });
    expect(printed).toContain(scene.url("/columbia"));
    expect(printed).toContain("3747 m high");
    expect(new Set(scene.queries)).toEqual(new Set([query]));
  },
  msMax,
);

/** What the agent offers for a search, and the tool that it finds; the model sees that only then. */
const searches = {
  Codex: { call: { name: "tool_search", args: { query: "notes echo" } }, tool: "echo" },
  "Claude Code": { call: { name: "ToolSearch", args: { query: "select:mcp__notes__echo" } }, tool: "mcp__notes__echo" },
} as const;

test.each(["Codex", "Claude Code"] as const)(
  "%s searches for a tool of a server on a model that knows chat alone, and calls it",
  async (name) => {
    const agent = agents[name] as Agent;
    const found = await agent.find();
    if ("missing" in found) {
      console.log(`skipped: it can't be installed: ${found.missing}`);
      return;
    }
    const scene = at();
    const { call, tool } = searches[name];
    scene.answers((request) => {
      const offered = namesOf(request);
      const results = request.messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
      if (results.some((text) => text.includes("remember me"))) return { text: "It is noted." };
      if (offered.includes(tool)) return { calls: [{ name: tool, args: { text: "remember me" } }] };
      return offered.includes(call.name) ? { calls: [call] } : { text: "ok" };
    });
    const before = notes.of("tools/call").length;
    const asked: Agent = {
      ...agent,
      start(settings) {
        const { command, variables = {}, ...rest } = agent.start(settings);
        const { ENABLE_TOOL_SEARCH: _, ...others } = variables;
        const prompted = command.map((word) => (word.startsWith("Please do this.") ? "Note it down." : word));
        return { ...rest, command: prompted, variables: others };
      },
    };
    const { url, token } = { url: scene.rig.gateway.url, token: scene.caller.token };
    const { printed } = await runAgent(asked, found.bin, { url, token, model: toolSearchers[name] });
    expect(printed).toContain("It is noted.");
    expect(notes.of("tools/call").slice(before)).toHaveLength(1);
    const rounds = scene.asked.filter((request) => namesOf(request).includes(call.name));
    expect(rounds.map((request) => namesOf(request).includes(tool))).toEqual([false, true, true]);
  },
  msMax,
);
