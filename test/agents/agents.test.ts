/**
 * Agents edit a file and run a command, on the provider that they are made for and on others. `AGENTS=all` runs each agent on
 * each model: `AGENTS=all npm test -- test/agents`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Rig, startRig } from "../kit/index.ts";
import { agents } from "./agents.ts";
import { runAgent } from "./run-agent.ts";

const models = {
  openai: "openai/gpt-5-mini",
  anthropic: "anthropic/claude-haiku-4-5",
  google: "google/gemini-2.5-flash",
  deepseek: "deepseek/deepseek-chat",
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
};

const providersOf = (name: string): readonly Provider[] =>
  process.env["AGENTS"] === "all" ? (Object.keys(models) as Provider[]) : (played[name] ?? []);

const msMax = 600_000;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
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
    const outcomes = await Promise.all(
      providers.map((provider) => runAgent(agent, found.bin, { url: rig.gateway.url, token, model: models[provider] })),
    );
    for (const [place, provider] of providers.entries()) {
      const { edited, copied, printed } = outcomes[place] ?? {};
      expect([provider, edited?.trim(), copied?.trim()], printed).toEqual([provider, "hello", "hello"]);
    }
  },
  msMax,
);
