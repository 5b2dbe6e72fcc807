/**
 * The steps of the ledger's tables. Nodes of the previous version may run during and after the migration by a new node.
 *
 * On SQLite a step changes what such a node would write wrongly, so that it refuses to write instead. On Postgres they go on: `SERIES`
 * and `CLOSED_DAYS` replaced `ledger_commit` and `ledger_write` by functions that those nodes can call too, and did not drop their
 * `ledger_commit_plain`: the new function has another name. `CLOSED_DAYS` counts each record by a trigger, whichever function writes
 * it. `PARKED` gives the holds of such nodes their names by a trigger. `REFUNDS`, `SESSIONS`, `ATTEMPTS`, `LEVELS`, `BUDGETED_COMMITS`, `CALL_NAMES` and `PARTS` replaced
 * functions once more; nodes of the previous version keep their own plain function, whose records lack the newer columns. Each function is defined
 * in the step that changed it last; an earlier definition is dropped.
 */
import { bothEngines, together } from "../../storage/index.ts";
import { LEDGER_BOOKS } from "./postgres/books-functions.ts";
import { DAILY_SUMS as POSTGRES_DAILY_SUMS, DAILY_SUMS_COUNTED } from "./postgres/daily-sums.ts";
import { LEDGER_OPERATION } from "./postgres/operation-type.ts";
import { LEDGER_PERIODS } from "./postgres/period-functions.ts";
import { DAILY_SUMS as SQLITE_DAILY_SUMS } from "./sqlite/daily-sums-step.ts";

export { agreeOnTimezone, recountDays } from "./days.ts";
export { REFUNDS } from "./record-steps/refunds-step.ts";
export { SESSIONS } from "./record-steps/sessions-step.ts";
export { ATTEMPTS } from "./record-steps/attempts-step.ts";
export { LEVELS } from "./levels-step.ts";
export { BUDGETS } from "./budgets-step.ts";
export { MOVES } from "./moves-step.ts";
export { BOOK_LISTS, LATE_ENTRIES } from "./book-lists-step.ts";
export { BUDGETED_COMMITS } from "./budgeted-commits-step.ts";
export { CALL_SUMS } from "./record-steps/call-sums-step.ts";
export { TAG_SUMS } from "./record-steps/tag-sums-step.ts";
export { UNIT_SUMS } from "./record-steps/unit-sums-step.ts";
export { CALL_NAMES } from "./record-steps/call-names-step.ts";
export { PARTS } from "./record-steps/parts-step.ts";

/** An earlier version's first step defined them. */
const WITHOUT_FUNCTIONS = `
  DROP FUNCTION IF EXISTS ledger_commit;
  DROP FUNCTION IF EXISTS ledger_commit_plain;
  DROP FUNCTION IF EXISTS ledger_period_start;
  DROP FUNCTION IF EXISTS ledger_period_end;
`;

export const ACCOUNTS = {
  sqlite: `
  CREATE TABLE accounts (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind IN ('token', 'user', 'organisation')),
    name            TEXT NOT NULL,
    parent_id       TEXT REFERENCES accounts (id),
    prepaid         INTEGER NOT NULL CHECK (prepaid IN (0, 1)),
    max_budget      INTEGER CHECK (max_budget >= 0),
    period          TEXT CHECK (period IN ('daily', 'monthly')),
    credits_posted  INTEGER NOT NULL DEFAULT 0,
    debits_posted   INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending  INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    period_start    INTEGER NOT NULL DEFAULT 0,
    period_debits   INTEGER NOT NULL DEFAULT 0 CHECK (period_debits >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Only the open ones: a small table whose pages stay hot. What ended stands in entries.
  CREATE TABLE holds (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount >= 0),
    purpose      TEXT NOT NULL,
    observed     INTEGER CHECK (observed >= 0),
    lease_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The books. A debit of an account counts in each of its parents too. The id is the hold's or the grant's.
  CREATE TABLE entries (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind IN ('grant', 'settle', 'release', 'expire')),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  `,
  postgres: `
  CREATE TABLE accounts (
    id              text COLLATE "C" PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('token', 'user', 'organisation')),
    name            text NOT NULL,
    parent_id       text COLLATE "C" REFERENCES accounts (id),
    chain           text[] COLLATE "C" NOT NULL, -- itself and its parents, upwards; a parent never changes
    prepaid         boolean NOT NULL,
    max_budget      bigint CHECK (max_budget >= 0),
    period          text CHECK (period IN ('daily', 'monthly')),
    credits_posted  bigint NOT NULL DEFAULT 0,
    debits_posted   bigint NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending  bigint NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    period_start    bigint NOT NULL DEFAULT 0,
    period_debits   bigint NOT NULL DEFAULT 0 CHECK (period_debits >= 0),
    created_at      bigint NOT NULL
  ) WITH (fillfactor = 50); -- room in each page for the counters' next versions, which then need no index entry

  CREATE FUNCTION chain_account() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.chain := NEW.id || coalesce((SELECT a.chain FROM accounts a WHERE a.id = NEW.parent_id), '{}');
    RETURN NEW;
  END $$;
  CREATE TRIGGER accounts_are_chained BEFORE INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION chain_account();

  -- Only the open ones: a small table whose pages stay hot. What ended stands in entries.
  CREATE TABLE holds (
    id           text COLLATE "C" PRIMARY KEY,
    account_id   text COLLATE "C" NOT NULL,
    amount       bigint NOT NULL CHECK (amount >= 0),
    purpose      text NOT NULL,
    observed     bigint CHECK (observed >= 0),
    lease_until  bigint NOT NULL,
    created_at   bigint NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0);

  -- The books. A debit of an account counts in each of its parents too. The id is the hold's or the grant's.
  CREATE TABLE entries (
    id              text COLLATE "C" PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('grant', 'settle', 'release', 'expire')),
    debit_account   text COLLATE "C" NOT NULL,
    credit_account  text COLLATE "C" NOT NULL,
    amount          bigint NOT NULL CHECK (amount >= 0),
    held            bigint NOT NULL CHECK (held >= 0),
    shortfall       bigint NOT NULL CHECK (shortfall >= 0),
    created_at      bigint NOT NULL
  );
  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are only appended', TG_TABLE_NAME;
  END $$;
  CREATE TRIGGER entries_are_only_appended BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  `,
};

export const RATES = together(
  bothEngines(`
  -- What an account's running minute has seen, and its open calls.
  ALTER TABLE accounts ADD COLUMN minute_start INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN minute_requests INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN minute_tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN open_calls INTEGER NOT NULL DEFAULT 0;
  UPDATE accounts SET open_calls = (SELECT count(*) FROM holds WHERE account_id = accounts.id);
  ALTER TABLE holds ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE holds ADD COLUMN retry_key TEXT; -- the key that it claims
  `),
  {
    postgres: `
  ${WITHOUT_FUNCTIONS}
  -- Postgres reads each check anew for every statement, and these are the longest: what they guard is never changed.
  ALTER TABLE accounts DROP CONSTRAINT accounts_kind_check, DROP CONSTRAINT accounts_period_check;
  ALTER TABLE entries DROP CONSTRAINT entries_kind_check;
  `,
  },
);

export const RECORDS = together(
  bothEngines(
    `
  -- One row a call that has ended. Counts and names only. The id is the request's, and its hold's.
  CREATE TABLE generations (
    id             TEXT PRIMARY KEY,
    owner          TEXT NOT NULL, -- the user
    account_id     TEXT NOT NULL,
    operation      TEXT NOT NULL,
    dialect        TEXT,
    provider       TEXT NOT NULL,
    model          TEXT NOT NULL,
    streamed       INTEGER NOT NULL CHECK (streamed IN (0, 1)),
    status         INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- of the call, or 'expired' where its process died
    usage          TEXT NOT NULL, -- counts by bucket, as JSON
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    credits        INTEGER NOT NULL,
    ms             REAL NOT NULL,
    first_byte_ms  REAL,
    started_at     INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX generations_by_owner ON generations (owner, started_at);

  -- A claim has no answer yet and lives as long as its hold; an answer is kept for a day.
  CREATE TABLE retry_keys (
    account_id   TEXT NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    hold_id      TEXT NOT NULL,
    status       INTEGER,
    headers      TEXT,
    body         BLOB,
    kept_until   INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
  ) STRICT; -- with row ids: bodies are too large for the pages of an index
  CREATE INDEX retry_keys_by_age ON retry_keys (kept_until);
  `,
    "id account_id key hold_id",
  ),
  { postgres: LEDGER_OPERATION + LEDGER_PERIODS },
);

export const KINDS_COMPARED = {
  sqlite: `
  -- The kinds are compared one by one: SQLite makes a list of more than two into a table at each insert, which cost more
  -- than the rest of the insert.
  ALTER TABLE entries RENAME TO entries_before;
  CREATE TABLE entries (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind = 'settle' OR kind = 'release' OR kind = 'expire' OR kind = 'grant'),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
    SELECT id, kind, debit_account, credit_account, amount, held, shortfall, created_at FROM entries_before ORDER BY id;
  DROP TABLE entries_before;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  `,
};

export const NUMBERED_RECORDS = {
  sqlite: `
  -- Calls are appended in the order of their ends, which changes fewer pages a commit than rows by id do, and an entry
  -- names the call that it charged: no index by id is needed.
  ALTER TABLE generations RENAME TO generations_before;
  DROP INDEX generations_by_owner;
  CREATE TABLE generations (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL,
    owner          TEXT NOT NULL, -- the user
    account_id     TEXT NOT NULL,
    operation      TEXT NOT NULL,
    dialect        TEXT,
    provider       TEXT NOT NULL,
    model          TEXT NOT NULL,
    streamed       INTEGER NOT NULL CHECK (streamed IN (0, 1)),
    status         INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- of the call, or 'expired' where its process died
    usage          TEXT NOT NULL, -- counts by bucket, as JSON
    input_tokens   INTEGER NOT NULL,
    output_tokens  INTEGER NOT NULL,
    credits        INTEGER NOT NULL,
    ms             REAL NOT NULL,
    first_byte_ms  REAL,
    started_at     INTEGER NOT NULL
  ) STRICT;
  INSERT INTO generations (id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, credits, ms, first_byte_ms, started_at)
    SELECT id, owner, account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, credits, ms, first_byte_ms, started_at FROM generations_before ORDER BY id;
  CREATE INDEX generations_by_owner ON generations (owner, started_at);
  DROP TRIGGER entries_are_never_changed;
  ALTER TABLE entries ADD COLUMN call INTEGER; -- the generation's number, of an entry that ended a call
  CREATE INDEX generations_by_id ON generations (id);
  UPDATE entries SET call = (SELECT number FROM generations WHERE id = entries.id);
  DROP INDEX generations_by_id;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  DROP TABLE generations_before;
  `,
};

export const RECORDS_IN_ENTRIES = {
  sqlite: `
  -- A server of an earlier version that still runs must not go on: it could take holds, and no longer charge for them. With
  -- this name gone it refuses every call.
  ALTER TABLE accounts RENAME COLUMN minute_start TO minute_began;

  -- The entry that ends a call tells of it too: one row a call instead of two, and appended, which changes fewer pages than
  -- rows by id do. What it tells of the call may be made better by a late end; the books themselves never change.
  ALTER TABLE entries RENAME TO entries_before;
  ALTER TABLE generations RENAME TO generations_before;
  CREATE TABLE entries (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    kind            TEXT NOT NULL CHECK (kind = 'settle' OR kind = 'release' OR kind = 'expire' OR kind = 'grant'),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL,
    -- Of the call that it ended. Counts and names only.
    owner           TEXT, -- the user; null where it ended none
    operation       TEXT,
    dialect         TEXT,
    provider        TEXT,
    model           TEXT,
    streamed        INTEGER,
    status          INTEGER,
    outcome         TEXT, -- of the call, or 'expired' where its process died
    usage           TEXT, -- counts by bucket, as JSON
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    ms              REAL,
    first_byte_ms   REAL,
    started_at      INTEGER,
    credits         INTEGER, -- what the call cost in all, where a late end has made that another amount
    CHECK (owner IS NULL OR (operation IS NOT NULL AND provider IS NOT NULL AND model IS NOT NULL AND streamed IS NOT NULL
      AND status IS NOT NULL AND outcome IS NOT NULL AND usage IS NOT NULL AND input_tokens IS NOT NULL
      AND output_tokens IS NOT NULL AND ms IS NOT NULL AND started_at IS NOT NULL))
  ) STRICT;
  -- By id and not by number: an entry has no number where a process of the fourth step went on writing after the fifth.
  CREATE INDEX generations_by_id ON generations_before (id);
  INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, owner, operation, dialect,
      provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, ms, first_byte_ms, started_at, credits)
    SELECT e.id, e.kind, e.debit_account, e.credit_account, e.amount, e.held, e.shortfall, e.created_at, g.owner, g.operation,
      g.dialect, g.provider, g.model, g.streamed, g.status, g.outcome, g.usage, g.input_tokens, g.output_tokens, g.ms,
      g.first_byte_ms, g.started_at, nullif(g.credits, e.amount)
    FROM entries_before e
      LEFT JOIN generations_before g ON g.number = (SELECT max(number) FROM generations_before WHERE id = e.id)
    ORDER BY e.id;
  DROP TABLE entries_before;
  DROP TABLE generations_before;
  CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
  CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;

  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at
    FROM entries WHERE owner IS NOT NULL;

  -- An index of calls that is filled many at a time: it has those up to the mark.
  CREATE TABLE calls_by_owner (
    owner       TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    PRIMARY KEY (owner, started_at, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE calls_by_owner_mark (number INTEGER NOT NULL) STRICT;
  INSERT INTO calls_by_owner_mark SELECT coalesce(max(number), 0) FROM entries;
  INSERT INTO calls_by_owner SELECT owner, started_at, number FROM generations ORDER BY owner, started_at, number;
  `,
};

/** On Postgres the tables are altered in the order in which a commit locks them, so a migration and a commit cannot deadlock. */
export const SERIES = {
  sqlite: `
  -- Adding a column writes no row, however many rows there are. A server of the sixth step that still runs compares
  -- user_version before each commit and refuses to write to the ledger from now on. Its other statements name their columns
  -- and stay correct.
  ALTER TABLE holds ADD COLUMN keeper TEXT NOT NULL DEFAULT 'process' CHECK (keeper = 'process' OR keeper = 'job');
  ALTER TABLE holds ADD COLUMN parent TEXT; -- the series that its call belongs to
  ALTER TABLE entries ADD COLUMN parent TEXT; -- of the call that it ended; null where that is of no series
  DROP VIEW generations;
  CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at, parent
    FROM entries WHERE owner IS NOT NULL;
  `,
  postgres: `
  ALTER TABLE holds ADD COLUMN keeper text NOT NULL DEFAULT 'process', ADD COLUMN parent text;
  ALTER TABLE generations ADD COLUMN parent text;
  `,
};

/** The last part of the same step. Values that a running commit has already read stay valid: their new attributes are NULL. */
export const SERIES_OPERATIONS = {
  postgres: `
  ALTER TYPE ledger_operation
    ADD ATTRIBUTE parent text, -- of a hold
    ADD ATTRIBUTE keeper text; -- of a renewal
  `,
};

export const CLOSED_DAYS = {
  sqlite: SQLITE_DAILY_SUMS,
  postgres: POSTGRES_DAILY_SUMS + LEDGER_BOOKS + DAILY_SUMS_COUNTED,
};

export const PARKED = {
  sqlite: `
  -- What the record of an expired call needs, in columns of its own instead of a text that had to be taken apart:
  -- "<operation> <provider>/<model>". A server of the previous step refuses to write to the ledger from now on.
  ALTER TABLE holds ADD COLUMN operation TEXT NOT NULL DEFAULT '';
  ALTER TABLE holds ADD COLUMN provider TEXT NOT NULL DEFAULT '';
  ALTER TABLE holds ADD COLUMN model TEXT NOT NULL DEFAULT '';
  ALTER TABLE holds ADD COLUMN dialect TEXT; -- of the client
  ALTER TABLE holds ADD COLUMN streamed INTEGER NOT NULL DEFAULT 0 CHECK (streamed = 0 OR streamed = 1);
  UPDATE holds SET operation = substr(purpose, 1, instr(purpose || ' ', ' ') - 1),
    model = substr(purpose, instr(purpose || ' ', ' ') + 1);
  UPDATE holds SET provider = substr(model, 1, instr(model || '/', '/') - 1), model = substr(model, instr(model || '/', '/') + 1);
  ALTER TABLE holds DROP COLUMN purpose;

  -- The retry keys of videos were in the videos' own table: those that are answered, and those whose video is being created.
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until)
    SELECT account_id, retry_key, fingerprint, id, 200, '[["content-type","application/json"]]', CAST(created_answer AS BLOB),
      created_at + 86400000
    FROM videos WHERE retry_key IS NOT NULL AND created_answer IS NOT NULL ON CONFLICT DO NOTHING;
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until)
    SELECT v.account_id, v.retry_key, v.fingerprint, v.id, v.created_at + 86400000 FROM videos v JOIN holds h ON h.id = v.id
    WHERE v.retry_key IS NOT NULL AND v.created_answer IS NULL ON CONFLICT DO NOTHING;
  UPDATE holds SET retry_key = (SELECT retry_key FROM videos WHERE videos.id = holds.id)
    WHERE id IN (SELECT id FROM videos WHERE retry_key IS NOT NULL);
  `,
  postgres: `
  -- Nodes of the previous version send a purpose in place of the names.
  ALTER TYPE ledger_operation
    ADD ATTRIBUTE operation text, -- of a hold, with the next four
    ADD ATTRIBUTE provider text,
    ADD ATTRIBUTE model text,
    ADD ATTRIBUTE dialect text,
    ADD ATTRIBUTE streamed boolean,
    ADD ATTRIBUTE job json; -- of a hand-over: columns of a row of jobs

  -- What the record of an expired call needs, in columns of its own instead of a text that had to be taken apart:
  -- "<operation> <provider>/<model>". Nodes of the previous version still write that text, and read it in their listings.
  ALTER TABLE holds
    ALTER COLUMN purpose SET DEFAULT '',
    ADD COLUMN operation text NOT NULL DEFAULT '',
    ADD COLUMN provider text NOT NULL DEFAULT '',
    ADD COLUMN model text NOT NULL DEFAULT '',
    ADD COLUMN dialect text,
    ADD COLUMN streamed boolean NOT NULL DEFAULT false;
  CREATE FUNCTION held_call(purpose text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_match(purpose, '^(\\S*) ?([^/]*)/?(.*)$')
  $$;
  UPDATE holds SET operation = (held_call(purpose))[1], provider = (held_call(purpose))[2], model = (held_call(purpose))[3];

  -- The retry keys of videos.
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, status, headers, body, kept_until)
    SELECT account_id, retry_key, fingerprint, id, 200, '[["content-type","application/json"]]',
      convert_to(created_answer, 'UTF8'), created_at + 86400000
    FROM videos WHERE retry_key IS NOT NULL AND created_answer IS NOT NULL ON CONFLICT DO NOTHING;
  INSERT INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until)
    SELECT v.account_id, v.retry_key, v.fingerprint, v.id, v.created_at + 86400000 FROM videos v JOIN holds h ON h.id = v.id
    WHERE v.retry_key IS NOT NULL AND v.created_answer IS NULL ON CONFLICT DO NOTHING;
  UPDATE holds h SET retry_key = v.retry_key FROM videos v WHERE v.id = h.id AND v.retry_key IS NOT NULL;

  CREATE FUNCTION name_held_call() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    words CONSTANT text[] := held_call(NEW.purpose);
  BEGIN
    NEW.operation := words[1]; NEW.provider := words[2]; NEW.model := words[3];
    RETURN NEW;
  END $$;
  CREATE TRIGGER holds_of_earlier_nodes_are_named BEFORE INSERT ON holds
    FOR EACH ROW WHEN (NEW.purpose <> '') EXECUTE FUNCTION name_held_call();
  `,
};
