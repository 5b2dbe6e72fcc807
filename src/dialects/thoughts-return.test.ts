/** What a chat upstream sends with its thoughts returns to it, through clients of each dialect, and to nobody else. */
import { describe, expect, test } from "bun:test";
import type { Dialect, JsonObject, ModelFacts } from "../core/index.ts";
import { type Answer, collectAnswer } from "./conversation/index.ts";
import { chatUpstream, clientOf } from "../../test/kit/dialects/contexts.ts";
import { ChatStreamReader } from "./chat/answers/stream-reader.ts";
import { textOfDetail } from "./chat/thought-data.ts";
import { translations } from "./index.ts";

const dialects: readonly Dialect[] = ["chat", "messages", "responses", "gemini"];
const origin = "up";
const call = { id: "call_1", type: "function", function: { name: "f", arguments: '{"x":1}' } };

const contextOf = (facts: ModelFacts) => ({ ...chatUpstream, ...facts, origin });

function readWhole(message: JsonObject, facts: ModelFacts): Answer {
  const choice = { index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "tool_calls" };
  return translations.chat.readAnswer({ choices: [choice] }, contextOf(facts));
}

function readStream(deltas: readonly JsonObject[], facts: ModelFacts): Answer {
  const reader = new ChatStreamReader(contextOf(facts));
  const chunks = deltas.map((delta) => JSON.stringify({ choices: [{ index: 0, delta }] }));
  return collectAnswer([...chunks, "[DONE]"].flatMap((data) => [...reader.read(data)]));
}

const asked = { role: "user", content: "hi" };

const asksForThoughts = { generationConfig: { thinkingConfig: { includeThoughts: true } } };

/** The client's next request: the answer, the result of its call and, with `more`, another question. */
function nextRequest(dialect: Dialect, answer: Answer, more: boolean): JsonObject {
  const said = JSON.parse(translations[dialect].writeAnswer(answer, clientOf(asksForThoughts))) as Record<
    string,
    never[]
  >;
  const again = more ? [{ role: "user", content: "and now?" }] : [];
  switch (dialect) {
    case "chat": {
      const [{ message } = {}] = said["choices"] as unknown as { message?: JsonObject }[];
      return {
        model: "m",
        messages: [asked, message, { role: "tool", tool_call_id: "call_1", content: "2" }, ...again],
      };
    }
    case "messages": {
      const result = { type: "tool_result", tool_use_id: "call_1", content: "2" };
      const assistant = { role: "assistant", content: said["content"] };
      return { model: "m", max_tokens: 9, messages: [asked, assistant, { role: "user", content: [result] }, ...again] };
    }
    case "gemini": {
      const [{ content } = {}] = said["candidates"] as unknown as { content?: JsonObject }[];
      const result = { functionResponse: { id: "call_1", name: "f", response: { output: "2" } } };
      const first = { role: "user", parts: [{ text: "hi" }] };
      const last = { role: "user", parts: [{ text: "and now?" }] };
      return { model: "m", contents: [first, content, { role: "user", parts: [result] }, ...(more ? [last] : [])] };
    }
    case "responses": {
      const result = { type: "function_call_output", call_id: "call_1", output: "2" };
      return { model: "m", input: [asked, ...(said["output"] ?? []), result, ...again] };
    }
  }
}

/** The answer as a chat upstream gets it back. */
function returned(
  dialect: Dialect,
  answer: Answer,
  { to = origin, facts = {}, more = false }: { to?: string; facts?: ModelFacts; more?: boolean },
): JsonObject {
  const conversation = translations[dialect].readRequest(nextRequest(dialect, answer, more));
  const body = translations.chat.writeRequest(conversation, { ...facts, model: "m", origin: to });
  const { messages } = JSON.parse(JSON.stringify(body)) as { messages: JsonObject[] };
  return messages[1] ?? {};
}

const claude = { format: "anthropic-claude-v1", index: 0 };
const gpt = { format: "openai-responses-v1" };

const detailed: [string, JsonObject[], JsonObject[]][] = [
  [
    "a signed text",
    [{ type: "reasoning.text", text: "I will call it.", signature: "c2ln", ...claude }],
    [
      { reasoning: "I will ", reasoning_details: [{ type: "reasoning.text", text: "I will ", ...claude }] },
      { reasoning: "call it.", reasoning_details: [{ type: "reasoning.text", text: "call it.", ...claude }] },
      { reasoning_details: [{ type: "reasoning.text", signature: "c2ln", ...claude }] },
    ],
  ],
  [
    "two signed texts",
    [
      { type: "reasoning.text", text: "One.", signature: "b25l", ...claude },
      { type: "reasoning.text", text: "Two.", signature: "dHdv", ...claude, index: 1 },
    ],
    [
      {
        reasoning: "One.",
        reasoning_details: [{ type: "reasoning.text", text: "One.", signature: "b25l", ...claude }],
      },
      { reasoning: "Two.", reasoning_details: [{ type: "reasoning.text", text: "Two.", ...claude, index: 1 }] },
      { reasoning_details: [{ type: "reasoning.text", signature: "dHdv", ...claude, index: 1 }] },
    ],
  ],
  [
    "a summary and its cipher",
    [
      { type: "reasoning.summary", summary: "**Plan**", ...gpt, index: 0 },
      { type: "reasoning.encrypted", data: "Z0FBQQ-_==", id: "rs_1", ...gpt, index: 0 },
    ],
    [
      { reasoning: "**Pl", reasoning_details: [{ type: "reasoning.summary", summary: "**Pl", ...gpt, index: 0 }] },
      { reasoning: "an**", reasoning_details: [{ type: "reasoning.summary", summary: "an**", ...gpt, index: 0 }] },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "Z0FBQQ-_==", id: "rs_1", ...gpt, index: 0 }] },
    ],
  ],
  [
    "ciphers of two calls under one index",
    [
      { type: "reasoning.encrypted", data: "b25l", id: "call_1", index: 0 },
      { type: "reasoning.encrypted", data: "dHdv", id: "call_2", index: 0 },
    ],
    [
      { reasoning_details: [{ type: "reasoning.encrypted", data: "b25l", id: "call_1", index: 0 }] },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "dHdv", id: "call_2", index: 0 }] },
    ],
  ],
  [
    "a signature without a text",
    [{ type: "reasoning.text", signature: "Z29vZ2xl", format: "google-gemini-v1", index: 0 }],
    [{ reasoning_details: [{ type: "reasoning.text", signature: "Z29vZ2xl", format: "google-gemini-v1", index: 0 }] }],
  ],
];

describe.each(dialects)("through a client of %s", (dialect) => {
  describe.each(detailed)("%s", (_title, details, deltas) => {
    const reasoning = details.map(textOfDetail).join("");
    const answers = [
      readWhole({ reasoning, reasoning_details: details, tool_calls: [call] }, {}),
      readWhole({ reasoning_details: details, tool_calls: [call] }, {}),
      readStream([...deltas, { tool_calls: [{ index: 0, ...call }] }], {}),
    ];

    test.each(answers)("returns in reasoning_details (%#)", (answer) => {
      const message = returned(dialect, answer, { facts: { reasoningField: "reasoning" } });
      expect(message["reasoning_details"]).toEqual(details);
      expect(message).not.toHaveProperty("reasoning");
      expect(message["tool_calls"]).toMatchObject([{ id: "call_1" }]);
    });

    test.each(answers)("is for nobody else (%#)", (answer) => {
      const message = returned(dialect, answer, { to: "other" });
      expect(Object.keys(message)).toEqual(["role", "content", "tool_calls"]);
    });
  });

  const extra = { google: { thought_signature: "c2lnbmF0dXJl" } };
  const lost = { google: { thought_signature: "skip" } };

  test.each([
    readWhole({ extra_content: { google: { thought: true, ...extra.google } }, tool_calls: [call] }, {}),
    readWhole({ thought_signature: "c2lnbmF0dXJl", tool_calls: [call] }, {}),
    readStream([{ extra_content: extra }, { tool_calls: [{ index: 0, ...call }] }], {}),
  ])("Google's signature of a message returns on it (%#)", (answer) => {
    expect(returned(dialect, answer, {})).toMatchObject({ extra_content: extra, tool_calls: [call] });
    // Newer models demand one of each call, too.
    const [first] = returned(dialect, answer, { facts: { lostCallSignature: lost } })["tool_calls"] as JsonObject[];
    expect(first).toMatchObject({ extra_content: lost });
    expect(returned(dialect, answer, { to: "other" })).not.toHaveProperty("extra_content");
  });

  test("an encrypted thought returns as it came", () => {
    const answer = readWhole({ reasoning_content: "hm", encrypted_content: "Y2lwaGVy", tool_calls: [call] }, {});
    expect(returned(dialect, answer, {})).toMatchObject({ encrypted_content: "Y2lwaGVy" });
  });

  const facts: ModelFacts = { thinkTags: true, reasoningField: "as-shown" };

  test.each<[string, JsonObject, JsonObject]>([
    ["reasoning", { reasoning: "hm" }, { reasoning: "hm" }],
    ["reasoning_content", { reasoning_content: "hm" }, { reasoning_content: "hm" }],
    ["tags", { content: "<think>hm</think>Wait." }, { content: "<think>hm</think>Wait." }],
  ])("a thought shown in %s returns there, within the loop of calls only", (_title, shown, back) => {
    const answer = readWhole({ ...shown, tool_calls: [call] }, facts);
    expect(returned(dialect, answer, { facts })).toMatchObject(back);
    expect(JSON.stringify(returned(dialect, answer, { facts, to: "other" }))).not.toContain("hm");
    if (dialect !== "chat")
      expect(JSON.stringify(returned(dialect, answer, { facts, more: true }))).not.toContain("hm");
  });
});
