/**
 * Agents edit a file and run a command, on the provider that they are made for and on others. `AGENTS=all npm test -- test/agents`
 * runs Claude Code, Codex, opencode, Qwen Code and Gemini CLI on all seven providers, and further agents on four of them.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Rig, startRig } from "../kit/index.ts";
import { startTestServer, textResult } from "../tools/tool-server.ts";
import { agents } from "./agents.ts";
import { runAgent } from "./run-agent.ts";

const models = {
  // Its functions go to Responses, whatever the client speaks.
  openai: "openai/gpt-5.5",
  anthropic: "anthropic/claude-haiku-4-5",
  google: "google/gemini-2.5-flash",
  deepseek: "deepseek/deepseek-chat",
  mistral: "mistral/mistral-small-latest",
  xai: "xai/grok-4.3",
  byteplus: "byteplus/seed-1-8-251228",
} as const;

type Provider = keyof typeof models;

/**
 * Those that are played always, since a run takes up to 7 s of CPU: Claude Code and Codex on their own provider, and each provider
 * behind agents of two dialects. The other agents are started by test/client-blocks.
 */
const played: Readonly<Record<string, readonly Provider[]>> = {
  "Claude Code": ["anthropic", "openai", "google"],
  Codex: ["openai", "anthropic", "deepseek"],
  opencode: ["google"],
  aider: ["deepseek"],
  "Gemini CLI": ["google"],
};

/** Further agents, on those that they are used with. */
const four: readonly Provider[] = ["openai", "anthropic", "google", "deepseek"];
const everywhere: ReadonlySet<string> = new Set(["Claude Code", "Codex", "opencode", "Qwen Code", "Gemini CLI"]);

function providersOf(name: string): readonly Provider[] {
  if (process.env["AGENTS"] !== "all") return played[name] ?? [];
  return everywhere.has(name) ? (Object.keys(models) as Provider[]) : four;
}

/** Runs of one agent at the same time: each has its own time limit, and takes a processor. */
const AT_ONCE = 3;

const msMax = 1_200_000;

const notes = startTestServer({ era: "2026", call: ({ arguments: given }) => textResult(JSON.stringify(given)) });
/** Those that call its tool too. Codex lets models of OpenAI search for tools first, which the simulated one does not. */
const callers: Readonly<Record<string, (provider: Provider) => boolean>> = {
  "Claude Code": () => true,
  Codex: (provider) => provider !== "openai",
};

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { mcp: { servers: { notes: { url: notes.url } } } } });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await notes.stop();
});

const entries = Object.entries(agents).map(([name, agent]) => [name, agent, providersOf(name)] as const);

test.each(entries.filter(([, , providers]) => providers.length > 0))(
  "%s edits a file and runs a command",
  async (name, agent, providers) => {
    const found = await agent.find();
    if ("missing" in found) {
      console.log(`skipped: ${name} can't be installed: ${found.missing}`);
      return;
    }
    const { token } = await rig.caller();
    const play = (provider: Provider) =>
      runAgent(agent, found.bin, { url: rig.gateway.url, token, model: models[provider] });
    const before = notes.of("tools/call").length;
    for (let place = 0; place < providers.length; place += AT_ONCE) {
      const some = providers.slice(place, place + AT_ONCE);
      for (const [index, { edited, copied, printed }] of (await Promise.all(some.map(play))).entries()) {
        const provider = some[index];
        expect([provider, edited?.trim(), copied?.trim()], printed).toEqual([provider, "hello", "hello"]);
      }
    }
    const noted = notes.of("tools/call").slice(before);
    expect(noted.map(({ params }) => params["arguments"])).toEqual(
      providers.filter((provider) => callers[name]?.(provider)).map(() => ({ text: "hello" })),
    );
  },
  msMax,
);
