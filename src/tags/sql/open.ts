import { column, runnerOf, sql, type Storage, tableOf } from "../../storage/index.ts";
import type { TagValueStore } from "../store.ts";

const values = tableOf({ value: column.text });

export function openTagValueStore(storage: Storage): TagValueStore {
  const runner = runnerOf(storage);
  return {
    async add({ organisation, key }, value, valuesMax) {
      for (;;) {
        await runner.run(sql`INSERT INTO tag_values (organisation_id, key, value, place)
          SELECT ${organisation}, ${key}, ${value}, coalesce(max(place), 0) + 1 FROM tag_values
            WHERE organisation_id = ${organisation} AND key = ${key} HAVING coalesce(max(place), 0) < ${valuesMax}
          ON CONFLICT DO NOTHING`);
        const stored = sql`SELECT value FROM tag_values WHERE organisation_id = ${organisation} AND key = ${key}`;
        const all = new Set(await runner.rows(stored, (row) => values.read(row).value));
        // Without either, another process has taken the place in between.
        if (all.has(value) || all.size >= valuesMax) return all;
      }
    },
  };
}
