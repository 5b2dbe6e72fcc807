import { column, runnerOf, sql, type Storage, tableOf } from "../../../storage/index.ts";
import type { Letter, LetterStore } from "../store.ts";

const { text, integer } = column;

const letters = tableOf<Letter>({ id: text, recipient: text, sealed: text, writtenAt: integer });

export function openLetterStore(storage: Storage): LetterStore {
  const runner = runnerOf(storage);
  return {
    add: (letter) => runner.run(sql`INSERT INTO tool_mail (${letters.names}) VALUES (${letters.values(letter)})`),
    take: (recipient, limit) =>
      runner.rows(
        sql`DELETE FROM tool_mail WHERE id IN
          (SELECT id FROM tool_mail WHERE recipient = ${recipient} ORDER BY written_at, id LIMIT ${limit})
          RETURNING ${letters.names}`,
        letters.read,
      ),
    deleteTo: (recipient) => runner.run(sql`DELETE FROM tool_mail WHERE recipient = ${recipient}`),
    deleteBefore: (time) => runner.run(sql`DELETE FROM tool_mail WHERE written_at < ${time}`),
  };
}
