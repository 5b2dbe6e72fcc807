import { type JsonObject, objectOf } from "../../core/index.ts";
import { IMAGE_TOKENS_MAX, isData, jsonBytes, MESSAGE_TOKENS_MAX, UNKNOWN_PART_TOKENS } from "../bounds.ts";
import type { CallBound } from "../dialect.ts";
import type { MessagesRequest } from "./request.ts";

/** Tools that the upstream runs bring in what nobody has seen yet: pages, files, what a program prints. */
const serverTool = /^(?:web_search|web_fetch|code_execution|mcp_toolset|advisor)/;

/** As `boundChat`: a token holds at least one byte. */
export function boundMessages(body: MessagesRequest): CallBound {
  let inputTokens = contentTokens(body.system);
  for (const { content, ...rest } of body.messages) {
    inputTokens += MESSAGE_TOKENS_MAX + jsonBytes(rest) + contentTokens(content);
  }
  inputTokens += jsonBytes(body["tools"]) + jsonBytes(body["output_config"]) + broughtIn(body);
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

function contentTokens(content: unknown): number {
  if (typeof content === "string") return Buffer.byteLength(content);
  let tokens = 0;
  for (const block of Array.isArray(content) ? content : []) tokens += blockTokens(objectOf(block) ?? {});
  return tokens;
}

function blockTokens(block: JsonObject): number {
  switch (block["type"]) {
    case "text":
      return jsonBytes(block);
    case "image":
      return IMAGE_TOKENS_MAX;
    case "document":
      return documentTokens(block);
    case "tool_result": {
      const { content, ...rest } = block;
      return jsonBytes(rest) + contentTokens(content);
    }
    case "container_upload":
      return UNKNOWN_PART_TOKENS;
    default:
      return jsonBytes(block);
  }
}

function documentTokens(block: JsonObject): number {
  const { source, ...rest } = block;
  const { type, data, content } = objectOf(source) ?? {};
  if (type === "content") return jsonBytes(rest) + contentTokens(content);
  const holds = (type === "base64" || type === "text") && (type === "text" || isData(data));
  return jsonBytes(rest) + (holds ? jsonBytes(source) : UNKNOWN_PART_TOKENS);
}
