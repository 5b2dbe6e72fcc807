import { column, runnerOf, sql, type Storage, tableOf, textsIn } from "../../../storage/index.ts";
import type { SealedThought, ThoughtStore } from "../store.ts";

/** Rows deleted at a time. */
const DELETED_MAX = 1_000;

const deletions = tableOf<Pick<SealedThought, "id">>({ id: column.text });

const thoughts = tableOf<SealedThought>({ id: column.text, sealed: column.bytes });

export function openThoughtStore(storage: Storage): ThoughtStore {
  const runner = runnerOf(storage);
  return {
    put: async (sealed, keptUntil) => {
      for (const thought of sealed) {
        await runner.run(sql`INSERT INTO kept_thoughts (${thoughts.names}, kept_until)
          VALUES (${thoughts.values(thought)}, ${keptUntil})
          ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed, kept_until = excluded.kept_until`);
      }
    },
    find: (ids, at) =>
      runner.rows(
        sql`SELECT ${thoughts.names} FROM kept_thoughts WHERE kept_until > ${at} AND id IN (${textsIn(ids)})`,
        thoughts.read,
      ),
    deleteExpired: async (at) => {
      for (;;) {
        const deleted = await runner.rows(
          sql`DELETE FROM kept_thoughts WHERE id IN (
            SELECT id FROM kept_thoughts WHERE kept_until <= ${at} ORDER BY kept_until LIMIT ${DELETED_MAX})
            RETURNING id`,
          deletions.read,
        );
        if (deleted.length < DELETED_MAX) return;
      }
    },
  };
}
