import type { JsonObject } from "../../src/core/index.ts";
import {
  type Cited,
  count,
  type Counts,
  dataOf,
  isEmpty,
  list,
  object,
  onlyKnows,
  parse,
  type Piece,
  type Said,
  type Stop,
  text,
} from "./said.ts";

/** Reads a whole response. */
export function saidInResponses(response: JsonObject): Said {
  const pieces = list(response["output"]).flatMap(readItem);
  const usage = isEmpty(response["usage"]) ? undefined : countsOf(object(response["usage"]));
  const hasCalls = pieces.some(({ is }) => is === "call");
  const choice = { pieces, stop: stopOf(response, hasCalls), secrets: [] };
  return { model: text(response["model"]) || undefined, choices: [choice], usage, failure: undefined };
}

/** Reads a stream of Responses events. Throws if the deltas of an item differ from the item at its end. */
export function saidInResponsesStream(stream: string): Said {
  let response: JsonObject = {};
  const items: JsonObject[] = [];
  const deltas: string[] = [];
  const done = new Set<number>();
  let failure: string | undefined = "";
  for (const event of dataOf(stream)
    .filter((data) => data !== "[DONE]")
    .map(parse)) {
    const type = text(event["type"]).slice("response.".length);
    const index = count(event["output_index"]);
    if (type.endsWith(".delta")) deltas[index] = (deltas[index] ?? "") + text(event["delta"]);
    if (type === "output_item.added" || type === "output_item.done") items[index] = object(event["item"]);
    if (type === "output_item.done") done.add(index);
    if (event["response"] !== undefined) response = object(event["response"]);
    if (type === "completed" || type === "incomplete") failure = undefined;
    if (event["type"] === "error") failure = text(event["message"]);
  }
  for (const [index, said] of deltas.entries()) {
    const item = items[index];
    if (done.has(index)) expectSame(said, item);
    else if (item?.["type"] === "message") items[index] = { ...item, content: [{ type: "output_text", text: said }] };
  }
  return { ...saidInResponses({ ...response, output: items.filter((item) => item !== undefined) }), failure };
}

function expectSame(said: string | undefined, item: JsonObject | undefined): void {
  const whole = item && wholeTextOf(item);
  if (said === undefined || whole === undefined || said === whole) return;
  throw new Error(`deltas say ${said.slice(0, 200)}, their item ${whole.slice(0, 200)}`);
}

/** All that the deltas of an item add up to. */
function wholeTextOf(item: JsonObject): string {
  const parts = [...list(item["summary"]), ...list(item["content"])];
  const texts = parts.map((part) => text(part["text"]) || text(part["refusal"]));
  return (
    texts.join("") +
    text(item["arguments"]) +
    text(item["input"]) +
    text(item["code"]) +
    text(object(item["operation"])["diff"])
  );
}

function readItem(item: JsonObject): Piece[] {
  switch (item["type"]) {
    case "message":
      onlyKnows(item, "a message", ["type", "id", "role", "status", "content", "phase"]);
      return list(item["content"]).flatMap(readPart);
    case "reasoning":
      onlyKnows(item, "a thought", ["type", "id", "status", "summary", "content", "encrypted_content"]);
      return [
        {
          is: "thought",
          text: list(item["content"]).map(textOfThought).join(""),
          summaries: list(item["summary"]).map(textOfThought),
          secret: text(item["encrypted_content"]) || undefined,
        },
      ];
    case "function_call":
    case "custom_tool_call":
      // A search of X, which xAI runs itself.
      if (text(item["call_id"]).startsWith("xs_call_")) return [{ is: "hosted", value: item }];
      // `namespace` is the place in a search for tools, which OpenAI runs.
      onlyKnows(item, "a call", ["type", "id", "call_id", "name", "arguments", "input", "status", "namespace"]);
      return [
        {
          is: "call",
          id: text(item["call_id"]),
          name: text(item["name"]),
          arguments: text(item["arguments"]) || text(item["input"]),
          custom: item["type"] === "custom_tool_call",
        },
      ];
    case "image_generation_call":
      if (text(item["result"]) === "") return [{ is: "hosted", value: item }];
      return [
        {
          is: "media",
          value: { url: `data:image/${text(item["output_format"]) || "png"};base64,${text(item["result"])}` },
        },
      ];
    default:
      return [{ is: "hosted", value: item }];
  }
}

function textOfThought(part: JsonObject): string {
  onlyKnows(part, "a part of a thought", ["type", "text"]);
  return text(part["text"]);
}

/** Annotations of files are content that only this dialect can express. */
function readPart(part: JsonObject): Piece[] {
  if (part["type"] === "refusal") return [{ is: "refusal", text: text(part["refusal"]) }];
  onlyKnows(part, "a part of a message", ["type", "text", "annotations", "logprobs"]);
  const annotations = list(part["annotations"]);
  const ofFiles = annotations.filter(({ type }) => type === "file_citation" || type === "container_file_citation");
  const cited = annotations.filter((annotation) => !ofFiles.includes(annotation)).map(readAnnotation);
  return [{ is: "text", text: text(part["text"]), cited }, ...ofFiles.map((value): Piece => ({ is: "hosted", value }))];
}

function readAnnotation(annotation: JsonObject): Cited {
  if (annotation["type"] !== "url_citation") throw new Error(`an annotation of ${String(annotation["type"])}`);
  onlyKnows(annotation, "an annotation", ["type", "url", "title", "start_index", "end_index"]);
  return {
    url: text(annotation["url"]),
    title: typeof annotation["title"] === "string" ? annotation["title"] : undefined,
    quoted: undefined,
    start: numberIn(annotation["start_index"]),
    end: numberIn(annotation["end_index"]),
    secret: undefined,
  };
}

const numberIn = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

function stopOf({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): Stop {
  if (status === "incomplete") {
    return { reason: object(details)["reason"] === "content_filter" ? "filter" : "length" };
  }
  return { reason: hasCalls ? "calls" : "end" };
}

/** `output_tokens` leaves the thoughts out where `total_tokens` holds more than input and output. */
function countsOf(usage: JsonObject): Counts {
  const [input, output] = [count(usage["input_tokens"]), count(usage["output_tokens"])];
  const details = object(usage["input_tokens_details"]);
  const cacheRead = count(details["cached_tokens"]);
  const cacheWrite5m = count(details["cache_write_tokens"]);
  const outs = object(usage["output_tokens_details"]);
  const [reasoning, outputImage] = [count(outs["reasoning_tokens"]), count(outs["image_tokens"])];
  const beside = count(usage["total_tokens"]) > input + output;
  return {
    input: input - cacheRead - cacheWrite5m,
    cacheRead,
    cacheWrite5m,
    output: (beside ? output : output - reasoning) - outputImage,
    outputImage,
    reasoning,
  };
}
