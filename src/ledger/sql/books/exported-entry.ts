import type { ExportedEntry } from "../../books.ts";

/** A refund is stored as a settlement with a reason. */
export const ENTRY_KIND = "CASE WHEN e.kind = 'settle' AND e.reason IS NOT NULL THEN 'refund' ELSE e.kind END AS kind";

/** The columns of an entry that tell of its call. */
export const CALL_COLUMNS =
  "owner, operation, dialect, provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, ms, first_byte_ms, started_at, parent, session, credits, list_credits, route, upstream_request_id, attempts, client_request_id, end_user, tags, error_code";

export interface ExportRow {
  number: bigint;
  id: string;
  kind: string;
  debit_account: string;
  credit_account: string;
  amount: bigint;
  held: bigint;
  shortfall: bigint;
  created_at: bigint;
  corrects_at: bigint | null;
  owner: string | null;
  operation: string;
  dialect: string | null;
  provider: string;
  model: string;
  /** SQLite's 0 or 1, or Postgres's boolean. */
  streamed: bigint | boolean;
  status: bigint;
  outcome: string;
  usage: string;
  input_tokens: bigint;
  output_tokens: bigint;
  ms: number;
  first_byte_ms: number | null;
  started_at: bigint;
  parent: string | null;
  session: string | null;
  /** Null if the call cost the entry's amount. */
  credits: bigint | null;
  list_credits: bigint | null;
  route: string | null;
  upstream_request_id: string | null;
  attempts: string | null;
  client_request_id: string | null;
  end_user: string | null;
  tags: string | null;
  error_code: string | null;
  actor: string | null;
  reason: string | null;
}

/** Reads an entry with its call from a row of either engine. */
export function toExported(row: ExportRow): ExportedEntry {
  return {
    id: row.id,
    kind: row.kind,
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    amount: row.amount,
    held: row.held,
    shortfall: row.shortfall,
    createdAt: Number(row.created_at),
    correctsAt: row.corrects_at === null ? undefined : Number(row.corrects_at),
    actor: row.actor ?? undefined,
    reason: row.reason ?? undefined,
    call: row.owner === null ? undefined : callOf(row, row.owner),
  };
}

function callOf(row: ExportRow, owner: string): ExportedEntry["call"] {
  return {
    owner,
    operation: row.operation,
    dialect: row.dialect ?? undefined,
    provider: row.provider,
    model: row.model,
    streamed: row.streamed === true || row.streamed === 1n,
    status: Number(row.status),
    outcome: row.outcome,
    usage: row.usage,
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    credits: row.credits ?? row.amount,
    listCredits: row.list_credits ?? undefined,
    milliseconds: row.ms,
    millisecondsToFirstByte: row.first_byte_ms ?? undefined,
    startedAt: Number(row.started_at),
    parent: row.parent ?? undefined,
    session: row.session ?? undefined,
    route: row.route ?? undefined,
    upstreamRequestId: row.upstream_request_id ?? undefined,
    attempts: row.attempts ?? undefined,
    clientRequestId: row.client_request_id ?? undefined,
    endUser: row.end_user ?? undefined,
    tags: row.tags ?? undefined,
    errorCode: row.error_code ?? undefined,
  };
}
