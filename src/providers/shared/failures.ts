import { type JsonObject, objectOf } from "../../core/index.ts";
import type { FailureRules, FailurePattern, UpstreamFault } from "../provider.ts";
import { textOf } from "./json.ts";

/** Statuses under which an upstream speaks of the key or of its money. */
export const keyStatuses = [401, 402, 403, 429];

/** What OpenAI and the upstreams modelled on it say. */
export const commonFailures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, codes: /^(?:invalid_api_key|incorrect_api_key|invalid_authentication)/ }],
  quotaGone: [
    { statuses: keyStatuses, codes: /^(?:insufficient_quota|exceeded_current_quota|credit_balance_exhausted)/ },
  ],
  retryable: [],
};

/** The fields of an error body that are the upstream's own, in all the shapes that upstreams give it (`docs/wire/`). */
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
    codes: codes.flatMap((word) => (typeof word === "string" || typeof word === "number" ? String(word) : [])),
    message: textOf(error["message"]) ?? textOf(root["error"]) ?? textOf(root["message"]),
    retryDelayMs: details.map(retryDelayOf).find((delay) => delay !== undefined),
  };
}

/** Whether a failure of this status has one of the meaning's signs. */
export function matchesPattern(
  signs: readonly FailurePattern[],
  status: number,
  { codes, message }: UpstreamFault,
): boolean {
  return signs.some(
    (sign) =>
      sign.statuses.includes(status) &&
      (codes.some((word) => sign.codes?.test(word)) || (message !== undefined && sign.message?.test(message))),
  );
}

/** The object of the body; Google's compatible layer puts it into a list. */
function rootOf(body: string): JsonObject {
  try {
    return objectsOf(JSON.parse(body))[0] ?? {};
  } catch {
    return {};
  }
}

/** The objects of a list, or the one that stands where a list may. */
function objectsOf(value: unknown): JsonObject[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => objectOf(one)).filter((one) => one !== undefined);
}

/** Google's `RetryInfo`: seconds with an "s". */
function retryDelayOf({ retryDelay }: JsonObject): number | undefined {
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay) ?? "") ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
