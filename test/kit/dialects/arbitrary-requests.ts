import fc from "fast-check";
import type { JsonObject } from "../../../src/core/index.ts";
import { text, word } from "./arbitrary-answers.ts";

export const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));
export const url = word.map((path) => `https://files.test/${path}`);
export const schema = fc
  .dictionary(word, fc.constant({ type: "string" }))
  .map((properties) => ({ type: "object", properties }));
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

/** Objects with some of these members; without undefined ones, as in JSON. */
export function some(
  members: Record<string, fc.Arbitrary<unknown>>,
  required: readonly string[],
): fc.Arbitrary<JsonObject> {
  return fc
    .record(members, { requiredKeys: [...required] })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
}

const mark = maybe(fc.constantFrom({ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" }));

/** A turn with calls and the turns with their results, with ids unique in the request. */
interface Round {
  ids: string[];
  names: string[];
  said: JsonObject[];
  results: (string | object[])[];
}

const resultOfTool = fc.oneof(
  text,
  text.map((said) => [
    { type: "text", text: said },
    { type: "image_url", image_url: { url: "https://files.test/drawn.png" } },
  ]),
);

export const round: fc.Arbitrary<Round> = fc.integer({ min: 1, max: 3 }).chain((size) =>
  fc.record({
    ids: fc.uniqueArray(word, { minLength: size, maxLength: size }),
    names: fc.array(word, { minLength: size, maxLength: size }),
    said: fc.array(fc.dictionary(word, text), { minLength: size, maxLength: size }),
    results: fc.array(resultOfTool, { minLength: size, maxLength: size }),
  }),
);

export const callsOf = ({ ids, names, said, results }: Round, turn: number) =>
  ids.map((id, index) => ({
    id: `t${turn}_${id}`,
    name: names[index] ?? "f",
    said: said[index] ?? {},
    result: results[index] ?? "",
  }));

const chatPart = fc.oneof(
  some({ type: fc.constant("text"), text, cache_control: mark }, ["type", "text"]),
  fc.record({
    type: fc.constant("image_url"),
    image_url: some(
      {
        url: fc.oneof(
          url,
          base64.map((data) => `data:image/png;base64,${data}`),
        ),
        detail: fc.constantFrom("auto", "low", "high"),
      },
      ["url"],
    ),
  }),
  fc.record({
    type: fc.constant("input_audio"),
    input_audio: fc.record({ data: base64, format: fc.constantFrom("wav", "mp3") }),
  }),
  fc.record({
    type: fc.constant("file"),
    file: fc.oneof(
      fc.record({ filename: word, file_data: base64.map((data) => `data:application/pdf;base64,${data}`) }),
      fc.record({ file_id: word }),
    ),
  }),
);

/** A list of one plain text becomes a string: both mean the same. */
const chatContent = fc.oneof(
  text,
  fc
    .array(chatPart, { minLength: 1, maxLength: 4 })
    .filter((parts) => parts.length > 1 || parts[0]?.["type"] !== "text" || parts[0]["cache_control"] !== undefined),
);

const chatSpeech = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "developer"), content: text }),
  some({ role: fc.constant("user"), content: chatContent, name: word }, ["role", "content"]),
  some({ role: fc.constant("assistant"), content: text, reasoning_content: text }, ["role", "content"]),
  fc.record({ role: fc.constant("assistant"), content: fc.constant(null), refusal: text }),
);

const chatMessages = fc
  .array(fc.oneof(chatSpeech, round), { minLength: 1, maxLength: 5 })
  .map((turns) => turns.flatMap((turn, index) => ("ids" in turn ? chatRound(turn as Round, index) : [turn])));

function chatRound(said: Round, turn: number): JsonObject[] {
  const calls = callsOf(said, turn);
  return [
    {
      role: "assistant",
      content: null,
      tool_calls: calls.map(({ id, name, said: input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      })),
    },
    ...calls.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result })),
  ];
}

const chatTool = fc.record({
  type: fc.constant("function"),
  function: some({ name: word, description: text, parameters: schema, strict: fc.boolean() }, ["name"]),
});

const toolName = fc.record({ type: fc.constant("function"), function: fc.record({ name: word }) });

/** A chat completions body, in the form that a reader writes back. */
export const chatBody: fc.Arbitrary<JsonObject> = some(
  {
    model: fc.constant("upstream-model"),
    messages: chatMessages,
    stream: fc.constant(true),
    stream_options: fc.record({ include_usage: fc.boolean() }),
    max_completion_tokens: fc.integer({ min: 1, max: 9_999 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.constantFrom(0, 0.5, 1),
    frequency_penalty: fc.constantFrom(-2, 0, 1.5),
    presence_penalty: fc.constantFrom(-2, 0, 1.5),
    seed: fc.nat(),
    stop: fc.array(text, { minLength: 1, maxLength: 4 }),
    tools: fc.array(chatTool, { minLength: 1, maxLength: 3 }),
    parallel_tool_calls: fc.boolean(),
    tool_choice: fc.oneof(
      fc.constantFrom("auto", "none", "required"),
      toolName,
      fc.record({
        type: fc.constant("allowed_tools"),
        allowed_tools: fc.record({
          mode: fc.constant("auto"),
          tools: fc.array(toolName, { minLength: 1, maxLength: 2 }),
        }),
      }),
    ),
    response_format: fc.oneof(
      fc.constant({ type: "json_object" }),
      fc.constant({ type: "text" }),
      fc.record({
        type: fc.constant("json_schema"),
        json_schema: some({ name: word, schema, strict: fc.boolean(), description: text }, ["name", "schema"]),
      }),
    ),
    reasoning_effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    logprobs: fc.constant(true),
    verbosity: fc.constantFrom("low", "high"),
    service_tier: fc.constantFrom("auto", "default", "flex"),
    user: word,
    n: fc.integer({ min: 1, max: 4 }),
    logit_bias: fc.dictionary(word, fc.integer()),
    metadata: fc.dictionary(word, word),
    store: fc.boolean(),
    a_field_of_tomorrow: fc.jsonValue(),
  },
  ["model", "messages", "tools"],
);

const image = some(
  {
    type: fc.constant("image"),
    source: fc.oneof(
      fc.record({ type: fc.constant("base64"), media_type: fc.constant("image/png"), data: base64 }),
      fc.record({ type: fc.constant("url"), url }),
      fc.record({ type: fc.constant("file"), file_id: word }),
    ),
    cache_control: mark,
  },
  ["type", "source"],
);

const textBlock = some({ type: fc.constant("text"), text, cache_control: mark }, ["type", "text"]);

const document = some(
  {
    type: fc.constant("document"),
    source: fc.oneof(
      fc.record({ type: fc.constant("base64"), media_type: fc.constant("application/pdf"), data: base64 }),
      fc.record({ type: fc.constant("text"), media_type: fc.constant("text/plain"), data: text }),
      fc.record({ type: fc.constant("content"), content: fc.array(image, { minLength: 1, maxLength: 2 }) }),
      fc.record({ type: fc.constant("url"), url }),
    ),
    title: word,
    context: text,
    citations: fc.record({ enabled: fc.boolean() }),
    cache_control: mark,
  },
  ["type", "source"],
);

const isBare = (blocks: readonly JsonObject[]): boolean => {
  const [first] = blocks;
  return blocks.length === 1 && first?.["type"] === "text" && first["cache_control"] === undefined;
};

const blocks = (block: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject[]> =>
  fc.array(block, { minLength: 1, maxLength: 4 }).filter((list) => !isBare(list));

const citation = fc.record({
  type: fc.constant("web_search_result_location"),
  cited_text: word,
  encrypted_index: word,
  title: word,
  url,
});

const said = fc.oneof(
  textBlock,
  fc.record({ type: fc.constant("thinking"), thinking: text, signature: word }),
  fc.record({ type: fc.constant("redacted_thinking"), data: word }),
  fc.record({ type: fc.constant("text"), text, citations: fc.array(citation, { minLength: 1, maxLength: 2 }) }),
  fc.record({ type: fc.constant("server_tool_use"), id: word, name: word, input: fc.dictionary(word, text) }),
);

const messagesSpeech = fc.oneof(
  fc.record({ role: fc.constant("user"), content: fc.oneof(text, blocks(fc.oneof(textBlock, image, document))) }),
  fc.record({ role: fc.constant("assistant"), content: fc.oneof(text, blocks(said)) }),
);

const resultContent = fc.oneof(text, blocks(fc.oneof(textBlock, image)));

const messagesRound = fc.record({
  said: round,
  isError: maybe(fc.boolean()),
  content: resultContent,
  mark,
  more: maybe(text),
});

type MessagesRound = typeof messagesRound extends fc.Arbitrary<infer One> ? One : never;

function writeMessagesRound(one: MessagesRound, turn: number): JsonObject[] {
  const calls = callsOf(one.said, turn);
  const uses = calls.map(({ id, name, said: input }) => ({ type: "tool_use", id, name, input }));
  const results = calls.map(({ id }, index) => ({
    type: "tool_result",
    tool_use_id: id,
    content: one.content,
    ...(one.isError === undefined ? {} : { is_error: one.isError }),
    ...(one.mark === undefined || index > 0 ? {} : { cache_control: one.mark }),
  }));
  const more = one.more === undefined ? [] : [{ type: "text", text: one.more }];
  return [
    { role: "assistant", content: uses },
    { role: "user", content: [...results, ...more] },
  ];
}

const messagesList = fc
  .tuple(text, fc.array(fc.oneof(messagesSpeech, messagesRound), { maxLength: 5 }))
  .map(([first, turns]) => [
    { role: "user", content: first },
    ...turns.flatMap((turn, index) => ("said" in turn ? writeMessagesRound(turn, index) : [turn])),
  ]);

const messagesTool = some(
  {
    name: word,
    description: text,
    input_schema: schema,
    strict: fc.boolean(),
    cache_control: mark,
    defer_loading: fc.boolean(),
  },
  ["name", "input_schema"],
);

/** A Messages body, in the form that a reader writes back. */
export const messagesBody: fc.Arbitrary<JsonObject> = some(
  {
    model: fc.constant("upstream-model"),
    max_tokens: fc.integer({ min: 1, max: 9_999 }),
    messages: messagesList,
    system: fc.oneof(text, blocks(textBlock)),
    stream: fc.constant(true),
    stop_sequences: fc.array(word, { minLength: 1, maxLength: 3 }),
    temperature: fc.double({ min: 0, max: 1, noNaN: true }),
    top_p: fc.constantFrom(0, 0.5, 1),
    top_k: fc.nat(),
    tools: fc.array(
      fc.oneof(messagesTool, fc.constant({ type: "web_search_20250305", name: "web_search", max_uses: 3 })),
      { minLength: 1, maxLength: 3 },
    ),
    tool_choice: fc.oneof(
      some({ type: fc.constantFrom("auto", "any"), disable_parallel_tool_use: fc.boolean() }, ["type"]),
      fc.constant({ type: "none" }),
      fc.record({ type: fc.constant("tool"), name: word }),
    ),
    thinking: fc.oneof(
      fc.record({ type: fc.constant("enabled"), budget_tokens: fc.integer({ min: 1024, max: 9_999 }) }),
      some({ type: fc.constant("adaptive"), display: fc.constantFrom("summarized", "omitted") }, ["type"]),
      fc.constant({ type: "disabled" }),
    ),
    output_config: some(
      {
        effort: fc.constantFrom("low", "medium", "high", "xhigh", "max"),
        format: fc.record({ type: fc.constant("json_schema"), schema }),
      },
      ["effort"],
    ),
    cache_control: fc.constant({ type: "ephemeral" }),
    metadata: fc.record({ user_id: word }),
    service_tier: fc.constantFrom("auto", "standard_only"),
    container: word,
    a_field_of_tomorrow: fc.jsonValue(),
  },
  ["model", "max_tokens", "messages", "tools"],
);
