/** Books with years of calls, written by statements over many rows: a gateway would need hours for them. */
import { SQL } from "bun";
import { openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";

const userCount = 16;
const tokensOfUser = 4;
const modelCount = 5;
const chunkCalls = 250_000;
const usage = '{"input":900,"output":180}';

/** The user with half of all calls. */
export const busyUser = "user-0";

export interface Span {
  calls: number;
  from: number;
  to: number;
}

/** Writes calls that began at equal distances within the span, each with its entry and in the sums. */
export async function fill(storage: Storage, url: string, span: Span): Promise<void> {
  const store = openLedgerStore(storage);
  for (let user = 0; user < userCount; user += 1) {
    const common = { parentId: undefined, maxBudget: undefined, period: undefined };
    const id = `user:user-${user}`;
    await store.putAccount({ ...common, id, kind: "user", name: `user-${user}`, prepaid: true }, span.from);
    await store.commit([{ kind: "grant", id: `grant-${user}`, accountId: id, amount: 10n ** 15n, at: span.from }]);
    for (let token = 0; token < tokensOfUser; token += 1) {
      const name = `${user}-${token}`;
      const account = { ...common, id: `token:${name}`, kind: "token", name, parentId: id, prepaid: false } as const;
      await store.putAccount(account, span.from);
    }
  }
  for (const statement of holderStatements(storage)) {
    if (storage.engine === "sqlite") storage.handle.run(statement);
    else await storage.statements.run(statement);
  }
  const pool = storage.engine === "postgres" ? new SQL(url) : undefined;
  // A gateway's own statements have a time-out that these would exceed.
  const run = async (statement: string): Promise<void> => {
    if (storage.engine === "sqlite") storage.handle.run(statement);
    else await pool?.unsafe(statement);
  };
  if (storage.engine === "postgres") await run("ALTER TABLE generations DISABLE TRIGGER USER");
  for (let first = 1; first <= span.calls; first += chunkCalls) {
    const last = Math.min(first + chunkCalls - 1, span.calls);
    for (const statement of callStatements(storage, span, { first, last })) await run(statement);
  }
  for (const statement of finalStatements(storage)) await run(statement);
  await pool?.close();
}

/** The users and tokens of the accounts. */
const holderStatements = ({ engine }: Storage): string[] => [
  `INSERT INTO account_holders (kind, id, name, role, account_id, created_at, version)
   SELECT 'user', name, name, 'member', id, created_at, 1 FROM accounts WHERE kind = 'user'`,
  `INSERT INTO tokens (id, secret_hash, user_name, account_id, service, admin, created_at)
   SELECT t.name, CAST('' AS ${engine === "sqlite" ? "BLOB" : "bytea"}), u.name, t.id, FALSE, FALSE, t.created_at
   FROM accounts t JOIN accounts u ON u.id = t.parent_id WHERE t.kind = 'token'`,
];

const digits = "0123456789abcdefghijklmnopqrstuvwxyz";
const timeDigits = 9;

/** A time in milliseconds as ids of requests begin with it: lists of calls find the calls of a time by that. */
function timeInId(at: string): string {
  const places = Array.from({ length: timeDigits }, (_, index) => digits.length ** (timeDigits - 1 - index));
  return places
    .map((place) => `substr('${digits}', CAST((${at}) / ${place} % ${digits.length} AS integer) + 1, 1)`)
    .join(" || ");
}

function callStatements(
  storage: Storage,
  { calls, from, to }: Span,
  { first, last }: { first: number; last: number },
): string[] {
  const step = Math.floor((to - from) / calls);
  const user = `CASE n % 2 WHEN 0 THEN 0 ELSE (n / 2) % ${userCount} END`;
  const name = `'token:' || (${user}) || '-' || ((n / 7) % ${tokensOfUser})`;
  const common = `'user-' || (${user}) AS owner, 'chat' AS operation, 'chat' AS dialect, 'openai' AS provider,
    'model-' || ((n / 3) % ${modelCount}) AS model`;
  const cost = "1000 + n % 5000";
  const at = `${from} + n * ${step}`;
  if (storage.engine === "sqlite") {
    const id = `'req_' || ${timeInId(at)} || printf('%016d', n)`;
    return [
      `WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
       INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, owner, operation,
         dialect, provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, ms, first_byte_ms, started_at)
       SELECT ${id}, 'settle', ${name}, 'revenue', ${cost}, 10000, 0, ${at} + 900, ${common}, 0, 200, 'complete', '${usage}',
         900, 180, 812.5, 210.0, ${at} FROM numbers`,
    ];
  }
  const id = `'req_' || ${timeInId(at)} || lpad(n::text, 16, '0')`;
  const numbers = `generate_series(${first}::bigint, ${last}) n`;
  return [
    `INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
     SELECT ${id}, 'settle', ${name}, 'revenue', ${cost}, 10000, 0, ${at} + 900 FROM ${numbers}`,
    `INSERT INTO generations (id, account_id, credits, owner, operation, dialect, provider, model, streamed, status, outcome,
       usage, input_tokens, output_tokens, ms, first_byte_ms, started_at)
     SELECT ${id}, ${name}, ${cost}, ${common}, false, 200, 'complete', '${usage}', 900, 180, 812.5, 210, ${at} FROM ${numbers}`,
  ];
}

/** All calls have the same time to their first token, which the second of these columns counts. */
const SUMS = `
  INSERT INTO daily_sums (owner, day, account_id, provider, model, operation, tags, requests, input_tokens, output_tokens, credits,
    first_tokens_1)
  SELECT owner, started_at / 86400000, account_id, provider, model, operation, coalesce(tags, ''), count(*), sum(input_tokens), sum(output_tokens),
    sum(credits), count(*) FROM generations GROUP BY 1, 2, 3, 4, 5, 6, 7`;

/** On SQLite a trigger adds them up. */
const MONTHS = `
  INSERT INTO monthly_sums (month, owner, account_id, provider, model, operation, tags, requests, failures, input_tokens,
    output_tokens, credits, list_credits, first_tokens_1)
  SELECT date_trunc('month', to_timestamp(day * 86400) AT TIME ZONE 'UTC')::date - date '1970-01-01', owner, account_id, provider,
    model, operation, tags, sum(requests), sum(failures), sum(input_tokens), sum(output_tokens), sum(credits), sum(list_credits),
    sum(first_tokens_1)
  FROM daily_sums GROUP BY 1, 2, 3, 4, 5, 6, 7`;

/** The counters, the index and the sums, as the calls' own commits would have left them. */
function finalStatements({ engine }: Storage): string[] {
  const counters = [
    `UPDATE accounts SET debits_posted = (SELECT coalesce(sum(credits), 0) FROM daily_sums WHERE account_id = accounts.id)
     WHERE kind = 'token'`,
    `UPDATE accounts SET debits_posted = (SELECT coalesce(sum(t.debits_posted), 0) FROM accounts t WHERE t.parent_id = accounts.id)
     WHERE kind = 'user'`,
    "UPDATE accounts SET period_debits = debits_posted",
  ];
  if (engine === "sqlite") {
    return [
      "INSERT INTO calls_by_owner SELECT owner, started_at, number FROM generations ORDER BY owner, started_at, number",
      "UPDATE calls_by_owner_mark SET number = (SELECT max(number) FROM entries)",
      SUMS,
      ...counters,
    ];
  }
  return ["ALTER TABLE generations ENABLE TRIGGER USER", SUMS, MONTHS, ...counters, "ANALYZE"];
}
