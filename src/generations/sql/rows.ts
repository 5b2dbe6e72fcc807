import { type Dialect, type Operation, parseObject, type Usage, usageBuckets } from "../../core/index.ts";
import type { Generation, UsageGrouping } from "../store.ts";
import { tokenIdOf } from "../usage-reader.ts";

/** A row of either engine; `Flag` is the engine's boolean type. */
export interface GenerationRow<Flag> {
  id: string;
  owner: string;
  account_id: string;
  operation: Operation;
  dialect: Dialect | null;
  provider: string;
  model: string;
  streamed: Flag;
  /** 0 if the ledger itself wrote the row of an expired call. */
  status: bigint;
  outcome: Generation["outcome"];
  usage: string;
  input_tokens: bigint;
  output_tokens: bigint;
  credits: bigint;
  ms: number;
  first_byte_ms: number | null;
  started_at: bigint;
  parent: string | null;
}

/** Reads a row; `isSet` reads the engine's boolean. */
export function toGeneration<Flag>(row: GenerationRow<Flag>, isSet: (flag: Flag) => boolean): Generation {
  return {
    id: row.id,
    owner: row.owner,
    tokenId: tokenIdOf(row.account_id),
    operation: row.operation,
    dialect: row.dialect ?? undefined,
    provider: row.provider,
    model: row.model,
    streamed: isSet(row.streamed),
    status: row.status === 0n ? undefined : Number(row.status),
    outcome: row.outcome,
    ...readUsage(row.usage),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    credits: row.credits,
    milliseconds: row.ms,
    millisecondsToFirstByte: row.first_byte_ms ?? undefined,
    startedAt: Number(row.started_at),
    ...(row.parent !== null && { parent: row.parent }),
  };
}

/** The buckets that this version knows; a newer version may have written others. */
function readUsage(text: string): Pick<Generation, "usage" | "terms" | "maxOutputTokens"> {
  const counts = parseObject(text) ?? {};
  const usage: Usage = {};
  for (const bucket of usageBuckets) {
    const count = counts[bucket];
    if (typeof count === "number") usage[bucket] = count;
  }
  const { serviceTier, inferenceGeo, maxOutputTokens } = counts;
  const terms = {
    ...(typeof serviceTier === "string" && { serviceTier }),
    ...(typeof inferenceGeo === "string" && { inferenceGeo }),
  };
  return {
    usage,
    ...(Object.keys(terms).length > 0 && { terms }),
    ...(typeof maxOutputTokens === "number" && { maxOutputTokens }),
  };
}

/** A model's id with its prefix. */
export const MODEL = "provider || '/' || model";

/** The selected columns of a page of whole days, as `UsageRow`s. */
export function summedDays(groupBy: UsageGrouping): string {
  const key = { day: "day", model: MODEL, token: "account_id" }[groupBy];
  return columns(key, "CAST(sum(requests) AS bigint)");
}

/** The selected columns of a page of calls of one day, as `UsageRow`s. */
export function summedCalls(groupBy: UsageGrouping, day: number): string {
  const key = { day: `CAST(${day} AS bigint)`, model: MODEL, token: "account_id" }[groupBy];
  return columns(key, "count(*)");
}

function columns(key: string, requests: string): string {
  return `${key} AS key, ${requests} AS requests, CAST(sum(input_tokens) AS bigint) AS input_tokens,
    CAST(sum(output_tokens) AS bigint) AS output_tokens, CAST(sum(credits) AS bigint) AS credits`;
}
