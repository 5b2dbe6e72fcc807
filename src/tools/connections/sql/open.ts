import {
  column,
  firstOf,
  runnerOf,
  sql,
  type SqlRunner,
  type Steps,
  type Storage,
  tableOf,
} from "../../../storage/index.ts";
import type { ToolConnection, ConnectionPlace, ConnectionStatus } from "../connection.ts";

const { text, integer, bytes, optional, oneOf } = column;

const statuses: Readonly<Record<ConnectionStatus, true>> = { pending: true, connected: true, expired: true };

const connections = tableOf<ToolConnection>({
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
  of(owner: string): Promise<ToolConnection[]>;
  /** Those of an owner at a server. */
  at(place: Pick<ConnectionPlace, "server" | "owner">): Promise<ToolConnection[]>;
  find(id: string): Promise<ToolConnection | undefined>;
  /**
   * Claims the renewal of these credentials until a time: of several processes, one gets it. Resolves with whether this one has.
   */
  claimRenewal(
    connection: Pick<ToolConnection, "id" | "version">,
    claim: { now: number; until: number },
  ): Promise<boolean>;
  /** Stores the renewed credentials, by the owner of the claim; undefined if they are no longer taken. Resolves with the connection. */
  endRenewal(
    connection: Pick<ToolConnection, "id" | "version">,
    renewed: { until: number; sealed: string | undefined },
  ): Promise<ToolConnection | undefined>;
  /** Gives a claim back. */
  leaveRenewal(connection: Pick<ToolConnection, "id" | "version">, until: number): Promise<void>;
  /** Changes the stored form of credentials that are the same otherwise. */
  reseal(connection: Pick<ToolConnection, "id" | "version">, sealed: string): Promise<void>;
  authorizations: AuthorizationStore;
  clients: ClientStore;
  /** Deletes those of users that were deleted, and sign-ins that came to no end. */
  deleteAbandoned(now: number): Promise<void>;
}

/** A sign-in that a browser has begun. */
interface Authorization {
  stateHash: Uint8Array;
  connectionId: string;
  sealed: string;
  expiresAt: number;
}

interface AuthorizationStore {
  insert(authorization: Authorization): Promise<void>;
  find(stateHash: Uint8Array): Promise<Authorization | undefined>;
  /** Of two requests with one state, one gets it. */
  take(stateHash: Uint8Array): Promise<boolean>;
}

/** A registration of the gateway as a client. */
export interface ClientPlace {
  server: string;
  issuer: string;
  redirect: string;
}

interface ClientStore {
  find(place: ClientPlace): Promise<string | undefined>;
  /** Leaves the one that there is. */
  keep(place: ClientPlace, client: { sealed: string; at: number }): Promise<void>;
  forget(place: ClientPlace): Promise<void>;
}

const authorizations = tableOf<Authorization>({
  stateHash: bytes,
  connectionId: text,
  sealed: text,
  expiresAt: integer,
});

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
    claimRenewal: ({ id, version }, { now, until }) =>
      runner.hasRows(sql`UPDATE tool_connections SET renewal_until = ${until} WHERE id = ${id} AND version = ${version}
        AND status = 'connected' AND (renewal_until IS NULL OR renewal_until <= ${now}) RETURNING id`),
    endRenewal: ({ id, version }, { until, sealed }) =>
      runner.first(
        sealed === undefined
          ? sql`UPDATE tool_connections SET status = 'expired', renewal_until = NULL
              WHERE id = ${id} AND version = ${version} AND renewal_until = ${until} RETURNING ${connections.names}`
          : sql`UPDATE tool_connections SET sealed = ${sealed}, version = version + 1, renewal_until = NULL
              WHERE id = ${id} AND version = ${version} AND renewal_until = ${until} RETURNING ${connections.names}`,
        connections.read,
      ),
    leaveRenewal: ({ id, version }, until) =>
      runner.run(sql`UPDATE tool_connections SET renewal_until = NULL
        WHERE id = ${id} AND version = ${version} AND renewal_until = ${until}`),
    reseal: ({ id, version }, sealed) =>
      runner.run(sql`UPDATE tool_connections SET sealed = ${sealed}, version = version + 1
        WHERE id = ${id} AND version = ${version} AND renewal_until IS NULL`),
    authorizations: authorizationsIn(runner),
    clients: clientsIn(runner),
    async deleteAbandoned(now) {
      await runner.run(sql`DELETE FROM tool_connections WHERE id IN (SELECT tool_connections.id FROM tool_connections
        JOIN account_holders ON account_holders.kind = 'user' AND account_holders.id = tool_connections.owner
        WHERE account_holders.deleted_at IS NOT NULL LIMIT ${DELETED_MAX})`);
      await runner.run(sql`DELETE FROM tool_authorizations WHERE state_hash IN
        (SELECT state_hash FROM tool_authorizations WHERE expires_at < ${now} LIMIT ${DELETED_MAX})`);
    },
  };
}

function authorizationsIn(runner: SqlRunner): AuthorizationStore {
  return {
    insert: (authorization) =>
      runner.run(
        sql`INSERT INTO tool_authorizations (${authorizations.names}) VALUES (${authorizations.values(authorization)})`,
      ),
    find: (stateHash) =>
      runner.first(
        sql`SELECT ${authorizations.names} FROM tool_authorizations WHERE state_hash = ${stateHash}`,
        authorizations.read,
      ),
    take: (stateHash) =>
      runner.hasRows(sql`DELETE FROM tool_authorizations WHERE state_hash = ${stateHash} RETURNING connection_id`),
  };
}

const registered = tableOf<{ sealed: string }>({ sealed: text });

function clientsIn(runner: SqlRunner): ClientStore {
  return {
    async find({ server, issuer, redirect }) {
      const found = await runner.first(
        sql`SELECT ${registered.names} FROM tool_clients WHERE server = ${server} AND issuer = ${issuer} AND redirect = ${redirect}`,
        registered.read,
      );
      return found?.sealed;
    },
    keep: ({ server, issuer, redirect }, { sealed, at }) =>
      runner.run(sql`INSERT INTO tool_clients (server, issuer, redirect, sealed, made_at)
        VALUES (${server}, ${issuer}, ${redirect}, ${sealed}, ${at}) ON CONFLICT (server, issuer, redirect) DO NOTHING`),
    forget: ({ server, issuer, redirect }) =>
      runner.run(
        sql`DELETE FROM tool_clients WHERE server = ${server} AND issuer = ${issuer} AND redirect = ${redirect}`,
      ),
  };
}

/** Within an act, which no other act overlaps. */
export function* connectionsOf(owner: string): Steps<ToolConnection[]> {
  const rows = yield sql`SELECT ${connections.names} FROM tool_connections WHERE owner = ${owner}`;
  return rows.map((row) => connections.read(row));
}

export function* insertConnection(connection: ToolConnection): Steps<void> {
  yield sql`INSERT INTO tool_connections (${connections.names}) VALUES (${connections.values(connection)})`;
}

/** Stores credentials that the owner has given. */
export function* connect(id: string, { sealed, at }: { sealed: string; at: number }): Steps<void> {
  yield sql`UPDATE tool_connections SET status = 'connected', sealed = ${sealed}, version = version + 1, renewal_until = NULL,
    connected_at = ${at} WHERE id = ${id}`;
}

/** Deletes the owner's connection with this id, and with it the sign-ins that were begun for it. */
export function* deleteConnection({
  id,
  owner,
}: Pick<ToolConnection, "id" | "owner">): Steps<ToolConnection | undefined> {
  const found = yield* firstOf(
    sql`DELETE FROM tool_connections WHERE id = ${id} AND owner = ${owner} RETURNING ${connections.names}`,
    connections.read,
  );
  if (found !== undefined) yield sql`DELETE FROM tool_authorizations WHERE connection_id = ${id}`;
  return found;
}
