/** Public reports about other gateways: thinking, schemas, compaction and hosted items on the way to another dialect. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, messagesPath, responsesPath } from "../kit/index.ts";
import { answerAt, type ReportAnswer, type JsonBody, type Scene, startScene } from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.stop());

const SONNET = "claude-sonnet-4-6";
const hello = { role: "user", content: "hi" };
const object = { type: "object", properties: {} };

/** Asks for a model, and returns the body that its upstream got. */
async function sentTo(path: string, model: string, body: JsonBody): Promise<JsonBody> {
  const asked = await askFor(path, model, body);
  expect(asked.status, asked.text).toBe(200);
  return asked.sent?.body ?? {};
}

function askFor(path: string, model: string, body: JsonBody): Promise<ReportAnswer> {
  return scene.ask(path, { model, ...body }, answerAt);
}

describe("OmniRoute 2647: the effort reaches Claude's thinking, with room for the answer", () => {
  test.each([
    [
      "messages",
      responsesPath,
      { input: "x", reasoning: { effort: "high", summary: "auto" }, max_output_tokens: 5_000 },
    ],
    ["anthropic", responsesPath, { input: "x", reasoning: { effort: "high" }, max_output_tokens: 5_000 }],
    ["anthropic", chatPath, { messages: [hello], reasoning_effort: "high", max_tokens: 5_000 }],
    ["anthropic", chatPath, { messages: [hello], reasoning: { effort: "high" }, max_tokens: 5_000 }],
    ["messages", chatPath, { messages: [hello], reasoning: { effort: "high" }, max_tokens: 5_000 }],
  ])("%s, %s", async (provider, path, body) => {
    const sent = await sentTo(path, `${provider}/${SONNET}`, body);
    const { type, budget_tokens: budget } = sent["thinking"] as { type: string; budget_tokens: number };
    expect(type).toBe("enabled");
    expect(budget).toBeGreaterThanOrEqual(1_024);
    expect(budget).toBeLessThanOrEqual(5_000 - 1_024);
    expect(sent).not.toHaveProperty("reasoning");
  });

  test.each([{ reasoning: { effort: "high" } }, { thinking: { type: "enabled", budget_tokens: 12_000 } }])(
    "%j in chat is an effort at OpenAI",
    async (members) => {
      const sent = await sentTo(chatPath, "openai/gpt-5", { messages: [hello], ...members });
      expect(typeof sent["reasoning_effort"]).toBe("string");
      expect(Object.keys(sent)).not.toContain(Object.keys(members)[0] ?? "");
    },
  );

  test("hermes-agent 23435: the effort at Grok's models that have none is left out", async () => {
    const members = { thinking: { type: "adaptive" }, output_config: { effort: "high" } };
    const sent = await sentTo(messagesPath, "xai/grok-4-0709", { max_tokens: 100, messages: [hello], ...members });
    expect(sent).not.toHaveProperty("reasoning_effort");
  });

  test.each([
    ["openai/gpt-5", "xhigh", "high"],
    ["openai/gpt-5.2", "xhigh", "xhigh"],
    ["mistral/mistral-medium-latest", "max", "high"],
  ])("%s: the effort %s of Messages is %s", async (model, effort, sentEffort) => {
    const members = { thinking: { type: "adaptive" }, output_config: { effort } };
    const sent = await sentTo(messagesPath, model, { max_tokens: 100, messages: [hello], ...members });
    expect(sent["reasoning_effort"]).toBe(sentEffort);
  });
});

describe("laravel/ai 715, litellm PR 20813: schemas", () => {
  const schema = {
    type: "object",
    properties: {
      a: { type: "integer", minimum: 1, maximum: 9 },
      b: { type: "string", minLength: 2, pattern: "^a", format: "email" },
      c: { type: "array", items: { type: "string" }, minItems: 3 },
      d: { $ref: "#/$defs/D" },
    },
    $defs: {
      D: { type: "object", properties: { e: { oneOf: [{ type: "string" }, { type: "null" }] } }, required: ["e"] },
    },
    required: ["a"],
    additionalProperties: false,
  };

  test("for an answer reach Claude without the keywords that it refuses, which it is told", async () => {
    const format = { type: "json_schema", json_schema: { name: "x", strict: true, schema } };
    const sent = await sentTo(chatPath, `messages/${SONNET}`, { messages: [hello], response_format: format });
    const text = JSON.stringify((sent["output_config"] as JsonBody)["format"]);
    for (const keyword of ["minimum", "maximum", "minLength", "pattern", "minItems", "oneOf"]) {
      expect(text).not.toContain(`"${keyword}":`);
    }
    expect(text).toContain("$defs");
    expect(text).toContain("minimum");
  });

  test("with alternatives at the top are one object at Claude", async () => {
    const parameters = { oneOf: [object, { type: "object", properties: { a: { type: "string" } } }] };
    const tools = [{ type: "function", function: { name: "f", parameters } }];
    const sent = await sentTo(chatPath, "messages/m", { messages: [hello], tools });
    expect(sent["tools"]).toMatchObject([{ name: "f", input_schema: { type: "object" } }]);
    expect(JSON.stringify(sent["tools"])).not.toContain("oneOf");
  });

  test("of a tool keep the keywords that Google reads", async () => {
    const input_schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      properties: { a: { type: ["string", "null"], format: "uri" } },
    };
    const body = { max_tokens: 10, messages: [hello], tools: [{ name: "f", input_schema }] };
    const sent = await sentTo(messagesPath, "google/m", body);
    expect(sent["tools"]).toMatchObject([{ function: { name: "f", parameters: { type: "object" } } }]);
  });
});

test("an error that the gateway makes names the changes", async () => {
  const body = { model: "openai/gpt-5.2", messages: [hello], reasoning_effort: "max" };
  const { status, headers } = await scene.ask(chatPath, body, new Response("<html>"));
  expect([status, headers.get("x-tollgate-changes")]).toEqual([502, "efforts"]);
  expect(headers.get("content-type")).toContain("application/json");
});

test("a forced tool while Claude thinks", async () => {
  const tools = [{ type: "function", function: { name: "f", parameters: object } }];
  const body = { messages: [hello], tools, tool_choice: "required", reasoning_effort: "high", max_tokens: 9_000 };
  const sent = await sentTo(chatPath, `messages/${SONNET}`, body);
  // Anthropic refuses both together (docs/wire/anthropic.md).
  const thinks = (sent["thinking"] as JsonBody | undefined)?.["type"] === "enabled";
  const isForced = (sent["tool_choice"] as JsonBody | undefined)?.["type"] === "any";
  expect([thinks && isForced, thinks || isForced]).toEqual([false, true]);
});

describe("cc-switch 1144, new-api 5965, copilot-api 359: Codex compacts at another provider", () => {
  test.each([`messages/${SONNET}`, "mistral/m"])("%s makes a summary", async (model) => {
    const body = { input: [{ role: "user", content: "hi" }, { type: "compaction_trigger" }] };
    const asked = await askFor(responsesPath, model, body);
    expect(asked.status, asked.text).toBe(200);
    expect(asked.body).toMatchObject({ output: [{ type: "compaction" }] });
    // It is taken back.
    const [item] = asked.body["output"] as JsonBody[];
    const sent = await sentTo(responsesPath, "deepseek/deepseek-chat", { input: [item, hello] });
    expect(JSON.stringify(sent["input"])).toContain("ok");
  });

  test("one that only its maker can read is refused with the way out", async () => {
    const input = [{ type: "compaction", id: "cmp_1", encrypted_content: "abc" }, hello];
    const { status, body, sent } = await askFor(responsesPath, "deepseek/deepseek-chat", { input });
    expect([status, sent]).toEqual([422, undefined]);
    expect(JSON.stringify(body)).toContain("input.0");
  });
});

describe("hosted items in a history", () => {
  test("of OpenAI at Mistral", async () => {
    const sent = await sentTo(responsesPath, "mistral/m", {
      input: [
        hello,
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
        { role: "assistant", content: [{ type: "output_text", text: "found" }] },
        { role: "user", content: "more" },
      ],
    });
    expect((sent["messages"] as JsonBody[]).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("of Anthropic at OpenAI", async () => {
    const results = [{ type: "web_search_result", url: "https://a", title: "Title", encrypted_content: "e" }];
    const sent = await sentTo(messagesPath, "openai/gpt-5", {
      max_tokens: 100,
      messages: [
        hello,
        {
          role: "assistant",
          content: [
            { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
            { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: results },
            { type: "text", text: "found" },
          ],
        },
        { role: "user", content: "more" },
      ],
    });
    expect(JSON.stringify(sent["messages"])).toContain("https://a");
  });
});
