/** A client that expects thoughts, in its own dialect's way, gets them from providers that show them on demand. */
import { expect, test } from "bun:test";
import { parseBody } from "../bodies/index.ts";
import type { JsonObject } from "../core/index.ts";
import {
  chatCodec,
  chatRequest,
  messagesCodec,
  messagesRequest,
  responsesCodec,
  responsesRequest,
} from "../dialects/index.ts";
import { targetOf, textOf } from "../sending/__fixtures__/upstreams.ts";
import { openTextExchange } from "./exchange-text.ts";

const rest = { requestId: "req_abc", at: 5_000, request: undefined };
const hello = { role: "user", content: "hi" };

const bodyOf = (exchange: ReturnType<typeof openTextExchange>): JsonObject =>
  JSON.parse(textOf(exchange.requests()[0].body)) as JsonObject;

function fromMessages(model: string, more: JsonObject, to: "chat" | "responses" = "chat"): JsonObject {
  const body = { model, max_tokens: 64_000, messages: [hello], ...more };
  const parsed = parseBody(Buffer.from(JSON.stringify(body)), messagesRequest, messagesCodec.measured);
  return bodyOf(openTextExchange({ ...rest, parsed, target: targetOf(model, [to]) }, messagesCodec));
}

function fromResponses(model: string, reasoning: JsonObject): JsonObject {
  const body = { model, input: "hi", reasoning };
  const parsed = parseBody(Buffer.from(JSON.stringify(body)), responsesRequest, responsesCodec.measured);
  return bodyOf(openTextExchange({ ...rest, parsed, target: targetOf(model, ["chat"]) }, responsesCodec));
}

function fromChat(model: string, more: JsonObject): JsonObject {
  const body = { model, messages: [hello], ...more };
  const parsed = parseBody(Buffer.from(JSON.stringify(body)), chatRequest, chatCodec.measured);
  return bodyOf(openTextExchange({ ...rest, parsed, target: targetOf(model, ["responses"]) }, chatCodec));
}

const budget = (tokens: number) => ({ thinking: { type: "enabled", budget_tokens: tokens } });
const adaptive = (effort?: string) => ({
  thinking: { type: "adaptive" },
  ...(effort === undefined ? {} : { output_config: { effort } }),
});
const config = (more: JsonObject) => ({ google: { thinking_config: { include_thoughts: true, ...more } } });

test.each<[string, JsonObject, JsonObject]>([
  ["gemini-2.5-flash", budget(2_000), { thinking_budget: 2_000 }],
  ["gemini-2.5-pro", budget(60_000), { thinking_budget: 24_576 }],
  ["gemini-2.5-pro", adaptive(), {}],
  ["gemini-2.5-pro", adaptive("medium"), { thinking_budget: 8_192 }],
  ["gemini-3-pro-preview", budget(2_000), { thinking_level: "low" }],
  ["gemini-3-pro-preview", adaptive("medium"), {}],
  ["gemini-3.5-flash", adaptive("max"), { thinking_level: "high" }],
])("Google's %s is asked for thoughts by a client of Messages: %j", (model, wish, expected) => {
  const body = fromMessages(`google/${model}`, wish);
  expect(body["extra_body"]).toEqual(config(expected));
  expect(body).not.toHaveProperty("reasoning_effort");
});

test("and by one of Responses that wants a summary", () => {
  const body = fromResponses("google/gemini-3-pro-preview", { effort: "high", summary: "auto" });
  expect(body["extra_body"]).toEqual(config({ thinking_level: "high" }));
  expect(fromResponses("google/gemini-3-pro-preview", { effort: "high" })).toMatchObject({ reasoning_effort: "high" });
});

test.each<[string, JsonObject]>([
  ["gemini-2.5-flash", {}],
  ["gemini-2.5-flash", { thinking: { type: "disabled" } }],
  ["gemini-2.5-flash", { thinking: { type: "adaptive", display: "omitted" } }],
  ["gemini-2.5-flash-image", adaptive("high")],
  ["gemini-2.0-flash", budget(2_000)],
])("Google's %s is not for %j", (model, wish) => {
  expect(fromMessages(`google/${model}`, wish)).not.toHaveProperty("extra_body");
});

test.each<[JsonObject, JsonObject | undefined]>([
  [budget(2_000), { effort: "low", summary: "auto" }],
  [adaptive("max"), { effort: "high", summary: "auto" }],
  [adaptive(), { summary: "auto" }],
  [{ thinking: { type: "adaptive", display: "omitted" } }, undefined],
  [{ thinking: { type: "disabled" } }, undefined],
  [{}, undefined],
])("OpenAI is asked for a summary in Responses by a client of Messages: %j", (wish, expected) => {
  expect(fromMessages("openai/gpt-5-mini", wish, "responses")["reasoning"]).toEqual(expected as JsonObject);
});

test("and by one of chat that asks for an effort", () => {
  const body = fromChat("openai/gpt-5-mini", { reasoning_effort: "low", temperature: 0.5 });
  expect(body).toMatchObject({ reasoning: { effort: "low", summary: "auto" }, store: false });
  expect(body).not.toHaveProperty("temperature");
  expect(fromChat("openai/gpt-5-mini", { reasoning_effort: "none" })["reasoning"]).toBeUndefined();
});

test("a model that does not think gets no such wish", () => {
  const body = fromMessages("openai/gpt-4o-mini", { ...budget(2_000), temperature: 1 }, "responses");
  expect(body).toMatchObject({ model: "gpt-4o-mini", temperature: 1 });
  expect(body).not.toHaveProperty("reasoning");
});
