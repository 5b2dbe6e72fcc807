/** The end of one line, and how it is written in the results of each API. */
import { errorBody, type GatewayError, type JsonObject, objectOf } from "../core/index.ts";
import type { BatchKind, BatchUsage, LineCounts, StoredBatch } from "./store.ts";

export interface LineResult {
  /** From 0. */
  position: number;
  customId: string;
  outcome: keyof LineCounts;
  /** Undefined for a line that was not called. */
  answer?: { status: number; requestId: string; body: string; usage: Readonly<BatchUsage> } | undefined;
  /** Of a line without an answer. */
  error?: { code: string; message: string; shown: object } | undefined;
}

/** Of a batch without answers. */
export const noUsage: Readonly<BatchUsage> = { input: 0, cached: 0, output: 0, reasoning: 0 };

/** A call's answer, whose text may be no JSON. */
export function answeredLine(
  line: Pick<LineResult, "position" | "customId">,
  { status, requestId, text }: { status: number; requestId: string; text: string },
): LineResult {
  const outcome = status < 400 ? "succeeded" : "failed";
  return { ...line, outcome, answer: { status, requestId, ...contentOf(text) } };
}

/** A line that is not called, or whose call was refused by the gateway. */
export function refusedLine(
  line: Pick<LineResult, "position" | "customId">,
  error: GatewayError,
  { outcome, requestId }: { outcome: LineResult["outcome"]; requestId: string },
): LineResult {
  const shown = errorBody("anthropic", error, requestId);
  return { ...line, outcome, error: { code: error.code, message: error.message, shown } };
}

/** The answer as JSON on one line, and the tokens that it tells. */
function contentOf(text: string): { body: string; usage: Readonly<BatchUsage> } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { body: JSON.stringify(text), usage: noUsage };
  }
  // JSON has line ends between its values only.
  return { body: text.replaceAll(/[\r\n]+/g, " ").trim(), usage: usageIn(objectOf(value)) };
}

/** A line of the results, with its line end. */
export function textOf(result: LineResult, batch: Pick<StoredBatch, "id" | "kind">): string {
  return `${batch.kind === "calls" ? openaiText(result, batch) : messageText(result)}\n`;
}

function openaiText({ position, customId, answer, error }: LineResult, { id }: Pick<StoredBatch, "id">): string {
  const head = `"id":${JSON.stringify(`batch_req_${id.slice(id.indexOf("_") + 1)}_${position}`)},"custom_id":${JSON.stringify(customId)}`;
  if (answer === undefined) {
    const told = error && { code: error.code, message: error.message };
    return `{${head},"response":null,"error":${JSON.stringify(told ?? null)}}`;
  }
  const { status, requestId, body } = answer;
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${body}}`;
  return `{${head},"response":${response},"error":null}`;
}

function messageText({ customId, outcome, answer, error }: LineResult): string {
  const id = JSON.stringify(customId);
  if (outcome === "succeeded") {
    return `{"custom_id":${id},"result":{"type":"succeeded","message":${answer?.body ?? "null"}}}`;
  }
  if (outcome === "failed") {
    const shown = answer?.body ?? JSON.stringify(error?.shown ?? null);
    return `{"custom_id":${id},"result":{"type":"errored","error":${shown}}}`;
  }
  return `{"custom_id":${id},"result":{"type":"${outcome === "cancelled" ? "canceled" : "expired"}"}}`;
}

/** Whether a result belongs into the error file. Messages have one file of results. */
export function isError({ outcome }: LineResult, kind: BatchKind): boolean {
  return kind === "calls" && outcome !== "succeeded";
}

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

/** The tokens that a line counts in its batch. */
export function usageOf({ answer, outcome }: LineResult): Readonly<BatchUsage> {
  return answer === undefined || outcome !== "succeeded" ? noUsage : answer.usage;
}

/** The tokens that an answer tells, in any of the formats of its routes. */
function usageIn(answer: JsonObject | undefined): BatchUsage {
  const usage = objectOf(answer?.["usage"]) ?? {};
  const details = objectOf(usage["input_tokens_details"] ?? usage["prompt_tokens_details"]) ?? {};
  const thought = objectOf(usage["output_tokens_details"] ?? usage["completion_tokens_details"]) ?? {};
  const cached = count(details["cached_tokens"] ?? usage["cache_read_input_tokens"]);
  // Anthropic's figures of the cache are beside the input.
  const beside = count(usage["cache_read_input_tokens"]) + count(usage["cache_creation_input_tokens"]);
  return {
    input: count(usage["input_tokens"] ?? usage["prompt_tokens"]) + beside,
    cached,
    output: count(usage["output_tokens"] ?? usage["completion_tokens"]),
    reasoning: count(thought["reasoning_tokens"]),
  };
}
