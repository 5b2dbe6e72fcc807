/** The key that stored objects were made with, under another id. */
import { column, runnerOf, sql, type Statement, type Storage, tableOf } from "../../storage/index.ts";

export interface KeyRenaming {
  provider: string;
  /** The id so far. */
  from: string;
  to: string;
}

/** The ids after one, up to another one. */
interface Part {
  after: string;
  upTo: string;
}

/** A table whose records have keys. No index finds those of one key. */
interface KeyTable {
  /** The id that a part of some hundred rows ends with. */
  endOfPart: (after: string) => Statement;
  rename: (renaming: KeyRenaming, part: Part) => Statement;
}

const TABLES: readonly KeyTable[] = [
  {
    endOfPart: (after) => sql`SELECT id FROM responses WHERE id > ${after} ORDER BY id LIMIT 1 OFFSET 500`,
    rename: ({ provider, from, to }, { after, upTo }) => sql`UPDATE responses SET key_id = ${to}
      WHERE id > ${after} AND id <= ${upTo} AND provider = ${provider} AND key_id = ${from}`,
  },
  {
    endOfPart: (after) => sql`SELECT id FROM videos WHERE id > ${after} ORDER BY id LIMIT 1 OFFSET 500`,
    rename: ({ provider, from, to }, { after, upTo }) => sql`UPDATE videos SET key_id = ${to}
      WHERE id > ${after} AND id <= ${upTo} AND provider = ${provider} AND key_id = ${from}`,
  },
  {
    endOfPart: (after) => sql`SELECT id FROM stored_objects WHERE id > ${after} ORDER BY id LIMIT 1 OFFSET 500`,
    rename: ({ provider, from, to }, { after, upTo }) => sql`UPDATE stored_objects SET key_id = ${to}
      WHERE id > ${after} AND id <= ${upTo} AND provider = ${provider} AND key_id = ${from}`,
  },
];

const rows = tableOf({ id: column.text });

/** After all ids. */
const END = "\u{10FFFF}";

/**
 * Gives the records of a key its new id: answers, videos, files and other objects. Safe to repeat. They are read in parts, between
 * which calls go on: on SQLite a statement stops all else in this process, and the writes of the others.
 */
export async function renameKey(storage: Storage, renaming: KeyRenaming): Promise<void> {
  const runner = runnerOf(storage);
  for (const { endOfPart, rename } of TABLES) {
    for (let after = ""; after !== END; await pause()) {
      const end = await runner.first(endOfPart(after), rows.read);
      const upTo = end?.id ?? END;
      await runner.run(rename(renaming, { after, upTo }));
      after = upTo;
    }
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
