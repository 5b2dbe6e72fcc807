/** Agents edit a file and run a command, on the provider that they are made for and on others. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Rig, startRig } from "../kit/index.ts";
import { agents, run } from "./agents.ts";

const models = ["anthropic/claude-haiku-4-5", "openai/gpt-5-mini", "google/gemini-2.5-flash"] as const;

const msMax = 600_000;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

describe.each(agents.map((agent) => [agent.name, agent] as const))("%s", (name, agent) => {
  test(
    `works on ${models.join(", ")}`,
    async () => {
      const found = await agent.find();
      if ("missing" in found) {
        console.log(`skipped: ${name} can't be installed: ${found.missing}`);
        return;
      }
      const { token } = await rig.caller();
      const runs = models.map((model) => run(agent, found.bin, { url: rig.gateway.url, token, model }));
      for (const [index, { edited, copied, printed }] of (await Promise.all(runs)).entries()) {
        expect([models[index], edited?.trim(), copied?.trim()], printed).toEqual([models[index], "hello", "hello"]);
      }
    },
    msMax,
  );
});
