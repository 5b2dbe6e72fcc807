/** Moderations by the official SDK: OpenAI's are free, Mistral's are charged by their texts. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
  askAgain,
  expectRefusal,
  expectSpent,
  lastReceived,
  newClient,
  post,
  type Rig,
  sha256,
  startRig,
} from "../kit/index.ts";

const path = "/v1/moderations";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { pricing: { models: {} } } });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

test.each<[string, bigint]>([
  ["openai/omni-moderation-latest", 0n],
  // Ten tokens, at four characters each, at 0.1 credits a million.
  ["mistral/mistral-moderation-latest", 1_000n],
])("%s judges each text", async (model, nano) => {
  const { client, caller } = await newClient(rig);
  const { results } = await client.moderations.create({
    model,
    input: ["I love harbours", "I hate it so much, truly."],
  });
  expect(results).toHaveLength(2);
  expect(Object.values(results[0]?.categories ?? {})).not.toContain(true);
  expect(Object.values(results[1]?.categories ?? {})).toContain(true);
  await expectSpent(rig, caller, nano);
});

test("images are judged where the provider does", async () => {
  const { client, caller } = await newClient(rig);
  const { results } = await client.moderations.create({
    model: "openai/omni-moderation-latest",
    input: [
      { type: "text", text: "a picture of violence" },
      { type: "image_url", image_url: { url: "https://pictures.example/cat.png" } },
    ],
  });
  expect(results[0]?.flagged).toBe(true);
  await expectSpent(rig, caller, 0n);
});

test("the bytes are the upstream's", async () => {
  const { caller } = await newClient(rig);
  const answer = await post(rig, path, caller.token, { model: "openai/omni-moderation-latest", input: "hello" });
  expect(lastReceived(rig).body).toBe('{"model":"omni-moderation-latest","input":"hello"}');
  expect(sha256(await answer.arrayBuffer())).toBe(sha256(await (await askAgain(rig)).arrayBuffer()));
});

test("a provider without moderations is not asked, nor is one without a price", async () => {
  const { caller } = await newClient(rig);
  const refusalTo = async (model: string) => {
    const answer = await post(rig, path, caller.token, { model, input: "hello" });
    return { answer, text: await answer.text() };
  };
  const xai = await refusalTo("xai/grok-4");
  const message = "The provider xai has no moderation operation";
  expectRefusal(xai.answer, xai.text, { status: 404, code: "unsupported_operation", param: "model", message });
  const unknown = await refusalTo("openai/no-such-moderation");
  expect([unknown.answer.status, unknown.text.includes("model_unpriced")]).toEqual([404, true]);
});

test.each<[object, string]>([
  [{}, "input"],
  [{ input: [] }, "input"],
  [{ input: "x", stream: true }, "stream"],
])("a body with %j is refused: %s", async (body, param) => {
  const { caller } = await newClient(rig);
  const answer = await post(rig, path, caller.token, { model: "openai/omni-moderation-latest", ...body });
  expectRefusal(answer, await answer.text(), { status: 422, code: "validation_failed", param, message: param });
});
