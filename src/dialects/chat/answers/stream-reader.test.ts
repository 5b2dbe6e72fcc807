import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../core/index.ts";
import { type AnswerBlock, type AnswerEvent, collectAnswer } from "../../conversation/index.ts";
import { chatUpstream } from "../../../../test/kit/dialects/contexts.ts";
import { chatTranslation } from "../translation.ts";
import { ChatStreamReader } from "./stream-reader.ts";

const chunk = (delta: JsonObject, reason: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: "chatcmpl-1",
  choices: [{ index: 0, delta, finish_reason: reason }],
  ...more,
});

function read(...chunks: (JsonObject | string)[]): AnswerEvent[] {
  const reader = new ChatStreamReader(chatUpstream);
  const told = chunks.map((one) => reader.read(typeof one === "string" ? one : JSON.stringify(one)));
  return [...told.flat(), ...reader.close()];
}

/** The blocks that these deltas add up to. */
const blocksOf = (...deltas: JsonObject[]) =>
  collectAnswer(read(...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), "[DONE]")).choices[0]?.blocks;

const fragment = (index: number | undefined, said: string, id?: string, name?: string): JsonObject => ({
  tool_calls: [
    {
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id }),
      function: { arguments: said, ...(name === undefined ? {} : { name }) },
    },
  ],
});

const failureOf = (events: readonly AnswerEvent[]) => {
  const last = events.at(-1);
  return last?.type === "error" ? last.failure : undefined;
};

describe("calls", () => {
  const a: AnswerBlock = { kind: "tool-call", callId: "a", name: "f", arguments: '{"x":1}' };
  const b: AnswerBlock = { kind: "tool-call", callId: "b", name: "g", arguments: '{"y":2}' };

  test.each<[string, JsonObject[]]>([
    [
      "one after the other",
      [fragment(0, "", "a", "f"), fragment(0, '{"x":1}'), fragment(1, "", "b", "g"), fragment(1, '{"y":2}')],
    ],
    [
      "taking turns",
      [fragment(0, '{"x', "a", "f"), fragment(1, '{"y', "b", "g"), fragment(0, '":1}'), fragment(1, '":2}')],
    ],
    [
      "begun before the first has said anything",
      [fragment(0, "", "a", "f"), fragment(1, "", "b", "g"), fragment(1, '{"y":2}'), fragment(0, '{"x":1}')],
    ],
    ["without an index", [fragment(undefined, '{"x":1}', "a", "f"), fragment(undefined, '{"y":2}', "b", "g")]],
    [
      "without an index, in pieces",
      [fragment(undefined, '{"x"', "a", "f"), fragment(undefined, ":1}"), fragment(undefined, '{"y":2}', "b", "g")],
    ],
    ["all under one index", [fragment(0, '{"x":1}', "a", "f"), fragment(0, '{"y":2}', "b", "g")]],
    [
      "whose id is repeated in each piece",
      [fragment(0, '{"x"', "a", "f"), fragment(0, ":1}", "a", "f"), fragment(1, '{"y":2}', "b", "g")],
    ],
    [
      "whose name comes later",
      [
        { tool_calls: [{ index: 0, id: "a" }] },
        fragment(0, "", undefined, "f"),
        fragment(0, '{"x":1}'),
        fragment(1, '{"y":2}', "b", "g"),
      ],
    ],
  ])("%s are distinguished", (_title, chunks) => {
    expect(blocksOf(...chunks)).toEqual([a, b]);
  });

  const empty = { name: "", input: "" };

  test.each<[string, JsonObject[]]>([
    ["whole", [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' }, custom: empty }]],
    [
      "in pieces",
      [
        { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" }, custom: empty },
        { index: 0, function: { arguments: '{"x":1}' }, custom: empty },
      ],
    ],
  ])("of a function beside an empty custom tool keep their arguments, %s", (_title, calls) => {
    expect(blocksOf(...calls.map((call) => ({ tool_calls: [call] })))).toEqual([a]);
  });

  test("of a custom tool beside an empty function are its own", () => {
    const call = { index: 0, id: "c", type: "custom", custom: { name: "h", input: "x" } };
    const said = { tool_calls: [{ ...call, function: { name: "", arguments: "" } }] };
    expect(blocksOf(said)).toEqual([{ kind: "tool-call", callId: "c", name: "h", arguments: "x", custom: true }]);
  });

  test("given as objects become JSON", () => {
    const calls = [{ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } }];
    expect(blocksOf({ tool_calls: calls })).toEqual([a]);
  });

  test("without an id, or with a duplicate, get a new one", () => {
    const [first, second, third] =
      blocksOf(fragment(0, "{}", "", "f"), fragment(1, "{}", "a", "f"), fragment(2, "{}", "a", "f")) ?? [];
    const ids = [first, second, third].map((block) => (block?.kind === "tool-call" ? block.callId : ""));
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true);
  });

  test("are emitted as they arrive: the second starts once the first is complete", () => {
    const reader = new ChatStreamReader(chatUpstream);
    const types = (delta: JsonObject) => reader.read(JSON.stringify(chunk(delta))).map(({ type }) => type);
    expect(types(fragment(0, '{"x"', "a", "f"))).toEqual(["start", "block-start", "delta"]);
    expect(types(fragment(1, '{"y"', "b", "g"))).toEqual([]);
    expect(types(fragment(0, ":1}"))).toEqual(["delta", "block-end", "block-start", "delta"]);
    expect(types(fragment(1, ":2}"))).toEqual(["delta"]);
  });

  test("that grow after they were whole are an error, since their arguments would be lost", () => {
    const events = read(
      chunk(fragment(0, "{}", "a", "f")),
      chunk(fragment(1, "{}", "b", "g")),
      chunk(fragment(0, '{"x":1}')),
    );
    expect(failureOf(events)).toMatchObject({ code: "upstream_invalid_answer" });
  });

  test("may grow by white space", () => {
    expect(blocksOf(fragment(0, "{}", "a", "f"), fragment(1, "{}", "b", "g"), fragment(0, "\n"))).toHaveLength(2);
  });

  test("without a name are an error", () => {
    expect(failureOf(read(chunk(fragment(0, "{}", "a")), chunk({}, "tool_calls")))).toMatchObject({
      code: "upstream_invalid_answer",
    });
  });

  test("keep the data that the upstream requires back", () => {
    const extra = { google: { thought_signature: "sig" } };
    const [block] =
      blocksOf({ tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" }, extra_content: extra }] }) ?? [];
    expect(block).toMatchObject({ signature: { origin: "deepseek", value: JSON.stringify(extra) } });
  });
});

describe("text", () => {
  test.each<[string, JsonObject[], AnswerBlock[]]>([
    [
      "of reasoning, by its common name",
      [{ reasoning_content: "hm" }, { content: "yes" }],
      [
        { kind: "reasoning", text: "hm", signature: { origin: "deepseek", value: "" } },
        { kind: "text", text: "yes" },
      ],
    ],
    [
      "of reasoning, by Groq's name",
      [{ reasoning: "hm" }, { content: "yes" }],
      [
        { kind: "reasoning", text: "hm", signature: { origin: "deepseek", value: "" } },
        { kind: "text", text: "yes" },
      ],
    ],
    [
      "of reasoning, in pieces of the content",
      [
        {
          content: [
            { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
            { type: "text", text: "yes" },
          ],
        },
      ],
      [
        { kind: "reasoning", text: "hm", signature: { origin: "deepseek", value: "" } },
        { kind: "text", text: "yes" },
      ],
    ],
    [
      "of reasoning, sealed",
      [{ reasoning_content: "hm" }, { encrypted_content: "zzz" }],
      [{ kind: "reasoning", text: "hm", signature: { origin: "deepseek", value: "zzz" } }],
    ],
    ["of a refusal", [{ refusal: "No" }, { refusal: "." }], [{ kind: "refusal", text: "No." }]],
    [
      "behind a call",
      [{ content: "a" }, fragment(0, "{}", "c", "f"), { content: "b" }],
      [
        { kind: "text", text: "a" },
        { kind: "tool-call", callId: "c", name: "f", arguments: "{}" },
        { kind: "text", text: "b" },
      ],
    ],
    ["that is empty", [{ role: "assistant", content: "" }, { content: null }], []],
  ])("%s", (_title, deltas, blocks) => {
    expect(blocksOf(...deltas)).toEqual(blocks);
  });

  test("keeps its citations and its tokens' probabilities", () => {
    const citation = {
      type: "url_citation",
      url_citation: { url: "https://x.test", title: "X", start_index: 0, end_index: 1 },
    };
    const probs = { content: [{ token: "a", logprob: -1, bytes: null, top_logprobs: [] }], refusal: null };
    const said = { id: "1", choices: [{ index: 0, delta: { content: "a" }, logprobs: probs }] };
    const cited = chunk({ annotations: [citation, { type: "file" }] }, "stop");
    expect(collectAnswer(read(said, cited, "[DONE]")).choices[0]?.blocks).toEqual([
      {
        kind: "text",
        text: "a",
        logprobs: probs.content,
        citations: [{ kind: "url", url: "https://x.test", title: "X", start: 0, end: 1 }],
      },
    ]);
  });
});

test("the pages that an upstream names beside its text are cited by it", () => {
  const pages = { search_results: [{ title: "X", url: "https://x.test" }], citations: ["https://x.test"] };
  const cited = { kind: "url", url: "https://x.test", title: "X" } as const;
  const told = read(chunk({ content: "a" }, null, pages), chunk({ content: "b" }, "stop", pages), "[DONE]");
  expect(collectAnswer(told).choices[0]?.blocks).toEqual([{ kind: "text", text: "ab", citations: [cited] }]);
  const whole = { ...pages, choices: [{ index: 0, message: { content: "ab" }, finish_reason: "stop" }] };
  expect(collectAnswer(read(whole, "[DONE]")).choices[0]?.blocks).toEqual([
    { kind: "text", text: "ab", citations: [cited] },
  ]);
});

test("citations before the text belong to it", () => {
  const place = { url: "https://x.test", title: "X", start_index: 0, end_index: 0, content: "a page" };
  const blocks = blocksOf(
    { content: "", annotations: [{ type: "url_citation", url_citation: place }] },
    { reasoning: "hm" },
    { content: "a" },
    { content: "b" },
  );
  expect(blocks?.at(-1)).toEqual({
    kind: "text",
    text: "ab",
    citations: [{ kind: "url", url: "https://x.test", title: "X", start: 0, end: 0 }],
  });
});

test("probabilities stay with text that follows no tag", () => {
  const reader = new ChatStreamReader({ ...chatUpstream, thinkTags: true });
  const of = (content: string) => ({
    choices: [{ index: 0, delta: { content }, logprobs: { content: [{ token: content }] } }],
  });
  const told = [of("Hello"), of(" you")].flatMap((one) => [...reader.read(JSON.stringify(one))]);
  const answer = collectAnswer([...told, ...reader.read("[DONE]")]);
  expect(answer.choices[0]?.blocks).toMatchObject([{ logprobs: [{ token: "Hello" }, { token: " you" }] }]);
});

describe("a message beside a delta", () => {
  const both = (delta: JsonObject, message: JsonObject, reason: string | null = null) => ({
    choices: [{ index: 0, delta, message, finish_reason: reason }],
  });

  test("repeats what the deltas have told", () => {
    const told = read(both({ content: "a" }, { content: "a" }), both({ content: "b" }, { content: "ab" }, "stop"));
    expect(collectAnswer(told).choices[0]?.blocks).toEqual([{ kind: "text", text: "ab" }]);
  });

  test("is the answer if no delta has told anything", () => {
    const told = read(both({ role: "assistant", content: "" }, { content: "" }), both({}, { content: "ab" }, "stop"));
    expect(collectAnswer(told).choices[0]?.blocks).toEqual([{ kind: "text", text: "ab" }]);
  });

  test.each<JsonObject>([{}, { content: "" }, { role: "assistant", content: null }])(
    "is the whole answer, beside %p",
    (delta) => {
      const answer = chatTranslation.readAnswer(both(delta, { content: "ab" }, "stop"), chatUpstream);
      expect(answer.choices[0]?.blocks).toEqual([{ kind: "text", text: "ab" }]);
    },
  );
});

test("the model is named by the first chunk with choices", () => {
  const prompt = { id: "", model: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
  const answer = collectAnswer(read(prompt, chunk({ content: "a" }, "stop", { model: "gpt-4.1-mini" })));
  expect([answer.id, answer.model]).toEqual(["chatcmpl-1", "gpt-4.1-mini"]);
});

describe("the end", () => {
  const stopOf = (...chunks: JsonObject[]) => collectAnswer(read(...chunks, "[DONE]")).choices[0]?.stop.reason;

  test.each<[string, string]>([
    ["stop", "end"],
    ["length", "length"],
    ["model_length", "length"],
    ["content_filter", "content-filter"],
    ["tool_calls", "end"],
    ["a word of tomorrow", "end"],
    ["constructor", "end"],
  ])("for the reason %p", (word, reason) => {
    expect<string | undefined>(stopOf(chunk({ content: "a" }), chunk({}, word))).toBe(reason);
  });

  test("after a call is that call, whatever the finish reason", () => {
    expect(stopOf(chunk(fragment(0, "{}", "a", "f")), chunk({}, "stop"))).toBe("tool-calls");
  });

  test("without [DONE] is complete if the answer has stopped, else an error", () => {
    expect(read(chunk({ content: "a" }), chunk({}, "stop")).at(-1)).toEqual({ type: "end" });
    expect(failureOf(read(chunk({ content: "a" })))).toMatchObject({ code: "upstream_interrupted" });
    expect(failureOf(read())).toMatchObject({ code: "upstream_interrupted" });
  });

  test("without anything before it is an error", () => {
    expect(failureOf(read("[DONE]"))).toMatchObject({ code: "upstream_invalid_answer" });
  });

  test("names the last usage, once", () => {
    const usage = (tokens: number) => ({ usage: { prompt_tokens: tokens, completion_tokens: 1 } });
    const events = read(
      chunk({ content: "a" }, null, usage(1)),
      chunk({}, "stop", usage(2)),
      { choices: [], ...usage(3) },
      "[DONE]",
    );
    expect(events.filter(({ type }) => type === "usage")).toMatchObject([{ usage: { input: 3 } }]);
  });

  test.each<[string, JsonObject, string, string]>([
    [
      "OpenAI's",
      { error: { message: "Slow down", type: "requests", code: "rate_limit_exceeded" } },
      "Slow down",
      "rate-limit",
    ],
    ["a number for a code", { error: { message: "m", code: 503 } }, "m", "overloaded"],
    ["a text", { error: "m", code: "Client specified an invalid argument" }, "m", "invalid-request"],
    ["Groq's", { x_groq: { error: "m" } }, "m", "server"],
    ["without a word", { error: {} }, "The upstream's stream failed.", "server"],
    [
      "a finish reason",
      chunk({}, "insufficient_system_resource"),
      "The upstream gave up: insufficient_system_resource.",
      "server",
    ],
  ])("is an error of the upstream: %s", (_title, event, message, kind) => {
    expect(failureOf(read(chunk({ content: "a" }), event, chunk({ content: "b" })))).toMatchObject({
      message,
      kind,
    });
  });
});

test("several choices take turns", () => {
  const of = (index: number, content: string, reason: string | null = null) => ({
    choices: [{ index, delta: { content }, finish_reason: reason }],
  });
  const answer = collectAnswer(read(of(0, "a"), of(1, "x"), of(0, "b", "stop"), of(1, "y", "length"), "[DONE]"));
  expect(answer.choices).toEqual([
    { blocks: [{ kind: "text", text: "ab" }], stop: { reason: "end" } },
    { blocks: [{ kind: "text", text: "xy" }], stop: { reason: "length" } },
  ]);
});
