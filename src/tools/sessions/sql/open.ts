import { column, firstOf, inOneCommit, runnerOf, sql, type Storage, tableOf } from "../../../storage/index.ts";
import { type ClientSessionStore, ENDED_STATE, type StoredSession } from "../store.ts";

const { text, integer } = column;

const sessions = tableOf<StoredSession>({ id: text, owner: text, state: text, changedAt: integer });

export function openSessionStateStore(storage: Storage): ClientSessionStore {
  const runner = runnerOf(storage);
  return {
    find: (id) => runner.first(sql`SELECT ${sessions.names} FROM tool_sessions WHERE id = ${id}`, sessions.read),
    change: (session, change, { before, perOwner }) =>
      inOneCommit(storage, function* () {
        const { id, owner } = session;
        yield sql`DELETE FROM tool_sessions WHERE changed_at < ${before}`;
        // Locks the row: of two changes at once, the second one finds what the first one has made.
        const stored = yield* firstOf(
          sql`INSERT INTO tool_sessions (${sessions.names}) VALUES (${sessions.values({ ...session, state: "" })})
            ON CONFLICT (id) DO UPDATE SET changed_at = excluded.changed_at RETURNING ${sessions.names}`,
          sessions.read,
        );
        const state = change(stored?.state ?? "");
        yield sql`UPDATE tool_sessions SET state = ${state} WHERE id = ${id}`;
        const isEnded = state === ENDED_STATE ? 1 : 0;
        const ofKind = sql`(CASE WHEN state = ${ENDED_STATE} THEN 1 ELSE 0 END) = ${isEnded}`;
        yield sql`DELETE FROM tool_sessions WHERE owner = ${owner} AND ${ofKind} AND changed_at <
          (SELECT changed_at FROM tool_sessions WHERE owner = ${owner} AND ${ofKind}
            ORDER BY changed_at DESC LIMIT 1 OFFSET ${perOwner})`;
      }),
  };
}
