import fc from "fast-check";
import type { JsonObject } from "../../../src/core/index.ts";

/** An upstream's answer, whole and as the equivalent stream. */
export interface StreamAndWhole {
  whole: JsonObject;
  /** The data of each event. */
  stream: string[];
}

/** Text with everything that is difficult in JSON, in UTF-8 and in server-sent events. */
export const text = fc
  .array(fc.constantFrom("a", "é", "😀", "\n", "\r\n", '"', "\\", "data: ", "\u2028", "word ", "[DONE]", "<think>"), {
    minLength: 1,
    maxLength: 8,
  })
  .map((pieces) => pieces.join(""));

export const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);

/** A model's arguments: JSON of an object, with spaces, empty, or cut off. */
export const argumentsText = fc.oneof(
  fc.constant(""),
  fc.constant("{}"),
  fc.dictionary(word, fc.oneof(text, fc.integer(), fc.constant(null))).map((value) => JSON.stringify(value)),
  fc.dictionary(word, text).map((value) => JSON.stringify(value, undefined, 1)),
  fc.constant('{"long": 12345678901234567890}'),
  fc.constant('{"cut": "o'),
);

/** The text in non-empty pieces. */
export function piecesOf(value: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < value.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(value.slice(at, at + size));
    at += size;
  }
  return pieces;
}

export const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });

const chatParts = fc.record({
  reasoning: fc.option(text, { nil: undefined }),
  content: fc.option(text, { nil: undefined }),
  calls: fc.uniqueArray(fc.record({ id: word, name: word, said: argumentsText }), {
    maxLength: 3,
    selector: ({ id }) => id,
  }),
  reason: fc.constantFrom("stop", "length", "tool_calls", "content_filter"),
  usage: fc.option(fc.record({ cached: fc.nat(50), prompt: fc.integer({ min: 51, max: 999 }), said: fc.nat(500) }), {
    nil: undefined,
  }),
  sizes,
  /** Whether the fragments of parallel calls interleave. */
  interleaved: fc.boolean(),
});

/** A chat completion. */
export const chatAnswer: fc.Arbitrary<StreamAndWhole> = chatParts.map((parts) => {
  const { reasoning, content, calls, reason, usage } = parts;
  const identity = { id: "chatcmpl-up", created: 1_699_999_999, model: "upstream-model" };
  const counted =
    usage === undefined
      ? undefined
      : {
          prompt_tokens: usage.prompt,
          completion_tokens: usage.said,
          total_tokens: usage.prompt + usage.said,
          prompt_tokens_details: { cached_tokens: usage.cached },
        };
  const message = {
    role: "assistant",
    content: content ?? null,
    refusal: null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, said }) => ({
            id,
            type: "function",
            function: { name, arguments: said },
          })),
        }),
  };
  const deltas: JsonObject[] = [
    { role: "assistant", content: "" },
    ...piecesOf(reasoning ?? "", parts.sizes).map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(content ?? "", parts.sizes).map((piece) => ({ content: piece })),
    ...callFragments(parts).map((fragment) => ({ tool_calls: [fragment] })),
  ];
  const chunk = (delta: JsonObject, finish: string | null) =>
    JSON.stringify({
      ...identity,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const stream = [...deltas.map((delta) => chunk(delta, null)), chunk({}, reason)];
  if (counted !== undefined) stream.push(JSON.stringify({ ...identity, choices: [], usage: counted }));
  stream.push("[DONE]");
  return {
    whole: {
      ...identity,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
      ...(counted === undefined ? {} : { usage: counted }),
    },
    stream,
  };
});

type ChatParts = typeof chatParts extends fc.Arbitrary<infer Parts> ? Parts : never;

/** Each call's own fragments are in order; with `interleaved` the calls alternate. */
function callFragments({ calls, sizes: cuts, interleaved }: ChatParts): JsonObject[] {
  const perCall = calls.map(({ id, name, said }, index): JsonObject[] => [
    { index, id, type: "function", function: { name, arguments: "" } },
    ...piecesOf(said, cuts).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
  if (!interleaved) return perCall.flat();
  const longest = Math.max(0, ...perCall.map((fragments) => fragments.length));
  return Array.from({ length: longest }, (_, turn) => perCall.map((fragments) => fragments[turn]))
    .flat()
    .filter((fragment) => fragment !== undefined);
}

const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text, citations: fc.constant(null) }),
  fc.record({ type: fc.constant("thinking"), thinking: text, signature: word }),
  fc.record({ type: fc.constant("redacted_thinking"), data: word }),
  fc.record({
    type: fc.constant("tool_use"),
    id: word,
    name: word,
    input: fc.dictionary(word, fc.oneof(text, fc.integer())),
  }),
  fc.record({
    type: fc.constant("server_tool_use"),
    id: fc.nat().map((id) => `srvtoolu_${id}`),
    name: fc.constant("web_search"),
    input: fc.dictionary(word, text),
    caller: fc.constant({ type: "direct" }),
  }),
);

/** A message of Anthropic's. */
export const messagesAnswer: fc.Arbitrary<StreamAndWhole> = fc
  .record({
    content: fc.uniqueArray(block, { maxLength: 5, selector: (one) => ("id" in one ? one.id : one) }),
    reason: fc.constantFrom("end_turn", "max_tokens", "tool_use", "stop_sequence", "refusal", "pause_turn"),
    usage: fc.record({ input: fc.nat(500), read: fc.nat(99), write: fc.nat(99), said: fc.nat(500) }),
    sizes,
  })
  .map(({ content, reason, usage, sizes: cuts }) => {
    const input = {
      input_tokens: usage.input,
      cache_read_input_tokens: usage.read,
      cache_creation_input_tokens: usage.write,
      cache_creation: { ephemeral_5m_input_tokens: usage.write, ephemeral_1h_input_tokens: 0 },
      service_tier: "standard",
    };
    const end = { stop_reason: reason, stop_sequence: reason === "stop_sequence" ? "END" : null };
    const head = { id: "msg_up", type: "message", role: "assistant", model: "claude-x" };
    const start = {
      type: "message_start",
      message: { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } },
    };
    const events: JsonObject[] = [
      start,
      { type: "ping" },
      ...content.flatMap((one, index) => blockEvents(one, index, cuts)),
      { type: "message_delta", delta: end, usage: { output_tokens: usage.said } },
      { type: "message_stop" },
    ];
    return {
      whole: { ...head, content, ...end, usage: { ...input, output_tokens: usage.said } },
      stream: events.map((event) => JSON.stringify(event)),
    };
  });

type Block = typeof block extends fc.Arbitrary<infer One> ? One : never;

function blockEvents(one: Block, index: number, cuts: readonly number[]): JsonObject[] {
  const delta = (value: JsonObject): JsonObject => ({ type: "content_block_delta", index, delta: value });
  const start = (value: JsonObject): JsonObject => ({ type: "content_block_start", index, content_block: value });
  const stop = { type: "content_block_stop", index };
  if ("thinking" in one) {
    const said = piecesOf(one.thinking, cuts).map((thinking) => delta({ type: "thinking_delta", thinking }));
    const signed = delta({ type: "signature_delta", signature: one.signature });
    return [start({ ...one, thinking: "", signature: "" }), ...said, signed, stop];
  }
  if ("input" in one) {
    const pieces = piecesOf(Object.keys(one.input).length === 0 ? "" : JSON.stringify(one.input), cuts);
    const said = ["", ...pieces].map((json) => delta({ type: "input_json_delta", partial_json: json }));
    return [start({ ...one, input: {} }), ...said, stop];
  }
  if ("text" in one) {
    const said = piecesOf(one.text, cuts).map((piece) => delta({ type: "text_delta", text: piece }));
    return [start({ ...one, text: "" }), ...said, stop];
  }
  return [start(one), stop];
}
