/** `POST /v1/responses/input_tokens` by the official SDK: by the provider that counts, else by an estimate; always free. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { expectSpent, lastReceived, newClient, post, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const input = "The quick brown fox jumps over the lazy dog.";

test("OpenAI counts", async () => {
  const { client, caller } = await newClient(rig);
  const counted = await client.responses.inputTokens.count({
    model: "openai/gpt-5-mini",
    input,
    instructions: "Be brief.",
  });
  expect(counted).toEqual({ object: "response.input_tokens", input_tokens: expect.any(Number) as number });
  const { path, body } = lastReceived(rig);
  expect(path).toBe("/openai/v1/responses/input_tokens");
  expect(JSON.parse(body)).toEqual({ model: "gpt-5-mini", input, instructions: "Be brief." });
  await expectSpent(rig, caller, 0n);
});

test.each(["xai/grok-4", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash", "byteplus/seed-1-8-251228"])(
  "for %s it is an estimate, and nothing is sent",
  async (model) => {
    const { client, caller } = await newClient(rig);
    const before = rig.simulators.total();
    const few = await client.responses.inputTokens.count({ model, input });
    const more = await client.responses.inputTokens.count({ model, input: input.repeat(10) });
    expect(few.input_tokens).toBeGreaterThan(5);
    expect(more.input_tokens).toBeGreaterThan(few.input_tokens * 5);
    expect(rig.simulators.total()).toBe(before);
    await expectSpent(rig, caller, 0n);
  },
);

describe("a conversation that is continued", () => {
  test.each(["openai/gpt-5-mini", "google/gemini-2.5-flash"])("counts what was said before: %s", async (model) => {
    const { client } = await newClient(rig);
    const first = await client.responses.create({ model, input: input.repeat(10) });
    const alone = await client.responses.inputTokens.count({ model, input });
    const next = await client.responses.inputTokens.count({ model, input, previous_response_id: first.id });
    expect(next.input_tokens).toBeGreaterThan(alone.input_tokens + 90);
  });

  test.each(["openai/gpt-5-mini", "google/gemini-2.5-flash"])("is not another user's: %s", async (model) => {
    const [{ client: alice }, { client: bob }] = [await newClient(rig), await newClient(rig)];
    const { id } = await alice.responses.create({ model, input });
    const before = rig.simulators.total();
    const refused: unknown = await bob.responses.inputTokens
      .count({ model, input, previous_response_id: id })
      .catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(OpenAI.NotFoundError);
    expect(rig.simulators.total()).toBe(before);
  });
});

test("a body without an input is counted, and one of the wrong shape is refused", async () => {
  const { caller } = await newClient(rig);
  const path = "/v1/responses/input_tokens";
  const answered = await post(rig, path, caller.token, { model: "google/gemini-2.5-flash", instructions: "Be brief." });
  expect(await answered.json()).toMatchObject({ object: "response.input_tokens" });
  const refused = await post(rig, path, caller.token, { model: "openai/gpt-5-mini", input: 7 });
  expect(refused.status).toBe(422);
});
