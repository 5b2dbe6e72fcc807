import { isData, isOpaqueText, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import {
  IMAGE_TOKENS_MAX,
  type JsonObject,
  objectOf,
  MESSAGE_TOKENS_MAX,
  UNKNOWN_PART_TOKENS,
  type WorkBound,
} from "../../core/index.ts";
import type { MessagesRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["messages", "system", "tools", "output_config"] as const;

/** Tools that the upstream runs add unknown content: pages, files, a program's output. */
const serverTool = /^(?:web_search|web_fetch|code_execution|mcp_toolset|advisor)/;

/** As in `boundChat`: a token contains at least one byte. */
export function boundMessages(body: MessagesRequest, sizeOf: SizeOf): WorkBound {
  const measure = new Measure(sizeOf);
  let inputTokens = contentTokens(body.system, measure);
  for (const { content, ...rest } of body.messages) {
    inputTokens += MESSAGE_TOKENS_MAX + jsonBytes(rest, measure) + contentTokens(content, measure);
  }
  inputTokens +=
    jsonBytes(body["tools"], measure) + jsonBytes(body["output_config"], measure) + broughtIn(body, measure);
  return { inputTokens, outputTokens: body.max_tokens, choices: 1, unsizedParts: measure.unsizedParts };
}

function broughtIn(body: MessagesRequest, measure: Measure): number {
  const tools: readonly unknown[] = Array.isArray(body["tools"]) ? body["tools"] : [];
  const runs = tools.some((tool) => {
    const type = objectOf(tool)?.["type"];
    return typeof type === "string" && serverTool.test(type);
  });
  return runs || body["mcp_servers"] !== undefined || body["container"] !== undefined
    ? measure.capAt(UNKNOWN_PART_TOKENS)
    : 0;
}

function contentTokens(content: unknown, measure: Measure): number {
  if (isOpaqueText(content)) return measure.sizeOf(content);
  let tokens = 0;
  for (const block of Array.isArray(content) ? content : []) tokens += blockTokens(objectOf(block) ?? {}, measure);
  return tokens;
}

function blockTokens(block: JsonObject, measure: Measure): number {
  switch (block["type"]) {
    case "image":
      return measure.capAt(IMAGE_TOKENS_MAX);
    case "document":
      return documentTokens(block, measure);
    case "tool_result": {
      const { content, ...rest } = block;
      return jsonBytes(rest, measure) + contentTokens(content, measure);
    }
    case "container_upload":
      return measure.capAt(UNKNOWN_PART_TOKENS);
    default:
      return jsonBytes(block, measure);
  }
}

function documentTokens(block: JsonObject, measure: Measure): number {
  const { source, ...rest } = block;
  const { type, data, content } = objectOf(source) ?? {};
  if (type === "content") return jsonBytes(rest, measure) + contentTokens(content, measure);
  const holds = type === "text" || (type === "base64" && isData(data));
  return jsonBytes(rest, measure) + (holds ? jsonBytes(source, measure) : measure.capAt(UNKNOWN_PART_TOKENS));
}
