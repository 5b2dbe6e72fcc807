import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { type NamedEvent } from "./client.ts";

/** A test's request, in any dialect. */
export interface Ask {
  readonly text: string;
  /** A `data:` URL. */
  readonly image?: string;
  readonly tools?: readonly AskedTool[];
  /** Members that make this provider think. */
  readonly thinking?: JsonObject;
  readonly schema?: JsonObject;
  readonly tokensMax?: number;
  readonly stop?: string;
  /** The previous answer, and the results of its calls. */
  readonly before?: { readonly told: Told; readonly results: readonly string[] };
}

interface AskedTool {
  readonly name: string;
  readonly parameters: JsonObject;
}

/** The content of an answer. */
export interface Told {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  readonly finish: "stop" | "length" | "tool_calls" | "refusal";
  /** Input, and output with all reasoning. */
  readonly tokens: readonly [input: number, output: number];
  /** The part that the next request repeats: the assistant's message, or its output items. */
  readonly said: readonly JsonObject[];
}

/** How a test speaks one dialect. */
interface Dialect {
  request(model: string, ask: Ask): JsonObject;
  read(body: unknown): Told;
  /** Combines the events of a stream into the equivalent whole answer. */
  join(events: readonly NamedEvent[]): unknown;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(parts: unknown, type: string, member: string): string {
  const told = asArray(parts).map(asObject);
  return told.map((part) => (part["type"] === type ? String(part[member]) : "")).join("");
}

function finishOf(reason: unknown): Told["finish"] {
  if (reason === "max_tokens" || reason === "length" || reason === "max_output_tokens") return "length";
  if (reason === "tool_use" || reason === "tool_calls") return "tool_calls";
  return reason === "refusal" || reason === "content_filter" ? "refusal" : "stop";
}

const chat: Dialect = {
  request(model, { text, image, tools, thinking, schema, tokensMax, stop, before }) {
    const imagePart = { type: "image_url", image_url: { url: image } };
    const content = image === undefined ? text : [{ type: "text", text }, imagePart];
    const results = before?.results.map((result, index) => {
      return { role: "tool", tool_call_id: before.told.calls[index]?.id, content: result };
    });
    return {
      model,
      messages: [{ role: "user", content }, ...(before?.told.said ?? []), ...(results ?? [])],
      ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
      ...(schema === undefined ? {} : { response_format: { type: "json_schema", json_schema: { name: "x", schema } } }),
      ...(tokensMax === undefined ? {} : { max_tokens: tokensMax }),
      ...(stop === undefined ? {} : { stop: [stop] }),
      ...thinking,
    };
  },
  read(body) {
    const choice = asObject(asArray(asObject(body)["choices"])[0]);
    const message = asObject(choice["message"]);
    const { content, refusal } = message;
    const calls = asArray(message["tool_calls"]).map(asObject);
    const usage = asObject(asObject(body)["usage"]);
    return {
      text: (textOf(content) || texts(content, "text", "text")) + textOf(refusal),
      reasoning: Array.isArray(content) ? thoughts(content) : textOf(message["reasoning_content"]),
      calls: calls.map((call) => {
        const { name, arguments: text } = asObject(call["function"]);
        return { id: String(call["id"]), name: String(name), arguments: parsed(text) };
      }),
      finish: calls.length > 0 ? "tool_calls" : isGiven(refusal) ? "refusal" : finishOf(choice["finish_reason"]),
      tokens: [Number(usage["prompt_tokens"]), Number(usage["total_tokens"]) - Number(usage["prompt_tokens"])],
      said: [message],
    };
  },
  join(events) {
    const chunks = events.filter(({ data }) => isGiven(data)).map(({ data }) => asObject(data));
    const deltas = chunks.flatMap((chunk) => asArray(chunk["choices"])).map(asObject);
    const message: { [member: string]: unknown } = { role: "assistant", content: "" };
    for (const { delta } of deltas)
      for (const [name, part] of Object.entries(asObject(delta))) addTo(message, name, part);
    const finish = deltas.map((choice) => choice["finish_reason"]).findLast(isGiven);
    const usage = chunks.map((chunk) => chunk["usage"]).findLast(isGiven);
    return { choices: [{ message, finish_reason: finish }], usage };
  },
};

function thoughts(content: readonly unknown[]): string {
  return content.map((part) => texts(asObject(part)["thinking"], "text", "text")).join("");
}

function parsed(text: unknown): unknown {
  return typeof text === "string" ? JSON.parse(text) : text;
}

/** Adds a piece of a chat delta to the message so far. */
function addTo(message: { [member: string]: unknown }, name: string, piece: unknown): void {
  const sofar = message[name];
  if (name === "tool_calls") message[name] = addCalls(asArray(sofar), asArray(piece));
  else if (Array.isArray(piece)) message[name] = [...asArray(sofar), ...asArray(piece)];
  else if (name !== "content" && name !== "role" && typeof piece === "string") message[name] = textOf(sofar) + piece;
  else if (name === "content" && typeof piece === "string" && piece !== "") message[name] = addText(sofar, piece);
}

/** Text behind chunks of thinking is a chunk as well. */
function addText(sofar: unknown, piece: string): unknown {
  return Array.isArray(sofar) ? [...asArray(sofar), { type: "text", text: piece }] : `${String(sofar)}${piece}`;
}

function addCalls(calls: readonly unknown[], fragments: readonly unknown[]): unknown[] {
  const joined = calls.map(asObject);
  for (const fragment of fragments.map(asObject)) {
    const { index = joined.length, ...rest } = fragment;
    const known = joined[Number(index)];
    const { name, arguments: text } = asObject(known?.["function"]);
    const added = textOf(text) + textOf(asObject(rest["function"])["arguments"]);
    const called = { ...asObject(rest["function"]), ...(name === undefined ? {} : { name }), arguments: added };
    joined[Number(index)] = { ...rest, ...known, function: called };
  }
  return joined;
}

const messages: Dialect = {
  request(model, { text, image = "", tools, thinking, schema, tokensMax, stop, before }) {
    const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/.exec(image) ?? [];
    const source = { type: "base64", media_type: mediaType, data };
    const content =
      image === ""
        ? text
        : [
            { type: "text", text },
            { type: "image", source },
          ];
    const results = before?.results.map((result, index) => {
      return { type: "tool_result", tool_use_id: before.told.calls[index]?.id, content: result };
    });
    const loop =
      before === undefined
        ? []
        : [
            { role: "assistant", content: before.told.said },
            { role: "user", content: results },
          ];
    return {
      model,
      max_tokens: tokensMax ?? 2_048,
      messages: [{ role: "user", content }, ...loop],
      ...(tools === undefined
        ? {}
        : { tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters })) }),
      ...(schema === undefined
        ? {}
        : { output_config: { format: { type: "json_schema", schema: { ...schema, additionalProperties: false } } } }),
      ...(stop === undefined ? {} : { stop_sequences: [stop] }),
      ...thinking,
    };
  },
  read(body) {
    const message = asObject(body);
    const said = asArray(message["content"]).map(asObject);
    const usage = asObject(message["usage"]);
    const calls = said.filter((block) => block["type"] === "tool_use");
    return {
      text: texts(said, "text", "text") + textOf(asObject(message["stop_details"])["explanation"]),
      reasoning: texts(said, "thinking", "thinking"),
      calls: calls.map(({ id, name, input }) => ({ id: String(id), name: String(name), arguments: input })),
      finish: finishOf(message["stop_reason"]),
      tokens: [Number(usage["input_tokens"]), Number(usage["output_tokens"])],
      said,
    };
  },
  join(events) {
    let message: JsonObject = {};
    const content: { [member: string]: unknown }[] = [];
    for (const { data } of events) {
      const event = asObject(data);
      const index = Number(event["index"]);
      if (event["type"] === "message_start") message = asObject(event["message"]);
      if (event["type"] === "content_block_start") content[index] = { ...asObject(event["content_block"]) };
      if (event["type"] === "content_block_delta") addDelta(content[index] ?? {}, asObject(event["delta"]));
      if (event["type"] === "content_block_stop") closeBlock(content[index] ?? {});
      if (event["type"] === "message_delta") {
        const usage = { ...asObject(message["usage"]), ...asObject(event["usage"]) };
        message = { ...message, ...asObject(event["delta"]), usage };
      }
    }
    return { ...message, content };
  },
};

function addDelta(block: { [member: string]: unknown }, delta: JsonObject): void {
  for (const [name, piece] of Object.entries(delta)) {
    if (name === "citation") block["citations"] = [...asArray(block["citations"]), piece];
    else if (name !== "type") block[name] = textOf(block[name]) + textOf(piece);
  }
}

function closeBlock(block: { [member: string]: unknown }): void {
  const text = block["partial_json"];
  delete block["partial_json"];
  if (typeof text === "string") block["input"] = text === "" ? {} : JSON.parse(text);
}

const responses: Dialect = {
  request(model, { text, image, tools, thinking, schema, tokensMax, before }) {
    const parts = [
      { type: "input_text", text },
      { type: "input_image", image_url: image, detail: "auto" },
    ];
    const results = before?.results.map((output, index) => {
      return { type: "function_call_output", call_id: before.told.calls[index]?.id, output };
    });
    const asked = { role: "user", content: image === undefined ? text : parts };
    return {
      model,
      input: [asked, ...(before?.told.said ?? []), ...(results ?? [])],
      ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: "function", ...tool })) }),
      ...(schema === undefined ? {} : { text: { format: { type: "json_schema", name: "x", schema } } }),
      ...(tokensMax === undefined ? {} : { max_output_tokens: tokensMax }),
      ...thinking,
    };
  },
  read(body) {
    const response = asObject(body);
    const said = asArray(response["output"]).map(asObject);
    const content = said.flatMap((item) => (item["type"] === "message" ? asArray(item["content"]) : []));
    const calls = said.filter((item) => item["type"] === "function_call");
    const refusal = texts(content, "refusal", "refusal");
    const usage = asObject(response["usage"]);
    const reason = asObject(response["incomplete_details"])["reason"];
    return {
      text: texts(content, "output_text", "text") + refusal,
      reasoning: said.map((item) => texts(item["summary"], "summary_text", "text")).join(""),
      calls: calls.map((call) => {
        return { id: String(call["call_id"]), name: String(call["name"]), arguments: parsed(call["arguments"]) };
      }),
      finish: calls.length > 0 ? "tool_calls" : refusal === "" ? finishOf(reason) : "refusal",
      tokens: [Number(usage["input_tokens"]), Number(usage["total_tokens"]) - Number(usage["input_tokens"])],
      said,
    };
  },
  // The last event contains the whole response; the sum of the deltas is compared with it in the tests of events.
  join: (events) => asObject(events.findLast(({ data }) => isGiven(asObject(data)["response"]))?.data)["response"],
};

/** The three dialects. */
export const dialects = { chat, messages, responses };
