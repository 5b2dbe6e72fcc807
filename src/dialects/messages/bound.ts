import { isData, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import { type JsonObject, listOf, objectOf, MESSAGE_TOKENS_MAX, type WorkBound } from "../../core/index.ts";
import type { MessagesRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["messages", "system", "tools", "output_config"] as const;

/** Tools that the upstream runs add unknown content: pages, files, a program's output. Searches are counted (`withBroughtIn`). */
const serverTool = /^(?:web_fetch|code_execution|mcp_toolset|advisor)/;

/** The least answer after a budget for thinking. */
const ANSWER_TOKENS_MIN = 64;

/** As in `boundChat`: a token contains at least one byte. */
export function boundMessages(body: MessagesRequest, sizeOf: SizeOf): WorkBound {
  const measure = new Measure(sizeOf);
  let inputTokens = measure.content(body.system, blockTokens);
  for (const { content, ...rest } of body.messages) {
    inputTokens += MESSAGE_TOKENS_MAX + jsonBytes(rest, measure) + measure.content(content, blockTokens);
  }
  inputTokens +=
    jsonBytes(body["tools"], measure) + jsonBytes(body["output_config"], measure) + broughtIn(body, measure);
  measure.marked(body);
  return {
    inputTokens,
    outputTokens: body.max_tokens,
    ...thinkingBudget(body),
    choices: 1,
    ...measure.bound(false),
  };
}

/** Anthropic refuses a limit that is not above the budget for thinking. */
function thinkingBudget(body: MessagesRequest): Pick<WorkBound, "outputTokensMin"> {
  const budget = objectOf(body["thinking"])?.["budget_tokens"];
  return typeof budget === "number" && budget > 0 ? { outputTokensMin: Math.ceil(budget) + ANSWER_TOKENS_MIN } : {};
}

/** Measures what hosted tools bring in, and looks for marks on the tools. */
function broughtIn(body: MessagesRequest, measure: Measure): number {
  let runs = body["mcp_servers"] !== undefined || body["container"] !== undefined;
  for (const each of listOf(body["tools"])) {
    const tool = objectOf(each) ?? {};
    measure.marked(tool);
    const { type } = tool;
    runs ||= typeof type === "string" && serverTool.test(type);
  }
  return runs ? measure.unknown() : 0;
}

function blockTokens(block: JsonObject, measure: Measure): number {
  measure.marked(block);
  switch (block["type"]) {
    case "image":
      return measure.image();
    case "document":
      return documentTokens(block, measure);
    case "tool_result": {
      const { content, ...rest } = block;
      return jsonBytes(rest, measure) + measure.content(content, blockTokens);
    }
    case "container_upload":
      return measure.unknown();
    default:
      return jsonBytes(block, measure);
  }
}

function documentTokens(block: JsonObject, measure: Measure): number {
  const { source, ...rest } = block;
  const { type, data, content } = objectOf(source) ?? {};
  if (type === "content") return jsonBytes(rest, measure) + measure.content(content, blockTokens);
  const isWhole = type === "text" || (type === "base64" && isData(data));
  return jsonBytes(rest, measure) + (isWhole ? measure.document(source, type === "text") : measure.unknown());
}
