import { LEDGER_REMOVE } from "../postgres/books-functions.ts";
import { TAG_SUMS as POSTGRES_TAG_SUMS } from "../postgres/daily-sums.ts";
import { sqliteMonthOf } from "../sums/sqlite-sums.ts";

const KEY = "owner, account_id, provider, model, operation, tags";
const SUMS = ["requests", "failures", "input_tokens", "output_tokens", "credits", "list_credits"] as const;
const REMOVED = SUMS.map((name) => `removed_${name}`);

/** Adds a change of a row of days to its month. */
const addToMonth = (key: string, changes: readonly string[]): string => `
    INSERT INTO monthly_sums (month, ${KEY}, ${SUMS.join(", ")})
    VALUES (${sqliteMonthOf("new.day")}, ${key}, ${changes.join(", ")})
    ON CONFLICT DO UPDATE SET ${SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")};`;

const NEW_KEY = KEY.replaceAll(/\w+/g, (name) => `new.${name}`);

/**
 * The step since which the sums of days know the tags of calls, and those of months stand beside them; see `schema.ts`. No version before it
 * has written tags.
 */
export const TAG_SUMS = {
  sqlite: `
  ALTER TABLE daily_sums RENAME TO sums_without_tags;
  CREATE TABLE daily_sums (
    owner                  TEXT NOT NULL,
    day                    INTEGER NOT NULL, -- days since 1970-01-01 in the time zone
    account_id             TEXT NOT NULL,
    provider               TEXT NOT NULL,
    model                  TEXT NOT NULL,
    operation              TEXT NOT NULL,
    tags                   TEXT NOT NULL, -- as in the record of a call; empty for none
    requests               INTEGER NOT NULL,
    failures               INTEGER NOT NULL DEFAULT 0,
    input_tokens           INTEGER NOT NULL,
    output_tokens          INTEGER NOT NULL,
    credits                INTEGER NOT NULL,
    list_credits           INTEGER NOT NULL DEFAULT 0,
    removed_requests       INTEGER NOT NULL DEFAULT 0,
    removed_failures       INTEGER NOT NULL DEFAULT 0,
    removed_input_tokens   INTEGER NOT NULL DEFAULT 0,
    removed_output_tokens  INTEGER NOT NULL DEFAULT 0,
    removed_credits        INTEGER NOT NULL DEFAULT 0,
    removed_list_credits   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, day, account_id, provider, model, operation, tags)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE monthly_sums (
    owner         TEXT NOT NULL,
    month         INTEGER NOT NULL, -- its first day
    account_id    TEXT NOT NULL,
    provider      TEXT NOT NULL,
    model         TEXT NOT NULL,
    operation     TEXT NOT NULL,
    tags          TEXT NOT NULL,
    requests      INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    credits       INTEGER NOT NULL,
    list_credits  INTEGER NOT NULL,
    PRIMARY KEY (owner, month, account_id, provider, model, operation, tags)
  ) STRICT, WITHOUT ROWID;
  -- Whatever counts a call by its day counts it by its month.
  CREATE TRIGGER new_days_are_in_months AFTER INSERT ON daily_sums BEGIN
    ${addToMonth(
      NEW_KEY,
      SUMS.map((name) => `new.${name}`),
    )}
  END;
  CREATE TRIGGER changed_days_are_in_months AFTER UPDATE OF ${SUMS.join(", ")} ON daily_sums BEGIN
    ${addToMonth(
      NEW_KEY,
      SUMS.map((name) => `new.${name} - old.${name}`),
    )}
  END;
  INSERT INTO daily_sums (owner, day, account_id, provider, model, operation, tags, ${[...SUMS, ...REMOVED].join(", ")})
    SELECT owner, day, account_id, provider, model, operation, '', ${[...SUMS, ...REMOVED].join(", ")} FROM sums_without_tags;
  DROP TABLE sums_without_tags;
  `,
  postgres: POSTGRES_TAG_SUMS + LEDGER_REMOVE.withTags,
};
