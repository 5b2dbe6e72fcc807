import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { bodyOf, chat, chunksOf, completionOf, get, listOf, member, post, weatherTool } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.mistral}/chat/completions`, body);

test.each(["stream_options", "max_completion_tokens", "seed", "user", "store", "logit_bias"])(
  "refuses %s",
  async (field) => {
    const reply = await ask(chat("mistral-small-latest", "hi", { stream: true, [field]: {} }));
    expect(reply.status).toBe(422);
    expect(member(bodyOf(reply), "detail", 0)).toMatchObject({ type: "extra_forbidden", loc: ["body", field] });
  },
);

test("usage is always in the last chunk, together with its choices", async () => {
  const chunks = chunksOf(await ask(chat("mistral-small-latest", "hi", { stream: true })));
  expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }], usage: { total_tokens: 14 } });
  expect(chunks.slice(0, -1).every((chunk) => !("usage" in chunk))).toBe(true);
});

test("thinking makes the content a list of chunks", async () => {
  const body = chat("mistral-small-latest", "hi", { reasoning_effort: "high" });
  const content: unknown = completionOf(await ask(body)).choices[0]?.message.content;
  expect(content).toMatchObject([{ type: "thinking", thinking: [{ type: "text" }] }, { type: "text" }]);
  const chunks = chunksOf(await ask({ ...body, stream: true }));
  expect(chunks[1]?.choices[0]?.delta.content).toMatchObject([{ type: "thinking" }]);
});

test("errors are flat; tool ids have nine characters; the last message must not be the assistant's", async () => {
  expect(bodyOf(await ask(chat("missing-model", "hi")))).toMatchObject({
    object: "error",
    type: "invalid_model",
    code: "1500",
  });
  const completion = completionOf(
    await ask(chat("mistral-small-latest", "hi", { tools: [weatherTool], tool_choice: "any" })),
  );
  expect(completion.choices[0]?.message.tool_calls?.[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  const messages = [
    { role: "user", content: "hi" },
    { role: "assistant", content: "ho" },
  ];
  expect((await ask({ model: "mistral-small-latest", messages })).status).toBe(400);
});

test("the listing contains the context length", async () => {
  const data = listOf(await get(`${simulators.providers.mistral}/models`), "data");
  expect(data[0]).toMatchObject({
    id: "mistral-small-latest",
    max_context_length: 131_072,
    capabilities: { completion_chat: true },
  });
});

test("an image may be a plain address; a failed generation ends with an error", async () => {
  const content = [{ type: "image_url", image_url: "https://example.com/a.png" }];
  const seen = completionOf(await ask({ model: "mistral-small-latest", messages: [{ role: "user", content }] }));
  expect(seen.choices[0]?.message.content).toContain("I see image https://example.com/a.png.");
  const [choice] = completionOf(await ask(chat("mistral-small-latest+failed", "hi"))).choices;
  expect(choice?.finish_reason).toBe("error");
});
