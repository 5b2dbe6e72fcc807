import { column, firstOf, runnerOf, sql, type Steps, type Storage, tableOf } from "../../../storage/index.ts";
import type { Connection, ConnectionPlace, ConnectionStatus } from "../connection.ts";

const { text, integer, optional, oneOf } = column;

const statuses: Readonly<Record<ConnectionStatus, true>> = { pending: true, connected: true, expired: true };

const connections = tableOf<Connection>({
  id: text,
  server: text,
  owner: text,
  account: text,
  status: oneOf(statuses),
  sealed: optional(text),
  version: integer,
  renewalUntil: optional(integer),
  createdAt: integer,
  connectedAt: optional(integer),
});

export interface ConnectionStore {
  /** All of an owner, by server and account. */
  of(owner: string): Promise<Connection[]>;
  /** Those of an owner at a server. */
  at(place: Pick<ConnectionPlace, "server" | "owner">): Promise<Connection[]>;
  find(id: string): Promise<Connection | undefined>;
  /** Deletes those of users that were deleted. */
  deleteAbandoned(): Promise<void>;
}

/** Rows that are deleted at a time. */
const DELETED_MAX = 500;

export function openConnectionStore(storage: Storage): ConnectionStore {
  const runner = runnerOf(storage);
  return {
    of: (owner) =>
      runner.rows(
        sql`SELECT ${connections.names} FROM tool_connections WHERE owner = ${owner} ORDER BY server, account`,
        connections.read,
      ),
    at: ({ server, owner }) =>
      runner.rows(
        sql`SELECT ${connections.names} FROM tool_connections WHERE owner = ${owner} AND server = ${server} ORDER BY account`,
        connections.read,
      ),
    find: (id) =>
      runner.first(sql`SELECT ${connections.names} FROM tool_connections WHERE id = ${id}`, connections.read),
    deleteAbandoned: () =>
      runner.run(sql`DELETE FROM tool_connections WHERE id IN (SELECT tool_connections.id FROM tool_connections
        JOIN account_holders ON account_holders.kind = 'user' AND account_holders.id = tool_connections.owner
        WHERE account_holders.deleted_at IS NOT NULL LIMIT ${DELETED_MAX})`),
  };
}

/** Within an act, which no other act overlaps. */
export function* connectionsOf(owner: string): Steps<Connection[]> {
  const rows = yield sql`SELECT ${connections.names} FROM tool_connections WHERE owner = ${owner}`;
  return rows.map((row) => connections.read(row));
}

export function* insertConnection(connection: Connection): Steps<void> {
  yield sql`INSERT INTO tool_connections (${connections.names}) VALUES (${connections.values(connection)})`;
}

/** Stores credentials that the owner has given. */
export function* connect(id: string, { sealed, at }: { sealed: string; at: number }): Steps<void> {
  yield sql`UPDATE tool_connections SET status = 'connected', sealed = ${sealed}, version = version + 1, renewal_until = NULL,
    connected_at = ${at} WHERE id = ${id}`;
}

/** Deletes the owner's connection with this id, and with it the sign-ins that were begun for it. */
export function* deleteConnection({ id, owner }: Pick<Connection, "id" | "owner">): Steps<Connection | undefined> {
  const found = yield* firstOf(
    sql`DELETE FROM tool_connections WHERE id = ${id} AND owner = ${owner} RETURNING ${connections.names}`,
    connections.read,
  );
  if (found !== undefined) yield sql`DELETE FROM tool_authorizations WHERE connection_id = ${id}`;
  return found;
}
