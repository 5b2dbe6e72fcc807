import { type JsonObject, objectOf } from "../../core/index.ts";
import type { FailureRules, FailurePattern, UpstreamFault } from "../provider.ts";
import { textOf } from "./json.ts";

/** Statuses under which upstreams report problems of the key or its money. */
export const keyStatuses = [401, 402, 403, 429];

/** Statuses under which upstreams report that they do not have a model. */
const modelStatuses = [400, 403, 404];

/** The codes of OpenAI and of the upstreams that follow it. */
export const commonFailures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, codes: /^(?:invalid_api_key|incorrect_api_key|invalid_authentication)/ }],
  quotaGone: [
    { statuses: keyStatuses, codes: /^(?:insufficient_quota|exceeded_current_quota|credit_balance_exhausted)/ },
  ],
  modelGone: [{ statuses: modelStatuses, codes: /^(?:model_not_found|DeploymentNotFound)$/ }],
  contextWindow: [
    { statuses: [400, 413, 422], codes: /^context_length_exceeded$/ },
    // More than the account's limit of a minute, at any time. Groq has a 413 for it.
    { statuses: [413, 429], message: /^Request too large for / },
  ],
  contentPolicy: [
    { statuses: [400, 403], codes: /^(?:content_policy_violation|moderation_blocked|content_filter|invalid_prompt)$/ },
  ],
  retryable: [],
};

/** Reads the fields of an error body that the upstream defines itself, in all known formats (`docs/wire/`). */
export function readFault(body: string): UpstreamFault {
  const root = rootOf(body);
  const error = objectOf(root["error"]) ?? {};
  const details = objectsOf(error["details"]);
  const violations = details.flatMap((detail) => objectsOf(detail["violations"]));
  const codes = [
    error["code"],
    error["type"],
    error["status"],
    root["code"],
    root["type"],
    ...details.flatMap(({ reason, error_code: code }) => [reason, code]),
    ...violations.map(({ quotaId }) => quotaId),
  ];
  return {
    codes: codes.flatMap((code) => (typeof code === "string" || typeof code === "number" ? String(code) : [])),
    message: textOf(error["message"]) ?? textOf(root["error"]) ?? textOf(root["message"]) ?? detailOf(root["detail"]),
    retryDelayMs: details.map(retryDelayOf).find((delay) => delay !== undefined),
  };
}

/** Whether a failure with this status matches any of the patterns. */
export function matchesPattern(
  patterns: readonly FailurePattern[],
  status: number,
  { codes, message }: UpstreamFault,
): boolean {
  return patterns.some(
    (pattern) =>
      pattern.statuses.includes(status) &&
      (codes.some((code) => pattern.codes?.test(code)) || (message !== undefined && pattern.message?.test(message))),
  );
}

/** A sentence, or a list of validation errors (Mistral and other gateways on FastAPI). */
function detailOf(detail: unknown): string | undefined {
  return textOf(detail) ?? textOf(objectsOf(detail)[0]?.["msg"]);
}

/** The body's object; Google's compatible layer wraps it in a list. */
function rootOf(body: string): JsonObject {
  try {
    return objectsOf(JSON.parse(body))[0] ?? {};
  } catch {
    return {};
  }
}

/** The objects of a list, or a single object that is not in a list. */
function objectsOf(value: unknown): JsonObject[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((item) => objectOf(item)).filter((item) => item !== undefined);
}

/** Google's `RetryInfo`: seconds followed by "s". */
function retryDelayOf({ retryDelay }: JsonObject): number | undefined {
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay) ?? "") ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
