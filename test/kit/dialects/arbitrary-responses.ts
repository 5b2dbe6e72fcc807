import fc from "fast-check";
import type { JsonObject } from "../../../src/core/index.ts";
import { argumentsText, piecesOf, sizes, text, type StreamAndWhole, word } from "./arbitrary-answers.ts";
import { base64, callsOf, round, schema, some, url } from "./arbitrary-requests.ts";

const probability = fc.record({
  token: word,
  logprob: fc.constantFrom(0, -0.5),
  bytes: fc.constant([97]),
  top_logprobs: fc.constantFrom([], [{ token: "b", logprob: -1, bytes: [98] }]),
});

const annotation = fc.record({
  type: fc.constant("url_citation"),
  start_index: fc.nat(9),
  end_index: fc.nat(9),
  url,
  title: word,
});

const outputText = fc.record({
  type: fc.constant("output_text"),
  text,
  annotations: fc.array(annotation, { maxLength: 2 }),
  logprobs: fc.array(probability, { maxLength: 1 }),
});

const refusal = fc.record({ type: fc.constant("refusal"), refusal: text });

const messageItem = fc.record({
  type: fc.constant("message"),
  role: fc.constant("assistant"),
  status: fc.constant("completed"),
  content: fc.array(fc.oneof(outputText, refusal), { minLength: 1, maxLength: 3 }),
});

const callItem = fc.record({
  type: fc.constant("function_call"),
  status: fc.constant("completed"),
  call_id: word,
  name: word,
  arguments: argumentsText,
});

const summaryText = text.map((said) => ({ type: "summary_text", text: said }));

const reasoningItem = some(
  {
    type: fc.constant("reasoning"),
    summary: fc.array(summaryText, { maxLength: 2 }),
    content: text.map((said) => [{ type: "reasoning_text", text: said }]),
    encrypted_content: word,
  },
  ["type", "summary"],
);

const searchItem = fc.record({
  type: fc.constant("web_search_call"),
  status: fc.constant("completed"),
  action: fc.record({ type: fc.constant("search"), query: word, queries: fc.array(word), sources: fc.constant([]) }),
});

type Item = Record<string, unknown>;

const outputItem: fc.Arbitrary<Item> = fc.oneof(messageItem, callItem, reasoningItem, searchItem);

/** Items of an answer, each with an id; calls with different ids. */
const output = fc
  .uniqueArray(outputItem, { maxLength: 5, selector: (item) => item["call_id"] ?? item })
  .map((items) => items.map((item, index): Item => ({ ...item, id: `${String(item["type"]).slice(0, 3)}_${index}` })));

const endings = fc.constantFrom(
  { status: "completed", incomplete_details: null },
  { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  { status: "incomplete", incomplete_details: { reason: "content_filter" } },
);

/** A response. */
export const responsesAnswer: fc.Arbitrary<StreamAndWhole> = fc
  .record({
    items: output,
    ending: endings,
    usage: fc.record({ cached: fc.nat(50), input: fc.integer({ min: 51, max: 999 }), said: fc.nat(500) }),
    sizes,
  })
  .map(({ items, ending, usage, sizes: cuts }) => {
    const head = { id: "resp_up", object: "response", created_at: 1_699_999_999, model: "upstream-model" };
    const counted = {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
      output_tokens: usage.said,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.said,
    };
    const whole = { ...head, ...ending, error: null, output: items, usage: counted, service_tier: "default" };
    const open = { ...head, status: "in_progress", error: null, incomplete_details: null, output: [], usage: null };
    const events: JsonObject[] = [
      { type: "response.created", response: open },
      { type: "response.in_progress", response: open },
      ...items.flatMap((item, index) => itemEvents(item, index, cuts)),
      { type: `response.${ending.status}`, response: whole },
    ];
    return { whole, stream: events.map((event, index) => JSON.stringify({ ...event, sequence_number: index })) };
  });

function itemEvents(item: Item, index: number, cuts: readonly number[]): JsonObject[] {
  const at = { output_index: index, item_id: item["id"] };
  return [
    { type: "response.output_item.added", output_index: index, item: { ...item, ...emptied(item) } },
    ...inside(item, cuts).map((event) => ({ ...event, ...at })),
    { type: "response.output_item.done", output_index: index, item },
  ];
}

function emptied({ type }: Item): JsonObject {
  if (type === "message") return { status: "in_progress", content: [] };
  if (type === "function_call") return { status: "in_progress", arguments: "" };
  return type === "reasoning" ? { summary: [], content: undefined, encrypted_content: undefined } : {};
}

interface Part {
  type: string;
  text?: string;
  refusal?: string;
  annotations?: JsonObject[];
  logprobs?: JsonObject[];
}

function inside(item: Item, cuts: readonly number[]): JsonObject[] {
  const deltas = (type: string, said: unknown): JsonObject[] =>
    piecesOf(String(said), cuts).map((delta) => ({ type: `response.${type}.delta`, delta }));
  switch (item["type"]) {
    case "message":
      return (item["content"] as Part[]).flatMap((part, index) => partEvents(part, index, cuts));
    case "function_call": {
      const done = { type: "response.function_call_arguments.done", name: item["name"], arguments: item["arguments"] };
      return [...deltas("function_call_arguments", item["arguments"]), done];
    }
    case "reasoning": {
      const content = (item["content"] ?? []) as Part[];
      const summary = item["summary"] as Part[];
      return [
        ...content.flatMap((part, index) => place(deltas("reasoning_text", part.text), { content_index: index })),
        ...summary.flatMap((part, index) =>
          place(deltas("reasoning_summary_text", part.text), { summary_index: index }),
        ),
      ];
    }
    default:
      return [{ type: "response.web_search_call.searching" }];
  }
}

/** Events with their position. */
function place(events: readonly JsonObject[], at: JsonObject): JsonObject[] {
  return events.map((event) => ({ ...event, ...at }));
}

function partEvents(part: Part, index: number, cuts: readonly number[]): JsonObject[] {
  const at = { content_index: index };
  const pieces = piecesOf(part.text ?? part.refusal ?? "", cuts);
  const name = part.type === "refusal" ? "refusal" : "output_text";
  const said = pieces.map((delta, number) => ({
    type: `response.${name}.delta`,
    ...at,
    delta,
    ...(part.logprobs === undefined ? {} : { logprobs: number === 0 ? part.logprobs : [] }),
  }));
  const empty = part.type === "refusal" ? { refusal: "" } : { text: "", annotations: [], logprobs: [] };
  return [
    { type: "response.content_part.added", ...at, part: { ...part, ...empty } },
    ...said,
    ...(part.annotations ?? []).map((one, number) => ({
      type: "response.output_text.annotation.added",
      ...at,
      annotation_index: number,
      annotation: one,
    })),
    { type: `response.${name}.done`, ...at },
    { type: "response.content_part.done", ...at, part },
  ];
}

const breakpoint = fc.constant({ mode: "explicit" });

const inputText = some({ type: fc.constant("input_text"), text, prompt_cache_breakpoint: breakpoint }, [
  "type",
  "text",
]);

const inputImage = fc.oneof(
  fc.record({
    type: fc.constant("input_image"),
    image_url: fc.oneof(
      url,
      base64.map((data) => `data:image/png;base64,${data}`),
    ),
    detail: fc.constantFrom("auto", "low", "high"),
  }),
  fc.record({ type: fc.constant("input_image"), file_id: word, detail: fc.constant("auto") }),
);

const inputFile = fc.oneof(
  fc.record({
    type: fc.constant("input_file"),
    filename: word,
    file_data: base64.map((data) => `data:application/pdf;base64,${data}`),
  }),
  fc.record({ type: fc.constant("input_file"), file_id: word }),
  fc.record({ type: fc.constant("input_file"), file_url: url, detail: fc.constantFrom("low", "high") }),
);

const inputAudio = fc.record({
  type: fc.constant("input_audio"),
  input_audio: fc.record({ data: base64, format: fc.constantFrom("wav", "mp3") }),
});

/** A list of one plain text becomes a string: both mean the same. */
const parts = (part: fc.Arbitrary<JsonObject>) =>
  fc.oneof(
    text,
    fc
      .array(part, { minLength: 1, maxLength: 3 })
      .filter(
        ([first, second]) =>
          second !== undefined || first?.["type"] !== "input_text" || first["prompt_cache_breakpoint"] !== undefined,
      ),
  );

const spoken = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    role: fc.constant("user"),
    content: parts(fc.oneof(inputText, inputImage, inputFile, inputAudio)),
  }),
  fc.record({
    type: fc.constant("message"),
    role: fc.constantFrom("system", "developer"),
    content: parts(inputText),
  }),
  fc.record({ type: fc.constant("message"), role: fc.constant("assistant"), content: text }),
  messageItem.map((item) => ({ ...item, id: "msg_1" })),
  reasoningItem.map((item) => ({ ...item, id: "rs_1" })),
  searchItem.map((item) => ({ ...item, id: "ws_1" })),
  fc.record({ type: fc.constant("item_reference"), id: word }),
);

const itemRound = fc.record({
  said: round,
  custom: fc.boolean(),
  ids: fc.boolean(),
  output: parts(fc.oneof(inputText, inputImage, inputFile)),
});

type ItemRound = typeof itemRound extends fc.Arbitrary<infer One> ? One : never;

function roundItems({ said, custom, ids, output: told }: ItemRound, turn: number): JsonObject[] {
  const calls = callsOf(said, turn);
  const whole = (id: string): JsonObject => (ids ? { id, status: "completed" } : {});
  return [
    ...calls.map(({ id, name, said: input }) =>
      custom
        ? { type: "custom_tool_call", call_id: id, name, input: JSON.stringify(input) }
        : { type: "function_call", ...whole(`fc_${id}`), call_id: id, name, arguments: JSON.stringify(input) },
    ),
    ...calls.map(({ id }) => ({
      type: custom ? "custom_tool_call_output" : "function_call_output",
      ...whole(`fco_${id}`),
      call_id: id,
      output: told,
    })),
  ];
}

const inputList = fc
  .array(fc.oneof(spoken, itemRound), { minLength: 1, maxLength: 5 })
  .filter(
    ([first, second]) => second !== undefined || first === undefined || !("role" in first) || first.role !== "user",
  )
  .map((items) => items.flatMap((item, index) => ("said" in item ? roundItems(item, index) : [item])));

const tool = fc.oneof(
  some(
    {
      type: fc.constant("function"),
      name: word,
      description: text,
      parameters: schema,
      strict: fc.boolean(),
      defer_loading: fc.boolean(),
    },
    ["type", "name", "parameters", "strict"],
  ),
  some({ type: fc.constant("custom"), name: word, description: text, format: fc.constant({ type: "text" }) }, [
    "type",
    "name",
  ]),
  fc.constant({ type: "web_search", search_context_size: "low" }),
);

const toolName = fc.record({ type: fc.constantFrom("function", "custom"), name: word });

/** A Responses body, in the form that a reader writes back. */
export const responsesBody: fc.Arbitrary<JsonObject> = some(
  {
    model: fc.constant("upstream-model"),
    input: fc.oneof(text, inputList),
    instructions: text,
    stream: fc.constant(true),
    max_output_tokens: fc.integer({ min: 16, max: 9_999 }),
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    tool_choice: fc.oneof(
      fc.constantFrom("auto", "none", "required"),
      toolName,
      fc.constant({ type: "image_generation" }),
      fc.record({
        type: fc.constant("allowed_tools"),
        mode: fc.constant("auto"),
        tools: fc.array(toolName, { minLength: 1, maxLength: 2 }),
      }),
    ),
    parallel_tool_calls: fc.boolean(),
    text: some(
      {
        format: fc.oneof(
          fc.constant({ type: "json_object" }),
          fc.constant({ type: "text" }),
          some({ type: fc.constant("json_schema"), name: word, schema, strict: fc.boolean(), description: text }, [
            "type",
            "name",
            "schema",
          ]),
        ),
        verbosity: fc.constantFrom("low", "high"),
      },
      ["format"],
    ),
    reasoning: some(
      {
        effort: fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "max"),
        summary: fc.constantFrom("auto", "detailed"),
        context: fc.constant("all_turns"),
      },
      ["effort"],
    ),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.constantFrom(0, 0.5, 1),
    top_logprobs: fc.nat(20),
    include: fc.subarray(["reasoning.encrypted_content", "message.output_text.logprobs"]),
    service_tier: fc.constantFrom("auto", "default", "flex"),
    user: word,
    store: fc.boolean(),
    metadata: fc.dictionary(word, word),
    truncation: fc.constantFrom("auto", "disabled"),
    prompt_cache_key: word,
    conversation: word,
    a_field_of_tomorrow: fc.jsonValue(),
  },
  ["model", "input", "tools"],
);
