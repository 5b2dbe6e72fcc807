/** Writes to a cache are held and charged by the lifetime that was asked for, and by the shares in the answer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startSimulators, type Simulators } from "../../simulators/index.ts";
import { chatPath, expectCleanAudit, type Gateway, messagesPath, responsesPath, startGateway } from "../kit/index.ts";

let simulators: Simulators;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  simulators = await startSimulators();
  const { openai, anthropic } = simulators.providers;
  gateway = await startGateway({
    providers: {
      openai: { kind: "openai", base_url: openai, api_key: "unused" },
      anthropic: { kind: "anthropic", base_url: anthropic, api_key: "unused" },
    },
    config: { pricing: { models: {} } },
  });
  token = await gateway.token({ user: "ann", credits: 1_000_000_000_000n });
});
afterAll(async () => {
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
  await simulators.stop();
});

async function call(path: string, body: object, by = token): Promise<{ answer: Response; text: string }> {
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${by}`, "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  return { answer, text: await answer.text() };
}

async function recordOf({ headers }: Response): Promise<{ credits: number; usage: Record<string, number> }> {
  const answer = await fetch(`${gateway.url}/v1/generations/${headers.get("x-request-id")}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()) as { credits: number; usage: Record<string, number> };
}

/** 10,000 tokens and three more for the message. */
const text = "x".repeat(40_000);
const written = 10_003;

const response = (ttl: string | undefined, more: object = {}) => ({
  model: "openai/gpt-6-astra",
  max_output_tokens: 256,
  store: false,
  input: [
    { role: "user", content: [{ type: "input_text", text, prompt_cache_breakpoint: { mode: "explicit", ttl } }] },
  ],
  ...more,
});

const chat = (ttl: string | undefined, more: object = {}) => ({
  model: "openai/gpt-6-astra",
  max_completion_tokens: 256,
  messages: [{ role: "user", content: [{ type: "text", text, prompt_cache_breakpoint: { mode: "explicit", ttl } }] }],
  ...more,
});

describe("gpt-6-astra, 12.5 per million for 30 minutes and 25 for 12 hours", () => {
  const options = { prompt_cache_options: { mode: "explicit", ttl: "12h" } };

  test.each<[string, string, object, number]>([
    ["Responses, 30 minutes", responsesPath, response("30m"), 12.5],
    ["Responses, the default", responsesPath, response(undefined), 12.5],
    ["Responses, 12 hours", responsesPath, response("12h"), 25],
    ["Responses, 12 hours by its options", responsesPath, response(undefined, options), 25],
    ["Responses, streamed", responsesPath, response("12h", { stream: true }), 25],
    ["chat, 30 minutes", chatPath, chat("30m"), 12.5],
    ["chat, 12 hours, not split by the answer", chatPath, chat("12h"), 25],
    ["chat, 12 hours by its options", chatPath, chat(undefined, options), 25],
    ["chat, streamed", chatPath, chat("12h", { stream: true }), 25],
  ])("%s", async (_title, path, body, price) => {
    const { answer, text: got } = await call(path, body);
    expect(answer.status, got.slice(0, 300)).toBe(200);
    const { credits, usage } = await recordOf(answer);
    const [short, long] = price === 25 ? [0, written] : [written, 0];
    expect(usage).toMatchObject({ input: 0, cache_write_5m: short, cache_write_1h: long });
    const output = (usage["output"] ?? 0) + (usage["reasoning"] ?? 0);
    expect(credits).toBeCloseTo((written * price + output * 50) / 1e6, 9);
  });

  test("is held at the lifetime that was asked for", async () => {
    // 40,000 bytes at 12.5 are 0.5, at 25 they are 1; 256 tokens of output are 0.0128.
    const poor = await gateway.token({ user: "poor", credits: 800_000_000n });
    expect((await call(responsesPath, response("12h"), poor)).answer.status).toBe(402);
    expect((await call(chatPath, chat("12h"), poor)).answer.status).toBe(402);
    expect((await call(responsesPath, response("30m"), poor)).answer.status).toBe(200);
  });
});

test.each<[string, string, object, string]>([
  ["of a breakpoint", responsesPath, response("24h"), "prompt_cache_breakpoint.ttl"],
  ["of the options", chatPath, chat(undefined, { prompt_cache_options: { ttl: "1y" } }), "prompt_cache_options.ttl"],
  [
    "of a mark",
    messagesPath,
    {
      model: "anthropic/claude-haiku-4-5",
      max_tokens: 10,
      messages: [
        { role: "user", content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral", ttl: "2h" } }] },
      ],
    },
    "cache_control.ttl",
  ],
])("a lifetime %s that has no price is refused by name", async (_title, path, body, param) => {
  const { answer, text: got } = await call(path, body);
  expect(answer.status).toBe(422);
  expect(got).toContain(param);
});
