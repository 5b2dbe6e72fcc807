import type { TokenCounts } from "../shared/answer.ts";
import { isList, isNumber, isText, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { refuseEffort } from "../shared/limits.ts";
import { isThinkingEffort } from "../shared/prompt.ts";
import { responsesRoutes } from "../shared/responses/routes.ts";
import { requestShape } from "../shared/responses/shape.ts";
import type { ResponsesTalk, ResponsesWire } from "../shared/responses/wire.ts";
import { sealOf } from "../shared/seal.ts";
import { namedFrame } from "../shared/sse.ts";
import type { ProviderErrors, Route } from "../shared/types.ts";
import { xaiErrors, xaiNotFound } from "./errors.ts";
import { costTicks, effortRows } from "./models.ts";

const shape = requestShape({
  strict: false,
  required: ["model", "input"],
  members: { include: isList, temperature: isNumber(0, 2), top_p: isNumber(0, 1), user: isText },
  hostedTools: [
    "custom",
    "code_execution",
    "code_interpreter",
    "file_search",
    "image_generation",
    "mcp",
    "view_image",
    "view_x_video",
    "web_search",
    "web_search_preview",
    "x_search",
  ],
  otherItems: [
    "code_execution_call",
    "code_interpreter_call",
    "file_search_call",
    "image_generation_call",
    "mcp_call",
    "view_image_call",
    "view_x_video_call",
    "web_search_call",
    "x_search_call",
  ],
  resultParts: false,
  schemaNamed: false,
  efforts: ["none", "low", "medium", "high", "xhigh"],
});

/** A response that continues another one keeps the other's system prompt. */
function refuse(body: JsonObject): Problem | null {
  return refuseInstructions(body) ?? refuseEffort(body, effortRows);
}

function refuseInstructions(body: JsonObject): Problem | null {
  if (!isGiven(body["instructions"]) || !isGiven(body["previous_response_id"])) return null;
  return {
    kind: "unsupported",
    field: "instructions",
    message: "Cannot specify instructions together with previous_response_id",
  };
}

const errors: ProviderErrors = {
  ...xaiErrors,
  midStream: (sequence_number) => {
    const message = "The model is at capacity. Please try again later.";
    return [namedFrame({ type: "error", code: null, message, param: null, sequence_number })];
  },
};

function members({ call, body }: ResponsesTalk, completed: boolean): JsonObject {
  const { effort = "medium" } = asObject(body["reasoning"]);
  return {
    completed_at: completed ? call.identity.created + 1 : null,
    background: false,
    frequency_penalty: 0,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    metadata: {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    presence_penalty: 0,
    previous_response_id: body["previous_response_id"] ?? null,
    reasoning: isGiven(body["reasoning"]) ? { effort, summary: "detailed" } : null,
    service_tier: "default",
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? null,
    text: body["text"] ?? { format: { type: "text" } },
    tool_choice: body["tool_choice"] ?? (asArray(body["tools"]).length === 0 ? "none" : "auto"),
    tools: asArray(body["tools"]),
    top_logprobs: 0,
    top_p: body["top_p"] ?? null,
    truncation: "disabled",
    user: body["user"] ?? null,
  };
}

/** Reasoning is beside the output, not in it; the real cost is given in ticks. */
function usage(tokens: TokenCounts, { body }: ResponsesTalk): JsonObject {
  return {
    input_tokens: tokens.prompt,
    input_tokens_details: { cached_tokens: tokens.cached },
    output_tokens: tokens.answer,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.prompt + tokens.answer + tokens.reasoning,
    num_sources_used: 0,
    num_server_side_tools_used: 0,
    cost_in_usd_ticks: costTicks(tokens, String(body["model"])),
  };
}

/** Looked up later, the usage has the names that it has in chat, and reasoning has lost its id. */
function retrieved(body: JsonObject): JsonObject {
  const output = asArray(body["output"]).map(asObject);
  return {
    ...body,
    output: output.map((item) => (item["type"] === "reasoning" ? { ...item, id: "" } : item)),
    usage: isGiven(body["usage"]) ? chatUsage(asObject(body["usage"])) : null,
  };
}

function chatUsage(counted: JsonObject): JsonObject {
  return {
    prompt_tokens: counted["input_tokens"],
    completion_tokens: counted["output_tokens"],
    total_tokens: counted["total_tokens"],
    prompt_tokens_details: {
      text_tokens: counted["input_tokens"],
      audio_tokens: 0,
      image_tokens: 0,
      ...asObject(counted["input_tokens_details"]),
    },
    completion_tokens_details: {
      ...asObject(counted["output_tokens_details"]),
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    num_sources_used: 0,
    cost_in_usd_ticks: counted["cost_in_usd_ticks"],
  };
}

const wire: ResponsesWire = {
  shape,
  errors,
  refuse,
  strictItems: false,
  notKept: (what, id) => xaiNotFound(`No ${what} could be found with the id ${id}.`),
  forged: () => {
    const message = "Could not decrypt the provided encrypted_content";
    return xaiErrors.forProblem({ kind: "unsupported", field: "encrypted_content", message });
  },
  seal: sealOf("xai reasoning"),
  responseId: (identity) => identity.uuid("response"),
  itemId: (prefix, label, identity) => `${prefix}_${identity.uuid(`item ${label}`)}`,
  callId: (call) => `call_${call.label.slice(0, 8)}`,
  wantsReasoning: (body) => isThinkingEffort(asObject(body["reasoning"])["effort"] ?? "none"),
  reasoningShown: () => "summary",
  refusal: "part",
  logprobs: true,
  argumentFragments: false,
  namedArguments: false,
  obfuscation: false,
  doneFrame: true,
  members,
  usage,
  retrieved,
};

/** Responses of xAI: ids are bare UUIDs, calls come whole, and the input cannot be listed. */
export const responseRoutes: readonly Route[] = responsesRoutes("/xai/v1", wire, false);
