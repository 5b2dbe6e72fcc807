/** Converts ledger operations to the parameters of `ledger_commit`, and its result to their outcomes. */
import type { RateLimits } from "../../../core/index.ts";
import type { Parameter } from "../../../storage/index.ts";
import type {
  Hold,
  StoredAnswer,
  LedgerOperation,
  LedgerOutcome,
  ParkedJob,
  RateState,
  Release,
  SeenRates,
  Settle,
} from "../../operations.ts";
import { limitsByLevel, seenRates } from "../../rates.ts";
import { expiresAt, storedAnswerOf } from "../answers.ts";
import { toGenerationColumns } from "../generations.ts";
import { storable } from "./columns.ts";
import type { LedgerCache } from "./ledger-cache.ts";
import { Parts } from "./parts.ts";

/** The result of `ledger_commit`: one element per operation. */
export interface CommitRow {
  outcomes: string[] | null;
  /** The available amount of a refused hold, the shortfall of a settlement, or the number of swept holds. */
  figures: (bigint | null)[];
  /** The account that refused a hold, the reached limit, the hold with the stored answer, or `budgets` if its accounts have some. */
  names: (string | null)[];
  /** JSON: the rates of a hold with limits, or the stored answer, or null if the answer has to be fetched. */
  details: (string | null)[];
  /** The accounts of all chains, and their parents at the same positions; null if the caller passed the chains. */
  link_ids: string[] | null;
  parent_ids: (string | null)[] | null;
}

/**
 * The first parameters: the operations as JSON, a `ledger_operation` each, without absent members; and the positions at
 * which their parts end.
 */
export function batchParameters(operations: readonly LedgerOperation[], memory: LedgerCache): Parameter[] {
  const parts = new Parts(memory);
  const rows = operations.map((operation) => ({ key_place: parts.add(operation), ...columnsOf(operation) }));
  return [JSON.stringify(rows, storableValue), parts.ends().map(String)];
}

function storableValue(_key: string, value: unknown): unknown {
  return typeof value === "string" ? storable(value) : value;
}

function columnsOf(operation: LedgerOperation) {
  switch (operation.kind) {
    case "hold":
      return holdColumns(operation);
    case "settle":
      return {
        ...endColumns(operation),
        ...answerColumns(operation.answer, operation.answerUntil ?? expiresAt(operation.at)),
        tokens: operation.tokens,
      };
    case "release":
      return endColumns(operation);
    case "renew": {
      const { kind, id, leaseUntil, observed, keeper } = operation;
      return { kind, id, lease_until: leaseUntil, amount: observed?.toString(), keeper };
    }
    case "park": {
      const { kind, id, leaseUntil, job } = operation;
      return { kind, id, lease_until: leaseUntil, job: jobColumns(job) };
    }
    case "keep-answer": {
      const { kind, id, accountId, key, answer, until } = operation;
      return { kind, id, account: accountId, retry_key: key, kept_until: until, ...answerColumns(answer, until) };
    }
    case "top-up":
    case "move":
      return { ...operation, amount: String(operation.amount) };
    case "grant": {
      const { kind, id, accountId, amount, at, actor, reason } = operation;
      return { kind, id, account: accountId, amount: String(amount), at, actor, reason };
    }
    case "refund":
    case "sweep":
      return operation;
  }
}

function holdColumns(hold: Hold) {
  const { kind, id, accountId, amount, operation, provider, model, dialect, streamed, at, leaseUntil } = hold;
  const { tokens = 0, retry, parent, session, isPart } = hold;
  const text = String(amount);
  const common = {
    kind,
    id,
    account: accountId,
    amount: text,
    operation,
    provider,
    model,
    dialect,
    streamed,
    at,
    lease_until: leaseUntil,
    tokens,
    parent,
    session,
    is_part: isPart,
  };
  const limits = limitsByLevel(hold)?.map(limitColumns);
  const claim = retry && { retry_key: retry.key, fingerprint: retry.fingerprint, kept_until: expiresAt(at) };
  return { ...common, limits, counts_above: true, ...claim };
}

function limitColumns({ requestsPerMinute, tokensPerMinute, concurrentCalls }: RateLimits) {
  return { requests_max: requestsPerMinute, tokens_max: tokensPerMinute, calls_max: concurrentCalls };
}

function endColumns(end: Settle | Release) {
  const { kind, id, at, record } = end;
  const amount = end.kind === "settle" ? String(end.amount) : undefined;
  return { kind, id, amount, at, record: record && toGenerationColumns(record) };
}

function answerColumns(answer: StoredAnswer | undefined, until: number) {
  if (answer === undefined) return undefined;
  const { status, headers, body } = answer;
  return { status, headers: JSON.stringify(headers), body: body.toBase64(), kept_until: until };
}

/** The columns of a new row of `jobs`, in the order of the table's first ones. */
export function jobColumns({ id, kind, owner, payload, runAt, createdAt, lease }: ParkedJob) {
  return {
    id,
    kind,
    owner,
    payload: JSON.stringify(payload),
    run_at: runAt,
    created_at: createdAt,
    lease_token: lease?.token,
    lease_node: lease?.node,
    lease_until: lease?.until,
  };
}

/** An outcome; a stored answer may still be missing from it. */
export type AnsweredOutcome =
  | Exclude<LedgerOutcome, { outcome: "replayed" }>
  | { outcome: "replayed"; id: string; answer: StoredAnswer | undefined };

export function toOutcomes(operations: readonly LedgerOperation[], row: CommitRow): AnsweredOutcome[] {
  return operations.map((operation, index) => {
    const { kind } = operation;
    const outcome = row.outcomes?.[index];
    if (outcome === undefined) throw new Error(`ledger_commit gave no outcome for ${kind}`);
    const [figure, name, detail] = [row.figures[index] ?? 0n, row.names[index] ?? "", row.details[index] ?? null];
    return toOutcome(operation, { outcome, figure, name, detail });
  });
}

interface Answered {
  outcome: string;
  figure: bigint;
  name: string;
  detail: string | null;
}

/** The names are those of `ledger_commit`, which are the ledger's own. */
function toOutcome(operation: LedgerOperation, { outcome, figure, name, detail }: Answered): AnsweredOutcome {
  const { kind } = operation;
  switch (outcome) {
    case "insufficient":
      return { outcome, accountId: name, available: figure };
    case "limited":
      return {
        outcome,
        limit: name as keyof RateLimits,
        ...(figure > 0n && { level: Number(figure) }),
        ...toRates(operation, detail),
      };
    case "held":
      return { outcome, ...toRates(operation, detail) };
    case "replayed":
      return { outcome, id: name, answer: detail === null ? undefined : toAnswer(detail) };
    case "swept":
      return { outcome, expired: Number(figure) };
    case "settled":
      return { outcome, shortfall: figure };
    case "refunded":
      return { outcome, amount: figure };
    case "exists":
      if (kind === "refund") return { outcome, amount: figure };
      return kind === "settle" ? { outcome, shortfall: figure } : { outcome };
    default:
      return { outcome } as AnsweredOutcome;
  }
}

function toRates(operation: LedgerOperation, detail: string | null): SeenRates {
  if (detail === null || operation.kind !== "hold") return {};
  return seenRates(operation, JSON.parse(detail) as RateState[]);
}

/** Columns of `retry_keys`, the body in base64. */
interface AnswerJson {
  status: number;
  headers: string;
  body: string;
}

function toAnswer(detail: string): StoredAnswer {
  const { status, headers, body } = JSON.parse(detail) as AnswerJson;
  return storedAnswerOf({ status: BigInt(status), headers, body: Uint8Array.fromBase64(body) });
}
