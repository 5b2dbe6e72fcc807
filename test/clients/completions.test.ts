/** Legacy completions by the official SDK; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  askAgain,
  expectCharged,
  expectRefusal,
  flatPrice,
  lastReceived,
  newClient,
  post,
  type Rig,
  sha256,
  simulatedKey,
  startRig,
} from "../kit/index.ts";

const path = "/v1/completions";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream: { retries: 0 }, pricing: { models: { "*/some-base*": flatPrice } } },
    providers: ({ providers }) => ({
      local: { kind: "openai-compatible", base_url: providers["openai-compatible"], api_key: simulatedKey },
    }),
  });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

/** 20 characters: five tokens, and three around a prompt. */
const fox = "The quick brown fox.";

describe.each(["openai", "local"])("%s", (prefix) => {
  const model = `${prefix}/some-base-1`;

  test("a prompt: the upstream's bytes, charged by its usage", async () => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, path, caller.token, { model, prompt: fox, max_tokens: 4 });
    expect(lastReceived(rig).body).toBe(JSON.stringify({ model: "some-base-1", prompt: fox, max_tokens: 4 }));
    expect(sha256(await answer.arrayBuffer())).toBe(sha256(await (await askAgain(rig)).arrayBuffer()));
    // 8 tokens in at 1 credit a million, 4 out at 2.
    await expectCharged(rig, caller, answer, { nano: 16_000n, usage: { input: 8, output: 4, requests: 1 } });
  });

  test("several prompts and choices, as the SDK asks for them", async () => {
    const { client, caller } = await newClient(rig);
    const prompt = [fox, fox];
    const { data, response } = await client.completions
      .create({ model, prompt, max_tokens: 3, n: 2, best_of: 3 })
      .withResponse();
    expect(data.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    // Three of each prompt are generated, though two of them are answered.
    await expectCharged(rig, caller, response, { nano: 52_000n, usage: { input: 16, output: 18, requests: 1 } });
  });

  test.each([false, true])("a stream; the client asks for its usage: %p", async (asked) => {
    const { client, caller } = await newClient(rig);
    const options = asked ? { stream_options: { include_usage: true } } : {};
    const { data, response } = await client.completions
      .create({ model, prompt: fox, max_tokens: 5, stream: true, ...options })
      .withResponse();
    let text = "";
    let usages = 0;
    for await (const chunk of data) {
      text += chunk.choices[0]?.text ?? "";
      if (chunk.usage != null) usages += 1;
    }
    expect(text.trim().split(/\s+/)).toHaveLength(5);
    expect(usages).toBe(asked ? 1 : 0);
    expect(JSON.parse(lastReceived(rig).body)).toMatchObject({ stream_options: { include_usage: true } });
    await expectCharged(rig, caller, response, { nano: 18_000n, usage: { input: 8, output: 5, requests: 1 } });
  });

  test("without a reported usage, the charge is an estimate", async () => {
    const { client, caller } = await newClient(rig);
    await client.completions.create({ model: `${model}+no-usage`, prompt: fox, max_tokens: 4 });
    expect(await caller.closed()).toBeGreaterThan(5_000n);
  });

  test("a refusal of the upstream is relayed, and free", async () => {
    const { client, caller } = await newClient(rig);
    const thrown: unknown = await client.completions
      .create({ model, prompt: fox, temperature: 9 })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
    expect(await caller.closed()).toBe(0n);
  });
});

test.each<[object, string]>([
  [{ prompt: 7 }, "prompt"],
  [{ prompt: fox, n: 0 }, "n"],
  [{ prompt: fox, max_tokens: 1.5 }, "max_tokens"],
  [{ prompt: fox, stream: "yes" }, "stream"],
])("a body with %j is refused: %s", async (body, param) => {
  const { caller } = await newClient(rig);
  const before = rig.simulators.total();
  const answer = await post(rig, path, caller.token, { model: "openai/some-base-1", ...body });
  expectRefusal(answer, await answer.text(), { status: 422, code: "validation_failed", param, message: param });
  expect(rig.simulators.total()).toBe(before);
});

test("a provider without completions is not asked", async () => {
  const { caller } = await newClient(rig);
  const answer = await post(rig, path, caller.token, { model: "anthropic/claude-haiku-4-5", prompt: fox });
  const message = "The provider anthropic has no completion operation";
  expectRefusal(answer, await answer.text(), { status: 404, code: "unsupported_operation", param: "model", message });
});

test("without the credits for the worst case, nothing is sent", async () => {
  const token = await rig.gateway.token({ user: "poor", credits: 1_000n });
  const before = rig.simulators.total();
  const answer = await post(rig, path, token, { model: "openai/some-base-1", prompt: fox, max_tokens: 1_000 });
  expect(answer.status).toBe(402);
  expect(rig.simulators.total()).toBe(before);
});
