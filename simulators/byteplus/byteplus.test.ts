import { afterAll, beforeAll, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "../index.ts";
import { bodyOf, chat, chunksOf, completionOf, member, post, weatherTool } from "../testing/client.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const ask = (body: unknown) => post(`${simulators.providers.byteplus}/chat/completions`, body);

test("errors are in camel case; the two limits exclude each other", async () => {
  const reply = await ask(chat("seed-1-6", "hi", { max_tokens: 5, max_completion_tokens: 5 }));
  expect(reply.status).toBe(400);
  expect(member(bodyOf(reply), "error")).toMatchObject({
    code: "InvalidParameter",
    type: "BadRequest",
    param: "max_completion_tokens",
  });
  expect(member(bodyOf(await ask({ messages: [] })), "error", "code")).toBe("MissingParameter");
  expect(member(bodyOf(await ask(chat("missing-x", "hi"))), "error", "code")).toBe("InvalidEndpointOrModel.NotFound");
});

test("usage of every chunk can be asked for", async () => {
  const stream_options = { chunk_include_usage: true };
  const chunks = chunksOf(await ask(chat("seed-1-6", "hi", { stream: true, stream_options })));
  expect(chunks.every((chunk) => typeof chunk.usage?.total_tokens === "number")).toBe(true);
});

test("reasoning has a field of its own and a call's content is empty, not null", async () => {
  const thinking = { type: "enabled" };
  const completion = completionOf(await ask(chat("seed-1-6", "hi", { thinking, tools: [weatherTool] })));
  expect(completion.choices[0]?.message.content).toBe("");
  expect(completion.choices[0]?.message.reasoning_content).toBeString();
});
