import type { TokenCounts, Turn } from "../shared/answer.ts";
import { isInteger, isList, isNumber, isOneOf, isRecord, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { isThinkingEffort } from "../shared/prompt.ts";
import { responsesRoutes } from "../shared/responses/routes.ts";
import { requestShape } from "../shared/responses/shape.ts";
import type { ResponsesTalk, ResponsesWire } from "../shared/responses/wire.ts";
import { namedFrame } from "../shared/sse.ts";
import type { ProviderErrors, Route } from "../shared/types.ts";
import { byteplusErrors, byteplusRefusal } from "./errors.ts";
import { effortLevels, reasoningSeal } from "./reasoning.ts";

const shape = requestShape({
  strict: false,
  required: ["model", "input"],
  members: {
    caching: isRecord,
    expire_at: isInteger(0, Number.MAX_SAFE_INTEGER),
    include: isList,
    max_tool_calls: isInteger(1, 1_000),
    service_tier: isOneOf("auto", "default", "fast"),
    temperature: isNumber(0, 2),
    thinking: isRecord,
    top_p: isNumber(0, 1),
  },
  partTypes: ["input_video", "input_audio"],
  hostedTools: ["doubao_app", "image_process", "knowledge_search", "mcp", "web_search"],
  otherItems: ["image_process_call", "knowledge_search_call", "mcp_call", "web_search_call"],
  resultParts: true,
  schemaNamed: false,
  efforts: effortLevels,
});

const includable = new Set<unknown>([
  "message.input_image.image_url",
  "reasoning.encrypted_content",
  "message.input_audio.audio_url",
]);
const thinkingTypes = new Set<unknown>(["enabled", "disabled", "auto"]);

/** The tools that need a header, which names them. */
const betaTools = new Map<unknown, string>([
  ["web_search", "ark-beta-web-search"],
  ["mcp", "ark-beta-mcp"],
  ["knowledge_search", "ark-beta-knowledge-search"],
  ["doubao_app", "ark-beta-doubao-app"],
  ["image_process", "ark-beta-image-process"],
]);

function refuse(body: JsonObject, headers: { readonly [name: string]: string }): Problem | null {
  for (const tool of asArray(body["tools"])) {
    const header = betaTools.get(asObject(tool)["type"]);
    if (header !== undefined && headers[header] !== "true") return refusal("tools.type", `needs the header ${header}`);
  }
  const unknown = asArray(body["include"]).find((name) => !includable.has(name));
  if (unknown !== undefined) return refusal("include", `supported values are ${[...includable].join(", ")}`);
  const { type } = asObject(body["thinking"]);
  if (isGiven(type) && !thinkingTypes.has(type)) return refusal("thinking.type", "unknown value");
  const prefix = asObject(body["caching"])["prefix"] === true;
  return prefix && isGiven(body["instructions"]) ? refusal("instructions", "not with a cached prefix") : null;
}

function refusal(field: string, message: string): Problem {
  return { kind: "bad-value", field, message, value: null };
}

const errors: ProviderErrors = {
  ...byteplusErrors,
  midStream: (sequence_number) => {
    const message = "The service encountered an unexpected internal error.";
    return [namedFrame({ type: "error", code: "InternalServiceError", message, param: "", sequence_number })];
  },
};

function wantsReasoning(body: JsonObject): boolean {
  const { type } = asObject(body["thinking"]);
  if (isGiven(type)) return type === "enabled";
  return isThinkingEffort(asObject(body["reasoning"])["effort"] ?? "none");
}

const threeDaysSeconds = 259_200;

/** Members absent from the request are absent here as well. */
function members({ call, body }: ResponsesTalk): JsonObject {
  const echoed = [
    "max_output_tokens",
    "previous_response_id",
    "thinking",
    "temperature",
    "tools",
    "top_p",
    "text",
    "instructions",
    "tool_choice",
    "parallel_tool_calls",
    "max_tool_calls",
    "reasoning",
  ];
  const given = echoed.filter((name) => isGiven(body[name])).map((name) => [name, body[name]] as const);
  return {
    ...Object.fromEntries(given),
    service_tier: "default",
    caching: body["caching"] ?? { type: "disabled" },
    store: body["store"] ?? true,
    expire_at: body["expire_at"] ?? call.identity.created + threeDaysSeconds,
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

function filterDetails(turn: Turn): JsonObject {
  return {
    content_filter: { type: turn.refusal?.category ?? "unknown", details: "OutputTextSensitiveContentDetected" },
  };
}

const wire: ResponsesWire = {
  shape,
  errors,
  refuse,
  strictItems: false,
  notKept: (what, id, field) => {
    if (field !== "response_id") return byteplusErrors.forProblem(refusal(field, `${what} ${id} was not found`));
    return byteplusRefusal(404, "NotFound", `The response ${id} does not exist.`, "NotFound");
  },
  forged: () => byteplusErrors.forProblem(refusal("encrypted_content", "it could not be decrypted")),
  seal: reasoningSeal,
  responseId: (identity) => `resp_0217672256${identity.hex("response", 41)}`,
  itemId: (prefix, label, identity) => `${prefix}_0217672256${identity.hex(`item ${label}`, 41)}`,
  callId: (call) => `call_${call.label.toLowerCase()}`,
  wantsReasoning,
  reasoningShown: () => "summary",
  refusal: "filter",
  filterDetails,
  logprobs: false,
  argumentFragments: true,
  namedArguments: false,
  obfuscation: false,
  doneFrame: true,
  members,
  usage,
};

/** Responses of BytePlus ModelArk. */
export const responseRoutes: readonly Route[] = responsesRoutes("/byteplus/api/v3", wire, true);
