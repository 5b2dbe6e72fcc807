import { type JsonObject, objectOf } from "../../core/index.ts";
import { IMAGE_TOKENS_MAX, isData, jsonBytes, MESSAGE_TOKENS_MAX, UNKNOWN_PART_TOKENS } from "../bounds.ts";
import type { CallBound, SizeOf } from "../dialect.ts";
import type { ResponsesRequest } from "./request.ts";

/** The members whose size is the input's. */
export const measuredMembers = ["input", "instructions", "tools", "text"] as const;

/** Members that stand for more than the request holds. */
const elsewhere = ["previous_response_id", "conversation", "prompt"] as const;

/** Tools that bring in nothing but what the caller sends back. */
const callersTools: ReadonlySet<unknown> = new Set(["function", "custom", "namespace", "local_shell", "apply_patch"]);

/** As `boundChat`: a token holds at least one byte. */
export function boundResponses(body: ResponsesRequest, sizeOf: SizeOf): CallBound {
  const { input, instructions, tools } = body;
  let inputTokens = MESSAGE_TOKENS_MAX + contentTokens(instructions, sizeOf);
  inputTokens += typeof input === "string" ? MESSAGE_TOKENS_MAX + sizeOf(input) : boundItems(input, sizeOf);
  inputTokens += jsonBytes(tools, sizeOf) + jsonBytes(body["text"], sizeOf);
  const list: readonly unknown[] = Array.isArray(tools) ? tools : [];
  const runs = list.some((tool) => !callersTools.has(objectOf(tool)?.["type"]));
  const more = elsewhere.some((name) => body[name] !== undefined && body[name] !== null);
  if (runs || more) inputTokens += UNKNOWN_PART_TOKENS;
  return { inputTokens, outputTokens: body.max_output_tokens ?? undefined, choices: 1 };
}

/** The most tokens that these items can be: of an input, or of what is kept from before. */
export function boundItems(items: readonly JsonObject[], sizeOf: SizeOf): number {
  let tokens = 0;
  for (const item of items) tokens += MESSAGE_TOKENS_MAX + itemTokens(item, sizeOf);
  return tokens;
}

function itemTokens(item: JsonObject, sizeOf: SizeOf): number {
  const { type } = item;
  const message = type === "message" || ((type === undefined || type === null) && item["role"] !== undefined);
  if (message || type === "reasoning") {
    const { content, ...rest } = item;
    return jsonBytes(rest, sizeOf) + contentTokens(content, sizeOf);
  }
  switch (type) {
    case "function_call":
    case "custom_tool_call":
      return jsonBytes(item, sizeOf);
    case "function_call_output":
    case "custom_tool_call_output": {
      const { output, ...rest } = item;
      return jsonBytes(rest, sizeOf) + contentTokens(output, sizeOf);
    }
    default:
      // A reference, a picture, a screen, a list of tools: what stands behind it is not all in the request.
      return Math.max(UNKNOWN_PART_TOKENS, jsonBytes(item, sizeOf));
  }
}

function contentTokens(content: unknown, sizeOf: SizeOf): number {
  if (typeof content === "string") return sizeOf(content);
  let tokens = 0;
  for (const part of Array.isArray(content) ? content : []) tokens += partTokens(objectOf(part) ?? {}, sizeOf);
  return tokens;
}

function partTokens(part: JsonObject, sizeOf: SizeOf): number {
  if (part["type"] === "input_image") return IMAGE_TOKENS_MAX;
  return holdsItsContent(part) ? jsonBytes(part, sizeOf) : Math.max(UNKNOWN_PART_TOKENS, jsonBytes(part, sizeOf));
}

/** Whether all that the model will read of a part is in the request. */
function holdsItsContent(part: JsonObject): boolean {
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
    case "refusal":
    case "reasoning_text":
    case "summary_text":
      return true;
    case "input_audio":
      return isData(objectOf(part["input_audio"])?.["data"]);
    case "input_file":
      return isData(part["file_data"]) && part["file_id"] === undefined && part["file_url"] === undefined;
    default:
      return false;
  }
}
