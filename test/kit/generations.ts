import type { Generation } from "../../src/generations/index.ts";
import { countingCalls, UTC_DAY } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";

const columns = [
  "id",
  "owner",
  "account_id",
  "operation",
  "dialect",
  "provider",
  "model",
  "streamed",
  "status",
  "outcome",
  "usage",
  "input_tokens",
  "output_tokens",
  "credits",
  "ms",
  "first_byte_ms",
  "started_at",
  "parent",
  "session",
  "route",
  "upstream_request_id",
  "attempts",
  "client_request_id",
  "end_user",
  "tags",
  "error_code",
  "list_credits",
];

/** On SQLite a call stands in the entry that ended it. */
const entryColumns = columns.map((name) => ({ account_id: "debit_account", credits: "amount" })[name] ?? name);

/** A call without an id, an owner and a time of its own. */
export const plainGeneration = {
  operation: "chat",
  dialect: "chat",
  provider: "openai",
  model: "m",
  streamed: false,
  status: 200,
  outcome: "complete",
  usage: {},
  inputTokens: 7,
  outputTokens: 3,
  credits: 10n,
  milliseconds: 1,
  millisecondsToFirstByte: undefined,
} as const;

/** Writes the record of an ended call, as the end of its hold does; on SQLite also in the index of its owner and in the sums of its day. */
export async function insertGeneration(
  storage: Storage,
  generation: Omit<Generation, "accountId"> & Partial<Pick<Generation, "accountId">>,
): Promise<void> {
  const values = [
    generation.id,
    generation.owner,
    generation.accountId ?? `token:${generation.tokenId}`,
    generation.operation,
    generation.dialect ?? null,
    generation.provider,
    generation.model,
    storage.engine === "sqlite" ? Number(generation.streamed) : generation.streamed,
    generation.status ?? 0,
    generation.outcome,
    JSON.stringify(generation.usage),
    generation.inputTokens,
    generation.outputTokens,
    generation.credits,
    generation.milliseconds,
    generation.millisecondsToFirstByte ?? null,
    generation.startedAt,
    generation.parent ?? null,
    generation.session ?? null,
    generation.route ?? null,
    generation.upstreamRequestId ?? null,
    generation.attempts === undefined ? null : JSON.stringify(generation.attempts),
    generation.clientRequestId ?? null,
    generation.endUser ?? null,
    generation.tags === undefined ? null : JSON.stringify(generation.tags),
    generation.errorCode ?? null,
    generation.listCredits ?? null,
  ];
  if (storage.engine === "postgres") {
    const places = values.map((_, index) => `$${index + 1}`);
    await storage.statements.run(
      `INSERT INTO generations (${columns.join(", ")}) VALUES (${places.join(", ")})`,
      values,
    );
    return;
  }
  const { handle } = storage;
  const entry = `INSERT INTO entries (${entryColumns.join(", ")}, kind, credit_account, held, shortfall, created_at)
    VALUES (${values.map(() => "?").join(", ")}, 'settle', 'revenue', 0, 0, 0)`;
  const { lastInsertRowid: number } = handle.query(entry).run(...values);
  handle.query("INSERT INTO calls_by_owner VALUES (?, ?, ?)").run(generation.owner, generation.startedAt, number);
  handle.query("UPDATE calls_by_owner_mark SET number = ?").run(number);
  for (const statement of countingCalls(UTC_DAY, "number = ?")) handle.run(statement, [Number(number)]);
}
