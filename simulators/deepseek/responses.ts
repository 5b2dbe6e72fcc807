import type { TokenCounts } from "../shared/answer.ts";
import { isList, isNumber, isRecord, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { readResponsesPrompt } from "../shared/responses/read-prompt.ts";
import { responsesRoutes } from "../shared/responses/routes.ts";
import { requestShape } from "../shared/responses/shape.ts";
import type { ResponsesTalk, ResponsesWire } from "../shared/responses/wire.ts";
import { sealOf } from "../shared/seal.ts";
import { namedFrame } from "../shared/sse.ts";
import type { ProviderErrors, Route } from "../shared/types.ts";
import { deepseekErrors } from "./errors.ts";
import { thinksOnDemand } from "./models.ts";

const shape = requestShape({
  strict: false,
  required: ["model", "input"],
  members: { include: isList, temperature: isNumber(0, 2), thinking: isRecord, top_p: isNumber(0, 1) },
  hostedTools: ["custom", "web_search"],
  otherItems: ["web_search_call"],
  resultParts: true,
  schemaNamed: false,
  efforts: ["low", "high", "max"],
});

function refusal(message: string): Problem {
  return { kind: "unsupported", field: "input", message };
}

/** Nothing is stored, so nothing can be continued by its id. */
function refuse(body: JsonObject): Problem | null {
  if (isGiven(body["previous_response_id"])) return refusal("The previous_response_id is not supported.");
  const format = asObject(asObject(body["text"])["format"])["type"];
  if (format === "json_schema") return refusal("This text.format type is unavailable now");
  const items = asArray(body["input"]).map(asObject);
  return refuseImages(body, items) ?? refuseOrder(items) ?? refuseLostReasoning(body, items);
}

/** Only the vision model knows parts other than text. */
function refuseImages({ model }: JsonObject, items: readonly JsonObject[]): Problem | null {
  if (String(model).includes("vision")) return null;
  const seen = readResponsesPrompt({}, items, false).messages.some(({ attachments }) => attachments.length > 0);
  return seen ? refusal("The content parts must be of type `input_text`.") : null;
}

const isCall = ({ type }: JsonObject): boolean => type === "function_call" || type === "custom_tool_call";
const isResult = ({ type }: JsonObject): boolean => String(type).endsWith("_call_output");

/** Behind calls, only their results follow. */
function refuseOrder(items: readonly JsonObject[]): Problem | null {
  const broken = items.find((item, index) => {
    const next = items[index + 1];
    return isCall(item) && (next === undefined || !(isCall(next) || isResult(next)));
  });
  return broken === undefined ? null : refusal(`No tool output found for tool call ${String(broken["call_id"])}.`);
}

/** With tools, the items of each earlier answer begin with its reasoning, in full. */
function refuseLostReasoning(body: JsonObject, items: readonly JsonObject[]): Problem | null {
  if (asArray(body["tools"]).length === 0 || thinksOnDemand.test(String(body["model"]))) return null;
  let thought = false;
  for (const item of items) {
    const isAnswer = isCall(item) || item["role"] === "assistant" || item["type"] === "web_search_call";
    if (item["type"] === "reasoning") {
      thought = asArray(item["content"]).some((part) => asObject(part)["type"] === "reasoning_text");
    } else if (!isAnswer) thought = false;
    else if (!thought) {
      return refusal("The `reasoning_text` in the thinking mode must be passed back to the API.");
    }
  }
  return null;
}

const errors: ProviderErrors = {
  ...deepseekErrors,
  midStream: (sequence_number) => {
    const message = "The service is temporarily overloaded.";
    return [namedFrame({ type: "error", code: "server_error", message, param: null, sequence_number })];
  },
};

function members({ body }: ResponsesTalk): JsonObject {
  const { effort = null } = asObject(body["reasoning"]);
  return {
    background: false,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort, summary: null },
    service_tier: "default",
    store: false,
    temperature: body["temperature"] ?? 1,
    text: { format: { type: "text" }, verbosity: null },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? 1,
    truncation: "disabled",
    metadata: {},
  };
}

function usage(tokens: TokenCounts): JsonObject {
  const output = tokens.answer + tokens.reasoning;
  return {
    input_tokens: tokens.prompt,
    input_tokens_details: { cached_tokens: tokens.cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.prompt + output,
  };
}

const wire: ResponsesWire = {
  shape,
  errors,
  refuse,
  strictItems: false,
  notKept: (what, id, field) => {
    return deepseekErrors.forProblem({ kind: "unsupported", field, message: `The ${what} ${id} was not found` });
  },
  forged: () => deepseekErrors.forStatus(400),
  seal: sealOf("deepseek reasoning"),
  responseId: (identity) => identity.uuid("response"),
  itemId: (_prefix, label, identity) => identity.uuid(`item ${label}`),
  callId: (call) => `call_00_${call.label}`,
  wantsReasoning: ({ model, reasoning }) => {
    return !thinksOnDemand.test(String(model)) || isGiven(asObject(reasoning)["effort"]);
  },
  reasoningShown: () => "text",
  refusal: "filter",
  logprobs: true,
  argumentFragments: true,
  namedArguments: false,
  obfuscation: false,
  doneFrame: false,
  members,
  usage,
};

/** Responses of DeepSeek: at the address without a version, and without look-ups. */
export const responseRoutes: readonly Route[] = responsesRoutes("/deepseek", wire, false).filter(
  ({ method }) => method === "POST",
);
