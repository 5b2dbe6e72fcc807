import { inputTokens, keysOf, outputTokens, type Usage } from "../../core/index.ts";
import type { CallRecord } from "../operations.ts";

/** The columns of `generations` that come from the call itself; the others come from its hold and its charge. */
export interface GenerationColumns {
  owner: string;
  operation: string;
  dialect: string | null;
  provider: string;
  model: string;
  streamed: boolean;
  status: number;
  outcome: CallRecord["outcome"] | "expired";
  /** JSON: the counts by bucket that are not zero, the terms of the price, `maxOutputTokens`, and which sides are `estimated`. */
  usage: string;
  input_tokens: number;
  output_tokens: number;
  ms: number;
  first_byte_ms: number | null;
  started_at: number;
  list_credits: number | null;
  parent: string | null;
  session: string | null;
  route: string | null;
  upstream_request_id: string | null;
  /** JSON: a list of `AttemptRecord`. */
  attempts: string | null;
  client_request_id: string | null;
  end_user: string | null;
  /** JSON: the values by their keys. */
  tags: string | null;
  error_code: string | null;
}

/** Their names. */
export const generationColumns = [
  ...(["owner", "operation", "dialect", "provider", "model", "streamed", "status", "outcome", "usage"] as const),
  ...([
    "input_tokens",
    "output_tokens",
    "ms",
    "first_byte_ms",
    "started_at",
    "list_credits",
    "parent",
    "session",
    "route",
    "upstream_request_id",
    "attempts",
    "client_request_id",
    "end_user",
    "tags",
    "error_code",
  ] as const),
];

/** A record, or what is known of a call whose process died. */
export interface StoredCall extends Omit<CallRecord, "operation" | "dialect" | "outcome"> {
  operation: string;
  dialect: string | undefined;
  outcome: GenerationColumns["outcome"];
}

/** The values of a record in the order of `generationColumns`, written out: each call writes them. */
export function generationValues(record: StoredCall): GenerationColumns[keyof GenerationColumns][] {
  const { usage, attempts } = record;
  return [
    record.owner,
    record.operation,
    record.dialect ?? null,
    record.provider,
    record.model,
    record.streamed,
    record.status,
    record.outcome,
    usageColumn(record),
    inputTokens(usage),
    outputTokens(usage),
    record.milliseconds,
    record.millisecondsToFirstByte ?? null,
    record.startedAt,
    record.listCredits ?? null,
    record.parent ?? null,
    record.session ?? null,
    record.route ?? null,
    record.upstreamRequestId ?? null,
    attempts === undefined ? null : JSON.stringify(attempts),
    record.clientRequestId ?? null,
    record.endUser ?? null,
    tagsColumn(record),
    record.errorCode ?? null,
  ];
}

/** The tags as their column has them. */
export function tagsColumn({ tags }: StoredCall): string | null {
  return tags === undefined ? null : JSON.stringify(tags);
}

function usageColumn({ usage, terms, maxOutputTokens, estimated }: StoredCall): string {
  const counts = withoutZeros(usage);
  const isPlain = terms === undefined && maxOutputTokens === undefined && estimated === undefined;
  return JSON.stringify(isPlain ? counts : { ...counts, ...terms, maxOutputTokens, estimated });
}

/** The row of a record, by the names of its columns. */
export function toGenerationColumns(record: CallRecord): GenerationColumns {
  const { owner, operation, dialect, provider, model, streamed, status, outcome, usage, attempts } = record;
  return {
    owner,
    operation,
    dialect: dialect ?? null,
    provider,
    model,
    streamed,
    status,
    outcome,
    usage: usageColumn(record),
    input_tokens: inputTokens(usage),
    output_tokens: outputTokens(usage),
    ms: record.milliseconds,
    first_byte_ms: record.millisecondsToFirstByte ?? null,
    started_at: record.startedAt,
    list_credits: record.listCredits ?? null,
    parent: record.parent ?? null,
    session: record.session ?? null,
    route: record.route ?? null,
    upstream_request_id: record.upstreamRequestId ?? null,
    attempts: attempts === undefined ? null : JSON.stringify(attempts),
    client_request_id: record.clientRequestId ?? null,
    end_user: record.endUser ?? null,
    tags: tagsColumn(record),
    error_code: record.errorCode ?? null,
  };
}

/** Most buckets of most calls are zero: absent ones take no room, and the sums need not read them. */
function withoutZeros(usage: Usage): Usage {
  const counts: Usage = {};
  for (const bucket of keysOf(usage)) {
    const units = usage[bucket];
    if (units !== undefined && units !== 0) counts[bucket] = units;
  }
  return counts;
}
