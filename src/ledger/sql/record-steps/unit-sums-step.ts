import { LEDGER_REMOVE } from "../postgres/books-functions.ts";
import { UNIT_SUMS as POSTGRES_UNIT_SUMS } from "../postgres/daily-sums.ts";
import { adding, countUnits, sqliteMonthOf, UTC_DAY, ZONE_DAY } from "../sums/sqlite-sums.ts";
import { firstTokenColumns, sumColumns, sumKey, unitColumns, unknownBuckets } from "../sums/sum-columns.ts";

const KEY = sumKey.join(", ");

const NEW_MONTH = sqliteMonthOf("new.day");

const newColumns = [...unitColumns, ...firstTokenColumns];

/** The triggers that count in months whatever changes in days. `key` are the columns of the key besides the time. */
function countingMonths(days: string, months: string, { key, sums }: { key: string; sums: readonly string[] }): string {
  const newKey = key.replaceAll(/\w+/g, (name) => `new.${name}`);
  const add = (changes: readonly string[]): string => `
    INSERT INTO ${months} (month, ${key}, ${sums.join(", ")}) VALUES (${NEW_MONTH}, ${newKey}, ${changes.join(", ")})
    ${adding(sums)};`;
  return `
  CREATE TRIGGER new_${days}_are_in_months AFTER INSERT ON ${days} BEGIN
    ${add(sums.map((name) => `new.${name}`))}
  END;
  CREATE TRIGGER changed_${days}_are_in_months AFTER UPDATE OF ${sums.join(", ")} ON ${days} BEGIN
    ${add(sums.map((name) => `new.${name} - old.${name}`))}
  END;`;
}

const tableOfUnits = (table: string, day: "day" | "month"): string => `
  CREATE TABLE ${table} (
    owner       TEXT NOT NULL,
    ${day}         INTEGER NOT NULL,
    account_id  TEXT NOT NULL,
    provider    TEXT NOT NULL,
    model       TEXT NOT NULL,
    operation   TEXT NOT NULL,
    tags        TEXT NOT NULL,
    bucket      TEXT NOT NULL, -- as in the usage of a call's record
    units       INTEGER NOT NULL,
    PRIMARY KEY (owner, ${day}, account_id, provider, model, operation, tags, bucket)
  ) STRICT, WITHOUT ROWID;`;

const addColumns = (table: string): string =>
  newColumns.map((name) => `ALTER TABLE ${table} ADD COLUMN ${name} INTEGER NOT NULL DEFAULT 0;`).join("\n  ");

const DAY = `CASE (SELECT timezone FROM ledger_state) WHEN 'UTC' THEN ${UTC_DAY} ELSE ${ZONE_DAY} END`;

/** The sqlite part is a step of its own: there no earlier version may count calls, since it would leave these columns out. */
export const UNIT_SUMS = {
  sqlite: `
  DROP TRIGGER new_days_are_in_months;
  DROP TRIGGER changed_days_are_in_months;
  ${addColumns("daily_sums")}
  ${addColumns("monthly_sums")}
  ${tableOfUnits("daily_units", "day")}
  ${tableOfUnits("monthly_units", "month")}
  ${countingMonths("daily_sums", "monthly_sums", { key: KEY, sums: sumColumns })}
  ${countingMonths("daily_units", "monthly_units", { key: `${KEY}, bucket`, sums: ["units"] })}
  ${countUnits(DAY, "number <= (SELECT number FROM calls_by_owner_mark)")}
  ${Object.entries(unknownBuckets)
    .map(
      ([side, bucket]) => `
  INSERT INTO daily_units (owner, day, ${KEY.replace("owner, ", "")}, bucket, units)
    SELECT owner, day, ${KEY.replace("owner, ", "")}, '${bucket}', removed_${side}_tokens FROM daily_sums WHERE removed_${side}_tokens > 0;`,
    )
    .join("")}
  `,
  postgres: POSTGRES_UNIT_SUMS + LEDGER_REMOVE.present,
};
