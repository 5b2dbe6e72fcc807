/** The meaning of each upstream's errors: documented bodies with their statuses. */
import { describe, expect, test } from "bun:test";
import { keysOf } from "../core/index.ts";
import type { FailurePattern } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";
import { matchesPattern, readFault } from "./shared/failures.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;
type Meaning =
  | "key refused"
  | "quota gone"
  | "model gone"
  | "context window"
  | "content policy"
  | "retryable"
  | "nothing special";

const compatible = (preset: NonNullable<ProviderChoice["preset"]>): Upstream => ({ kind: "openai-compatible", preset });

function meaningOf(upstream: Upstream, status: number, body: string): Meaning {
  const rules = createProvider({ ...upstream, baseUrl: "https://upstream.example" }).failures;
  const fault = readFault(body);
  const patterns: Record<Exclude<Meaning, "nothing special">, readonly FailurePattern[]> = {
    "key refused": rules.keyRefused,
    "quota gone": rules.quotaGone,
    "model gone": rules.modelGone,
    "context window": rules.contextWindow,
    "content policy": rules.contentPolicy,
    retryable: rules.retryable,
  };
  const meanings = keysOf(patterns).filter((meaning) => matchesPattern(patterns[meaning], status, fault));
  expect(meanings.length).toBeLessThanOrEqual(1);
  return meanings[0] ?? "nothing special";
}

const openaiError = (code: string, type = code, message = "…") => ({ error: { message, type, param: null, code } });
const anthropicError = (type: string, message: string, details: object | null = null) => ({
  type: "error",
  error: { type, message, details },
  request_id: "req_1",
});
const byteplusError = (code: string, type: string) => ({
  error: { code, message: "… Request id: 021", param: "", type },
});
const googleError = (code: number, status: string, message: string, details: object[] = []) => [
  { error: { code, message, status, details } },
];
const googleRpc = "type.googleapis.com/google.rpc";

const rows: [string, Upstream, unknown, Meaning][] = [
  [
    "openai 401",
    { kind: "openai" },
    openaiError("invalid_api_key", "invalid_request_error", "Incorrect API key provided"),
    "key refused",
  ],
  ["openai 429 quota", { kind: "openai" }, openaiError("insufficient_quota"), "quota gone"],
  ["openai 429 credits", { kind: "openai" }, openaiError("credit_balance_exhausted"), "quota gone"],
  ["openai 429 rate", { kind: "openai" }, openaiError("rate_limit_exceeded", "tokens"), "nothing special"],
  [
    "openai 400 too long [rec 1980]",
    { kind: "openai" },
    openaiError("context_length_exceeded", "invalid_request_error"),
    "context window",
  ],
  [
    "openai 429 too long for a minute",
    { kind: "openai" },
    openaiError(
      "rate_limit_exceeded",
      "tokens",
      "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.",
    ),
    "context window",
  ],
  [
    "groq 413 too long for a minute",
    compatible("groq"),
    openaiError(
      "rate_limit_exceeded",
      "tokens",
      "Request too large for model `llama` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 6500",
    ),
    "context window",
  ],
  ["openai 503", { kind: "openai" }, openaiError("slow_down", "server_error"), "nothing special"],
  [
    "google 400 bad key",
    { kind: "google" },
    googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
      { "@type": `${googleRpc}.ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" },
    ]),
    "key refused",
  ],
  [
    "google 429 a day's quota",
    { kind: "google" },
    googleError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
      {
        "@type": `${googleRpc}.QuotaFailure`,
        violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }],
      },
    ]),
    "quota gone",
  ],
  [
    "google 429 a minute's quota",
    { kind: "google" },
    googleError(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", [
      {
        "@type": `${googleRpc}.QuotaFailure`,
        violations: [{ quotaId: "GenerateRequestsPerMinutePerProjectPerModel" }],
      },
      { "@type": `${googleRpc}.RetryInfo`, retryDelay: "34s" },
    ]),
    "nothing special",
  ],
  ["google 400", { kind: "google" }, googleError(400, "INVALID_ARGUMENT", 'Unknown name "store"'), "nothing special"],
  ["google 503", { kind: "google" }, googleError(503, "UNAVAILABLE", "The model is overloaded."), "nothing special"],
  [
    "xai 400 bad key",
    { kind: "xai" },
    {
      code: "Client specified an invalid argument",
      error: "Incorrect API key provided: xa***Y. You can obtain an API key from https://console.x.ai.",
    },
    "key refused",
  ],
  [
    "xai 400",
    { kind: "xai" },
    { code: "Client specified an invalid argument", error: "Model does not support stop." },
    "nothing special",
  ],
  ["anthropic 401", { kind: "anthropic" }, anthropicError("authentication_error", "invalid x-api-key"), "key refused"],
  [
    "anthropic 400 credits",
    { kind: "anthropic" },
    anthropicError("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "quota gone",
  ],
  ...["contract_spend_limit_reached", "enforced_spend_limit_reached"].map(
    (code): [string, Upstream, unknown, Meaning] => [
      `anthropic 429 ${code}`,
      { kind: "anthropic" },
      anthropicError("rate_limit_error", "…", { error_code: code }),
      "quota gone",
    ],
  ),
  [
    "anthropic 429 ramp",
    { kind: "anthropic" },
    anthropicError("rate_limit_error", "…", { error_code: "ramp_limit_exceeded" }),
    "nothing special",
  ],
  ["anthropic 529", { kind: "anthropic" }, anthropicError("overloaded_error", "Overloaded"), "nothing special"],
  ["byteplus 401", { kind: "byteplus" }, byteplusError("AuthenticationError", "Unauthorized"), "key refused"],
  ["byteplus 403 unpaid", { kind: "byteplus" }, byteplusError("AccountOverdueError", "Forbidden"), "quota gone"],
  ["byteplus 429 own cap", { kind: "byteplus" }, byteplusError("SetLimitExceeded", "TooManyRequests"), "quota gone"],
  ["byteplus 429 quota", { kind: "byteplus" }, byteplusError("QuotaExceeded", "TooManyRequests"), "quota gone"],
  ["byteplus 429 overload", { kind: "byteplus" }, byteplusError("ServerOverloaded", "TooManyRequests"), "retryable"],
  [
    "byteplus 400 that is temporary",
    { kind: "byteplus" },
    byteplusError("ContentSecurityDetectionError", "BadRequest"),
    "retryable",
  ],
  [
    "byteplus 429 rate",
    { kind: "byteplus" },
    byteplusError("RateLimitExceeded.EndpointRPMExceeded", "TooManyRequests"),
    "nothing special",
  ],
  [
    "byteplus 400",
    { kind: "byteplus" },
    byteplusError("InvalidParameter.UnsupportedParameter", "BadRequest"),
    "nothing special",
  ],
  [
    "deepseek 402",
    compatible("deepseek"),
    openaiError("invalid_request_error", "unknown_error", "Insufficient Balance"),
    "quota gone",
  ],
  [
    "moonshot 401",
    compatible("moonshot"),
    { error: { message: "Invalid Authentication", type: "invalid_authentication_error" } },
    "key refused",
  ],
  [
    "moonshot 401 key",
    compatible("moonshot"),
    { error: { message: "…", type: "incorrect_api_key_error" } },
    "key refused",
  ],
  [
    "moonshot 429 billing",
    compatible("moonshot"),
    { error: { message: "…", type: "exceeded_current_quota_error" } },
    "quota gone",
  ],
  [
    "moonshot 429 rate",
    compatible("moonshot"),
    { error: { message: "…", type: "rate_limit_reached_error" } },
    "nothing special",
  ],
  [
    "moonshot 429 overload",
    compatible("moonshot"),
    { error: { message: "…", type: "engine_overloaded_error" } },
    "retryable",
  ],
  ["groq 498", compatible("groq"), { error: { message: "…", type: "capacity_exceeded" } }, "retryable"],
  [
    "groq 401",
    compatible("groq"),
    openaiError("invalid_api_key", "invalid_request_error", "Invalid API Key"),
    "key refused",
  ],
  [
    "mistral 429",
    compatible("mistral"),
    { object: "error", message: "Rate limit exceeded", type: "rate_limited", param: null, code: "1300" },
    "nothing special",
  ],
  [
    "mistral 422",
    compatible("mistral"),
    { detail: [{ loc: ["body", "user"], msg: "Extra inputs are not permitted", type: "extra_forbidden" }] },
    "nothing special",
  ],
  ["openai 400", { kind: "openai" }, openaiError("invalid_value", "invalid_request_error"), "nothing special"],
  ...[400, 404].map((status): [string, Upstream, unknown, Meaning] => [
    `openai ${status} no model [rec 861, 864]`,
    { kind: "openai" },
    openaiError("model_not_found", "invalid_request_error", "The requested model 'gpt-5.2-proo' does not exist."),
    "model gone",
  ]),
  [
    "openai 404 no response",
    { kind: "openai" },
    openaiError("previous_response_not_found", "invalid_request_error"),
    "nothing special",
  ],
  [
    "openai 400 an image",
    { kind: "openai" },
    openaiError("moderation_blocked", "image_generation_user_error"),
    "content policy",
  ],
  [
    "azure 404 no deployment [rec 1211]",
    { kind: "openai" },
    openaiError("DeploymentNotFound", "invalid_request_error"),
    "model gone",
  ],
  [
    "anthropic 400 too long [rec 1976]",
    { kind: "anthropic" },
    anthropicError("invalid_request_error", "prompt is too long: 3333404 tokens > 200000 maximum"),
    "context window",
  ],
  [
    "anthropic 404 no model",
    { kind: "anthropic" },
    anthropicError("not_found_error", "model: claude-3-opus-20240229"),
    "model gone",
  ],
  [
    "anthropic 404 no file",
    { kind: "anthropic" },
    anthropicError("not_found_error", "File not found: f"),
    "nothing special",
  ],
  [
    "anthropic 400 [rec 2338]",
    { kind: "anthropic" },
    anthropicError("invalid_request_error", "messages.0: Input does not match the expected shape."),
    "nothing special",
  ],
  [
    "deepseek 400 too long [rec 1978]",
    compatible("deepseek"),
    openaiError(
      "invalid_request_error",
      "invalid_request_error",
      "This model's maximum context length is 1048565 tokens. However, you requested 1250025 tokens",
    ),
    "context window",
  ],
  [
    "ollama 400 too long [rec 1979]",
    compatible("ollama"),
    openaiError("x", "invalid_request_error", "prompt too long; exceeded max context length by 1119046 tokens"),
    "context window",
  ],
  [
    "perplexity 400 too long [rec 1982]",
    compatible("perplexity"),
    { error: { message: "The total length of all messages is too long.", type: "too_many_prompt_tokens", code: 400 } },
    "context window",
  ],
  [
    "groq 404 no model [rec 733]",
    compatible("groq"),
    openaiError("model_not_found", "invalid_request_error", "The model `non-existent` does not exist"),
    "model gone",
  ],
  [
    "moonshot 400 content",
    compatible("moonshot"),
    { error: { message: "…", type: "content_filter" } },
    "content policy",
  ],
  ["byteplus 400 too long", { kind: "byteplus" }, byteplusError("OutofContextError", "BadRequest"), "context window"],
  ...["InputTextSensitiveContentDetected", "OutputImageRiskDetection", "SensitiveContentDetected.Violence"].map(
    (code): [string, Upstream, unknown, Meaning] => [
      `byteplus 400 ${code}`,
      { kind: "byteplus" },
      byteplusError(code, "BadRequest"),
      "content policy",
    ],
  ),
  [
    "byteplus 404 no model",
    { kind: "byteplus" },
    byteplusError("InvalidEndpointOrModel.NotFound", "NotFound"),
    "model gone",
  ],
  [
    "google 404 no model",
    { kind: "google" },
    googleError(404, "NOT_FOUND", "models/gemini-x is not found for API version v1beta, or is not supported."),
    "model gone",
  ],
  [
    "google 400 too long",
    { kind: "google" },
    googleError(
      400,
      "INVALID_ARGUMENT",
      "The input token count (1048577) exceeds the maximum number of tokens allowed",
    ),
    "context window",
  ],
];

/** Every row's name contains the status of its body. */
const statusOf = (name: string): number => Number(/\b\d{3}\b/.exec(name)?.[0]);

test.each(rows)("%s", (name, upstream, body, meaning) => {
  expect(meaningOf(upstream, statusOf(name), JSON.stringify(body))).toBe(meaning);
  // The same body with another formatting.
  expect(meaningOf(upstream, statusOf(name), JSON.stringify(body, undefined, 2))).toBe(meaning);
});

test.each(rows.filter(([, , , meaning]) => meaning !== "nothing special"))(
  "%s: the same words in a caller's text have no meaning",
  (name, upstream, body) => {
    const text = JSON.stringify(body);
    const repeated = [
      openaiError("x", "y", `Invalid value: ${text}`),
      { error: { message: "…", type: "x", code: "y", param: text, failed_generation: body } },
      { code: "x", error: `You wrote ${text}` },
      [{ error: { code: 0, message: `At ${text}`, status: "x", details: [{ fieldViolations: [body] }] } }],
      { detail: [{ msg: text, input: body }] },
      text.slice(0, -3),
    ];
    for (const echo of repeated) {
      expect(meaningOf(upstream, statusOf(name), JSON.stringify(echo))).toBe("nothing special");
    }
  },
);

test("a code has a meaning only under its own statuses", () => {
  const quota = JSON.stringify(openaiError("insufficient_quota"));
  const openai: Upstream = { kind: "openai" };
  expect([400, 404, 500, 503].map((status) => meaningOf(openai, status, quota))).toEqual(
    Array.from({ length: 4 }, () => "nothing special"),
  );
  expect([401, 402, 403, 429].map((status) => meaningOf(openai, status, quota))).toEqual(
    Array.from({ length: 4 }, () => "quota gone"),
  );
});

describe("the wait that a body requests", () => {
  const waits: [unknown, number | undefined][] = [
    ["34s", 34_000],
    ["0.5s", 500],
    ["34.074824224s", 34_074.824224],
    ["soon", undefined],
    [34, undefined],
    [undefined, undefined],
  ];
  test.each(waits)("%p is %p ms", (retryDelay, milliseconds) => {
    const body = { error: { message: '"retryDelay":"1s"', details: [{ "@type": "other" }, { retryDelay }] } };
    for (const shape of [body, [body]]) {
      const wait = readFault(JSON.stringify(shape)).retryDelayMs;
      expect(wait === undefined ? undefined : Math.round(wait * 1e6) / 1e6).toBe(milliseconds);
    }
  });
});
