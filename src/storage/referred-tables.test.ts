import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { engineSteps, sqliteSteps } from "../../test/kit/storage.ts";
import { migrateSqlite } from "./sqlite/migrate.ts";

/** The step that writes the table of accounts again. */
const before = sqliteSteps.findIndex((step) => step.includes("accounts_widened"));

/** A file before that step, with an account that a token and another account refer to. */
function earlierFile(): Database {
  const database = new Database(":memory:", { safeIntegers: true });
  for (const step of sqliteSteps.slice(0, before)) database.run(step);
  database.run(`PRAGMA user_version = ${before}`);
  database.run("PRAGMA foreign_keys = ON");
  database.run(`INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, credits_posted, open_calls, created_at)
    VALUES ('user:ann', 'user', 'ann', NULL, 1, 5, 'monthly', 9, 2, 3), ('token:t', 'token', 't', 'user:ann', 0, NULL, NULL, 0, 2, 4)`);
  database.run(`INSERT INTO tokens (id, secret_hash, user_name, account_id, service, admin, created_at)
    VALUES ('t', x'00', 'ann', 'token:t', 0, 0, 4)`);
  return database;
}

const insert = (kind: string, period: string): string =>
  `INSERT INTO accounts (id, kind, name, prepaid, period, created_at) VALUES ('${kind}:${period}', '${kind}', 'x', 0, '${period}', 1)`;

test("accounts and what refers to them are kept, and may be those of projects and budgets", () => {
  const database = earlierFile();
  const columns = "id, kind, name, parent_id, prepaid, max_budget, period, credits_posted, open_calls, created_at";
  const rows = database.query(`SELECT ${columns} FROM accounts`).values();
  migrateSqlite(database, engineSteps);
  expect(database.query(`SELECT ${columns} FROM accounts`).values()).toEqual(rows);
  for (const kind of ["project", "budget"]) database.run(insert(kind, "quarterly"));
  for (const wrong of [insert("robot", "daily"), insert("user", "yearly")])
    expect(() => database.run(wrong)).toThrow("CHECK");
  for (const unreferred of ["DELETE FROM accounts WHERE id = 'token:t'", "UPDATE tokens SET account_id = 'token:none'"])
    expect(() => database.run(unreferred)).toThrow("FOREIGN KEY");
  expect(() => database.run("UPDATE entries SET budgets = '[]'")).not.toThrow();
  database.close();
});

test("a file whose rows refer to missing ones stays as it is", () => {
  const database = earlierFile();
  database.run("PRAGMA foreign_keys = OFF");
  database.run("DELETE FROM accounts WHERE id = 'token:t'");
  expect(() => migrateSqlite(database, engineSteps)).toThrow("rows of tokens refer to missing ones");
  expect(database.query("PRAGMA user_version").values()).toEqual([[BigInt(before)]]);
  database.close();
});
