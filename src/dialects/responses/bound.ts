import { isOpaqueText, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import { type JsonObject, listOf, MESSAGE_TOKENS_MAX, objectOf, type WorkBound } from "../../core/index.ts";
import type { ResponsesRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["input", "instructions", "tools", "text"] as const;

/** Members that represent more than the request contains. */
const elsewhere = ["previous_response_id", "conversation", "prompt"] as const;

/** Tools that only add content sent by the caller. */
const callersTools: ReadonlySet<unknown> = new Set(["function", "custom", "namespace", "local_shell", "apply_patch"]);

/** Searches are counted (`withBroughtIn`). */
const search = /^(?:web|x|file|collections)_search/;

/** As in `boundChat`: a token contains at least one byte. */
export function boundResponses(body: ResponsesRequest, sizeOf: SizeOf): WorkBound {
  const measure = new Measure(sizeOf);
  const { input, instructions, tools } = body;
  let inputTokens = MESSAGE_TOKENS_MAX + measure.content(instructions, partTokens);
  inputTokens += isOpaqueText(input) ? MESSAGE_TOKENS_MAX + measure.sizeOf(input) : boundItems(input, measure);
  inputTokens += jsonBytes(tools, measure) + jsonBytes(body["text"], measure);
  const list = listOf(tools);
  const runs = list.some((tool) => bringsIn(objectOf(tool)?.["type"]));
  const more = elsewhere.some((name) => body[name] !== undefined && body[name] !== null);
  measure.cached(body["prompt_cache_options"], "prompt_cache_options");
  if (runs) inputTokens += measure.unknown();
  if (more) inputTokens += measure.unknown();
  return {
    inputTokens,
    outputTokens: body.max_output_tokens ?? undefined,
    choices: 1,
    ...measure.bound(true),
  };
}

/** Whether a tool of this type adds content of unknown size: pages, a program's output. */
function bringsIn(type: unknown): boolean {
  return !callersTools.has(type) && !(typeof type === "string" && search.test(type));
}

/** An upper bound of these items' tokens: of an input, or of stored items. */
export function boundItems(items: readonly JsonObject[], measure: Measure): number {
  let tokens = 0;
  for (const item of items) tokens += MESSAGE_TOKENS_MAX + itemTokens(item, measure);
  return tokens;
}

function itemTokens(item: JsonObject, measure: Measure): number {
  const { type } = item;
  const message = type === "message" || ((type === undefined || type === null) && item["role"] !== undefined);
  if (message || type === "reasoning") {
    const { content, ...rest } = item;
    return jsonBytes(rest, measure) + measure.content(content, partTokens);
  }
  switch (type) {
    case "function_call":
    case "custom_tool_call":
      return jsonBytes(item, measure);
    case "function_call_output":
    case "custom_tool_call_output": {
      const { output, ...rest } = item;
      return jsonBytes(rest, measure) + measure.content(output, partTokens);
    }
    default:
      // A reference, an image, a screenshot, a list of tools: its content is not completely in the request.
      return Math.max(measure.unknown(), jsonBytes(item, measure));
  }
}

function partTokens(part: JsonObject, measure: Measure): number {
  measure.marked(part);
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "refusal":
    case "reasoning_text":
    case "summary_text":
      return jsonBytes(part, measure);
    case "input_image":
      return measure.image();
    case "input_audio":
      return measure.inputAudio(part);
    case "input_file":
      return measure.file(part, part);
    default:
      return Math.max(measure.unknown(), jsonBytes(part, measure));
  }
}
