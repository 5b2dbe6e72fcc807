import type { Storage } from "../database.ts";
import { runnerOf } from "./runner.ts";
import type { Statement } from "./statement.ts";
import type { SqlRow } from "./table.ts";

/**
 * The statements of one transaction: each `yield` gives the rows of a statement. Between them the generator must not wait, since on
 * SQLite the transaction runs at once.
 */
export type Steps<Result> = Generator<Statement, Result, SqlRow[]>;

export function* firstOf<Entry>(statement: Statement, read: (row: SqlRow) => Entry): Steps<Entry | undefined> {
  const [row] = yield statement;
  return row && read(row);
}

/**
 * Runs the statements of a generator in one transaction, on either engine. An exception undoes them all. It may be called again if
 * SQLite's file was locked.
 */
export async function inOneCommit<Result>(storage: Storage, steps: () => Steps<Result>): Promise<Result> {
  if (storage.engine === "sqlite") {
    return runnerOf(storage).transaction((transaction) => {
      const running = steps();
      let next = running.next([]);
      while (next.done !== true) next = running.next(transaction.run(next.value));
      return next.value;
    });
  }
  return storage.statements.transaction(async (run) => {
    const running = steps();
    let next = running.next([]);
    while (next.done !== true) {
      const { template, values } = next.value;
      next = running.next(await run<SqlRow>(template.textFor("postgres"), values));
    }
    return next.value;
  });
}
