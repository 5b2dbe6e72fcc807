import { type JsonObject, objectOf } from "../../core/index.ts";
import { IMAGE_TOKENS_MAX, isData, jsonBytes, MESSAGE_TOKENS_MAX, UNKNOWN_PART_TOKENS } from "../bounds.ts";
import type { CallBound, SizeOf } from "../dialect.ts";
import type { MessagesRequest } from "./request.ts";

/** The members whose size is the input's. */
export const measuredMembers = ["messages", "system", "tools", "output_config"] as const;

/** Tools that the upstream runs bring in what nobody has seen yet: pages, files, what a program prints. */
const serverTool = /^(?:web_search|web_fetch|code_execution|mcp_toolset|advisor)/;

/** As `boundChat`: a token holds at least one byte. */
export function boundMessages(body: MessagesRequest, sizeOf: SizeOf): CallBound {
  let inputTokens = contentTokens(body.system, sizeOf);
  for (const { content, ...rest } of body.messages) {
    inputTokens += MESSAGE_TOKENS_MAX + jsonBytes(rest, sizeOf) + contentTokens(content, sizeOf);
  }
  inputTokens += jsonBytes(body["tools"], sizeOf) + jsonBytes(body["output_config"], sizeOf) + broughtIn(body);
  return { inputTokens, outputTokens: body.max_tokens, choices: 1 };
}

function broughtIn(body: MessagesRequest): number {
  const tools: readonly unknown[] = Array.isArray(body["tools"]) ? body["tools"] : [];
  const runs = tools.some((tool) => {
    const type = objectOf(tool)?.["type"];
    return typeof type === "string" && serverTool.test(type);
  });
  return runs || body["mcp_servers"] !== undefined || body["container"] !== undefined ? UNKNOWN_PART_TOKENS : 0;
}

function contentTokens(content: unknown, sizeOf: SizeOf): number {
  if (typeof content === "string") return sizeOf(content);
  let tokens = 0;
  for (const block of Array.isArray(content) ? content : []) tokens += blockTokens(objectOf(block) ?? {}, sizeOf);
  return tokens;
}

function blockTokens(block: JsonObject, sizeOf: SizeOf): number {
  switch (block["type"]) {
    case "image":
      return IMAGE_TOKENS_MAX;
    case "document":
      return documentTokens(block, sizeOf);
    case "tool_result": {
      const { content, ...rest } = block;
      return jsonBytes(rest, sizeOf) + contentTokens(content, sizeOf);
    }
    case "container_upload":
      return UNKNOWN_PART_TOKENS;
    default:
      return jsonBytes(block, sizeOf);
  }
}

function documentTokens(block: JsonObject, sizeOf: SizeOf): number {
  const { source, ...rest } = block;
  const { type, data, content } = objectOf(source) ?? {};
  if (type === "content") return jsonBytes(rest, sizeOf) + contentTokens(content, sizeOf);
  const holds = type === "text" || (type === "base64" && isData(data));
  return jsonBytes(rest, sizeOf) + (holds ? jsonBytes(source, sizeOf) : UNKNOWN_PART_TOKENS);
}
