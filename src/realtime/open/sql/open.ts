import {
  column,
  firstOf,
  inOneCommit,
  LOCK,
  readerOf,
  runnerOf,
  sql,
  type SqlRow,
  type Storage,
  tableOf,
  textsIn,
} from "../../../storage/index.ts";
import type { ListedRealtimeSession, SessionStore } from "../store.ts";

const { text, integer, optional, oneOf } = column;

const sessions = tableOf<ListedRealtimeSession>({
  id: text,
  type: oneOf({ realtime: true, transcription: true }),
  model: text,
  owner: text,
  accountId: text,
  tokenId: text,
  endUser: optional(text),
  node: text,
  process: text,
  openedAt: integer,
  seenAt: integer,
  endAskedAt: optional(integer),
});

const idOf = ({ id }: SqlRow): string => String(id);

export function openSessionStore(storage: Storage): SessionStore {
  const runner = runnerOf(storage);
  const reader = readerOf(storage);
  return {
    add: (added) =>
      inOneCommit(storage, function* () {
        for (const session of added)
          yield sql`INSERT INTO realtime_sessions (${sessions.names}) VALUES (${sessions.values(session)})
            ON CONFLICT (id) DO NOTHING`;
      }),
    remove: (ids) => runner.run(sql`DELETE FROM realtime_sessions WHERE id IN (${textsIn(ids)})`),
    beat: (process, at) =>
      runner.rows(sql`UPDATE realtime_sessions SET seen_at = ${at} WHERE process = ${process} RETURNING id`, idOf),
    toEnd: (process) =>
      runner.rows(sql`SELECT id FROM realtime_sessions WHERE process = ${process} AND end_asked_at IS NOT NULL`, idOf),
    list: (seenSince, { limit, after = "" }) =>
      reader.rows(
        sql`SELECT ${sessions.names} FROM realtime_sessions WHERE id > ${after} AND seen_at >= ${seenSince}
          ORDER BY id LIMIT ${limit}`,
        sessions.read,
      ),
    find: (id, seenSince) =>
      firstOf(
        sql`SELECT ${sessions.names} FROM realtime_sessions WHERE id = ${id} AND seen_at >= ${seenSince} ${LOCK}`,
        sessions.read,
      ),
    *askEnd(id, at) {
      yield sql`UPDATE realtime_sessions SET end_asked_at = ${at} WHERE id = ${id}`;
    },
    deleteBefore: (at) => runner.run(sql`DELETE FROM realtime_sessions WHERE seen_at < ${at}`),
  };
}
