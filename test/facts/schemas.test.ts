/** Schemas at Claude, which takes few of their keywords; and calls that it refuses to be forced to. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { lastReceived, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  rig = await startRig();
  const { token: apiKey } = await rig.caller();
  openai = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: rig.gateway.url, apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const sent = (): Record<string, unknown> => JSON.parse(lastReceived(rig).body) as Record<string, unknown>;
const user = { role: "user" as const, content: "Hello." };

const schema = {
  type: "object" as const,
  properties: {
    a: { type: "integer", minimum: 1, maximum: 9, multipleOf: 2, description: "Even." },
    b: { type: "string", minLength: 2, pattern: "^a", format: "email" },
    c: { type: "array", items: { oneOf: [{ type: "string" }, { $ref: "#/$defs/D" }] }, minItems: 3 },
  },
  $defs: { D: { type: "object", properties: { e: { type: "number", exclusiveMinimum: 0 } }, required: ["e"] } },
  required: ["a", "b", "c"],
  additionalProperties: false,
};

/** The same as Anthropic's SDKs write it. */
const fitted = {
  type: "object",
  properties: {
    a: { type: "integer", description: "Even.\n\n{minimum: 1, maximum: 9, multipleOf: 2}" },
    b: { type: "string", format: "email", description: '{minLength: 2, pattern: "^a"}' },
    c: { type: "array", items: { anyOf: [{ type: "string" }, { $ref: "#/$defs/D" }] }, description: "{minItems: 3}" },
  },
  $defs: {
    D: {
      type: "object",
      properties: { e: { type: "number", description: "{exclusiveMinimum: 0}" } },
      required: ["e"],
      additionalProperties: false,
    },
  },
  required: ["a", "b", "c"],
  additionalProperties: false,
};

const model = "anthropic/claude-sonnet-4-6";

describe("an answer by a schema with bounds", () => {
  test("from Chat", async () => {
    const response_format = { type: "json_schema" as const, json_schema: { name: "x", strict: true, schema } };
    const { data, response } = await openai.chat.completions
      .create({ model, messages: [user], response_format })
      .withResponse();
    expect(JSON.parse(data.choices[0]?.message.content ?? "")).toHaveProperty("a");
    expect(response.headers.get("x-tollgate-changes")).toBe("schemas");
    expect(sent()["output_config"]).toEqual({ format: { type: "json_schema", schema: fitted } });
  });

  test("from Messages, whose bytes would pass", async () => {
    const body = { model, max_tokens: 500, messages: [user] };
    const output_config = { format: { type: "json_schema" as const, schema } };
    const { response } = await anthropic.messages.create({ ...body, output_config }).withResponse();
    expect(response.headers.get("x-tollgate-changes")).toBe("schemas");
    expect(sent()["output_config"]).toEqual({ format: { type: "json_schema", schema: fitted } });
    const fitting = { format: { type: "json_schema" as const, schema: fitted } };
    const again = await anthropic.messages.create({ ...body, output_config: fitting }).withResponse();
    expect(again.response.headers.get("x-tollgate-changes")).toBeNull();
  });

  test("from Responses, with a strict tool beside it", async () => {
    const tools = [{ type: "function" as const, name: "f", parameters: schema, strict: true }];
    const text = { format: { type: "json_schema" as const, name: "x", schema } };
    const { response } = await openai.responses.create({ model, input: "Hello.", text, tools }).withResponse();
    expect(response.headers.get("x-tollgate-changes")).toBe("schemas");
    expect(sent()["tools"]).toMatchObject([{ name: "f", input_schema: fitted, strict: true }]);
  });
});

test("other tools keep their keywords; alternatives at the top become one object", async () => {
  const parameters = {
    properties: { a: { type: "string", minLength: 2 } },
    oneOf: [
      { properties: { b: { type: "number" } }, required: ["a", "b"] },
      { properties: { c: { type: "boolean" } }, required: ["a", "c"] },
    ],
  };
  const functions = [
    { type: "function" as const, function: { name: "f", parameters } },
    { type: "function" as const, function: { name: "g", parameters: schema } },
  ];
  await openai.chat.completions.create({ model, messages: [user], tools: functions, reasoning_effort: "low" });
  expect(lastReceived(rig).path).toContain("/messages");
  const one = {
    type: "object",
    properties: { a: { type: "string", minLength: 2 }, b: { type: "number" }, c: { type: "boolean" } },
    required: ["a"],
    description: "Give the members of one of these sets: (a, b) or (a, c).",
  };
  expect(sent()["tools"]).toEqual([
    { name: "f", input_schema: one },
    { name: "g", input_schema: schema },
  ]);
});

describe("a forced tool at a model that refuses to be forced", () => {
  const newest = "anthropic/claude-opus-5-5";
  const described = { name: "extract", description: "Extracts it." };
  const members = { type: "object" as const, properties: { a: { type: "string" } }, required: ["a"] };

  test.each([false, true])(
    "is a call with arguments that fit, for a client of Messages; streamed: %p",
    async (stream) => {
      const tools = [{ ...described, input_schema: members }];
      const tool_choice = { type: "tool" as const, name: "extract" };
      const body = { model: newest, max_tokens: 500, messages: [user], tools, tool_choice };
      const { messages } = anthropic;
      const message = await (stream ? messages.stream(body).finalMessage() : messages.create(body));
      expect(message).toMatchObject({ stop_reason: "tool_use", content: [{ type: "tool_use", name: "extract" }] });
      const [call] = message.content;
      expect(call?.type === "tool_use" && call.input).toHaveProperty("a");
      expect(sent()).not.toHaveProperty("tools");
      expect(sent()["output_config"]).toMatchObject({
        format: { schema: { required: ["a"], additionalProperties: false } },
      });
    },
  );

  test.each([false, true])("and for one of chat; streamed: %p", async (stream) => {
    const tools = [{ type: "function" as const, function: { ...described, parameters: members } }];
    const body = { model: newest, messages: [user], tools, tool_choice: "required" as const };
    const { completions } = openai.chat;
    const { choices } = await (stream ? completions.stream(body).finalChatCompletion() : completions.create(body));
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    if (call?.type !== "function") throw new Error("no call");
    expect(call.function.name).toBe("extract");
    expect(JSON.parse(call.function.arguments)).toHaveProperty("a");
  });

  test("is asked for in the prompt if tools were called before, or if its arguments are open", async () => {
    const open = { type: "object" as const, additionalProperties: { type: "string" } };
    const tools = [{ ...described, input_schema: open }];
    const tool_choice = { type: "any" as const };
    const body = { model: newest, max_tokens: 500, messages: [user], tools, tool_choice };
    const { response } = await anthropic.messages.create(body).withResponse();
    expect(response.headers.get("x-tollgate-changes")).toBe("forced-tools");
    expect(sent()).toMatchObject({ tools, tool_choice: { type: "auto" } });
  });
});

test("an answer by a schema comes after the results of tools", async () => {
  const tools = [
    { type: "function" as const, function: { name: "f", parameters: { type: "object", properties: {} } } },
  ];
  const response_format = {
    type: "json_schema" as const,
    json_schema: { name: "x", schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
  };
  const body = { model: "openai/gpt-4o-mini", tools, response_format };
  const first = await openai.chat.completions.create({ ...body, messages: [user] });
  const message = first.choices[0]?.message;
  const id = message?.tool_calls?.[0]?.id;
  if (message === undefined || id === undefined) throw new Error("no call");
  const messages = [user, message, { role: "tool" as const, tool_call_id: id, content: "42" }];
  const last = await openai.chat.completions.create({ ...body, messages });
  expect(JSON.parse(last.choices[0]?.message.content ?? "")).toHaveProperty("a");
});
