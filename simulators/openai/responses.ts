import { countPrompt, type TokenCounts } from "../shared/answer.ts";
import {
  isAnything,
  isFlag,
  isInteger,
  isList,
  isNumber,
  isOneOf,
  isRecord,
  isText,
  type Problem,
} from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { refuseEffort } from "../shared/limits.ts";
import { isThinkingEffort } from "../shared/prompt.ts";
import { readContext } from "../shared/responses/context.ts";
import { readResponsesPrompt } from "../shared/responses/read-prompt.ts";
import { responsesRoutes } from "../shared/responses/routes.ts";
import { requestShape, type ResponsesRules } from "../shared/responses/shape.ts";
import type { ResponsesTalk, ResponsesWire } from "../shared/responses/wire.ts";
import { sealOf } from "../shared/seal.ts";
import { namedFrame } from "../shared/sse.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type ProviderErrors, type Route } from "../shared/types.ts";
import { cacheProblem, writtenTokens } from "./cache.ts";
import { openaiErrors, openaiRefusal } from "./errors.ts";
import { effortRows, withoutThought, isReasoningModel, refuseSampling } from "./models.ts";

const includable = new Set([
  "file_search_call.results",
  "web_search_call.results",
  "web_search_call.action.sources",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
]);

const rules: ResponsesRules = {
  strict: true,
  required: ["model", "input"],
  members: {
    background: isFlag,
    // Undocumented; Codex sends it with each request.
    client_metadata: isRecord,
    context_management: isList,
    conversation: isAnything,
    include: isList,
    max_output_tokens: isInteger(16, 100_000_000),
    max_tool_calls: isInteger(1, 1_000),
    moderation: isRecord,
    prompt: isRecord,
    prompt_cache_key: isText,
    prompt_cache_options: isRecord,
    prompt_cache_retention: isOneOf("in_memory", "24h"),
    safety_identifier: isText,
    service_tier: isOneOf("auto", "default", "flex", "scale", "priority", "fast", "ultrafast"),
    stream_options: isRecord,
    temperature: isNumber(0, 2),
    top_logprobs: isInteger(0, 20),
    top_p: isNumber(0, 1),
    truncation: isOneOf("auto", "disabled"),
    user: isText,
  },
  otherItems: [
    "agent_message",
    "apply_patch_call",
    "apply_patch_call_output",
    "code_interpreter_call",
    "compaction",
    "compaction_trigger",
    "computer_call",
    "computer_call_output",
    "file_search_call",
    "image_generation_call",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "shell_call",
    "shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
  ],
  hostedTools: [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "shell",
    "tool_search",
    "web_search",
    "web_search_preview",
  ],
  resultParts: true,
  schemaNamed: true,
  efforts: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
};

const memories = ["1g", "4g", "16g", "64g"];

/** The container of a tool that runs code has one of four sizes. */
function containerProblem({ type, container, environment }: JsonObject, index: number): Problem[] {
  const place = type === "shell" ? "environment" : "container";
  const { memory_limit: memory } = asObject(type === "shell" ? environment : container);
  if ((type !== "shell" && type !== "code_interpreter") || !isGiven(memory)) return [];
  if (memories.includes(String(memory))) return [];
  const message = `supported values are ${memories.join(", ")}`;
  return [{ kind: "bad-value", field: `tools[${index}].${place}.memory_limit`, message, value: memory }];
}

/** Features that are not simulated, and are refused explicitly so that no test takes them for an answer. */
const notSimulated = ["conversation", "prompt"] as const;

function refuse(body: JsonObject): Problem | null {
  const unknown = asArray(body["include"]).find((name) => !includable.has(String(name)));
  if (unknown !== undefined) {
    const message = `supported values are ${[...includable].join(", ")}`;
    return { kind: "bad-value", field: "include", message, value: unknown };
  }
  const cache = cacheProblem(body, body["input"]);
  if (cache !== null) return cache;
  const container = asArray(body["tools"]).map(asObject).flatMap(containerProblem)[0];
  if (container !== undefined) return container;
  if (body["background"] === true && body["store"] === false) {
    const message = "Background mode requires 'store' to be true.";
    return { kind: "bad-value", field: "background", message, value: true };
  }
  const missing = notSimulated.find((field) => isGiven(body[field]) && body[field] !== false);
  if (missing === undefined) return refuseEffort(body, [withoutThought, ...effortRows]) ?? refuseSampling(body);
  return { kind: "unsupported", field: missing, message: `'${missing}' is not simulated.` };
}

/** The usual errors; a stream's error is a flat event. */
const errors: ProviderErrors = {
  ...openaiErrors,
  midStream: (sequence_number) => {
    const message = "The server had an error while processing your request. Sorry about that!";
    return [namedFrame({ type: "error", code: "server_error", message, param: null, sequence_number })];
  },
};

function wantsReasoning(body: JsonObject): boolean {
  const reasoning = body["reasoning"];
  const effort = asObject(reasoning)["effort"];
  return isGiven(reasoning) && (!isGiven(effort) || isThinkingEffort(effort));
}

/** Models with open weights show their thoughts; the others sum them up, and only for who asks. */
function reasoningShown(body: JsonObject): "summary" | "text" | "hidden" {
  if (String(body["model"]).startsWith("gpt-oss")) return "text";
  const { summary, generate_summary: older } = asObject(body["reasoning"]);
  return isGiven(summary) || isGiven(older) ? "summary" : "hidden";
}

/** A function without `strict` is strict here, unlike in chat. */
function echoTool(tool: unknown): JsonObject {
  const fields = asObject(tool);
  if (fields["type"] !== "function") return fields;
  return { description: null, parameters: null, ...fields, strict: fields["strict"] ?? true };
}

function members({ call, body }: ResponsesTalk, completed: boolean): JsonObject {
  const effortDefault = isReasoningModel(String(body["model"])) ? "medium" : null;
  const { effort = effortDefault, summary = null } = asObject(body["reasoning"]);
  const text = asObject(body["text"]);
  return {
    completed_at: completed ? call.identity.created + 1 : null,
    background: body["background"] ?? false,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: body["metadata"] ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    reasoning: { effort, summary },
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: "default",
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: { format: { type: "text" }, verbosity: "medium", ...text },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: asArray(body["tools"]).map(echoTool),
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
  };
}

function usage(tokens: TokenCounts, { body }: ResponsesTalk): JsonObject {
  const output = tokens.answer + tokens.reasoning;
  const { short, long } = writtenTokens(body, body["input"], tokens);
  const lifetimes = { ttl_30m_tokens: short, ttl_12h_tokens: long };
  return {
    input_tokens: tokens.prompt,
    input_tokens_details: {
      cached_tokens: tokens.cached,
      cache_write_tokens: short + long,
      ...(short + long === 0 ? {} : { cache_write_tokens_details: lifetimes }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.prompt + output,
  };
}

const wire: ResponsesWire = {
  shape: requestShape(rules),
  errors,
  refuse,
  strictItems: true,
  compacts: true,
  background: true,
  notKept: (what, id, field) => {
    if (field === "previous_response_id") {
      return openaiRefusal(`Previous response with id '${id}' not found.`, field, "previous_response_not_found");
    }
    const noun = what === "response" ? "Response" : "Item";
    return openaiRefusal(`${noun} with id '${id}' not found.`, what === "item" ? field : null, null, 404);
  },
  forged: (sealed) => {
    const message = `The encrypted content ${sealed.slice(0, 4)}...${sealed.slice(-4)} could not be verified.`;
    return openaiRefusal(message, null, "invalid_encrypted_content");
  },
  seal: sealOf("openai reasoning", "gAAAAABp"),
  responseId: (identity) => `resp_${identity.hex("response", 48)}`,
  itemId: (prefix, label, identity) => `${prefix}_${identity.hex(`item ${label}`, 48)}`,
  callId: (call) => `call_${call.label}`,
  wantsReasoning,
  reasoningShown,
  refusal: "part",
  logprobs: true,
  argumentFragments: true,
  namedArguments: true,
  obfuscation: true,
  doneFrame: false,
  members,
  usage,
};

/** Counts the input of a request without answering it. */
function countTokens(call: Call): Answer {
  const body = asObject(call.body);
  const problem = wire.shape(call.body, "");
  if (problem !== null) return errorAnswer(errors.forProblem(problem));
  const context = readContext(call, body, wire);
  if ("error" in context) return errorAnswer(context.error);
  const { messages } = readResponsesPrompt(body, context.items, false);
  return jsonAnswer({ object: "response.input_tokens", input_tokens: countPrompt(messages).prompt });
}

/** Responses of OpenAI: strict about unknown members and about items that belong together; no `[DONE]`. */
export const responseRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/responses/input_tokens", errors, handle: countTokens },
  ...responsesRoutes("/openai/v1", wire, true),
];
