import type { Database } from "bun:sqlite";
import type { Statements } from "../../storage/index.ts";
import type { ClientSecretRecord, ClientSecretStore, RealtimeGrant } from "../client-secret.ts";

interface Row {
  id: string;
  secret_hash: Uint8Array;
  token_id: string;
  session: string;
  created_at: bigint;
  expires_at: bigint;
}

type Values = [string, Uint8Array, string, string, number, number];

/** The statements; the engines differ in the names of parameters. */
function statementsWith(parameter: (index: number) => string) {
  const all = [1, 2, 3, 4, 5, 6].map(parameter);
  return {
    insert: `INSERT INTO client_secrets (id, secret_hash, token_id, session, created_at, expires_at) VALUES (${all.join(", ")})`,
    find: `SELECT * FROM client_secrets WHERE id = ${all[0]} AND secret_hash = ${all[1]}`,
    deleteExpired: `DELETE FROM client_secrets WHERE expires_at < ${all[0]}`,
  };
}

function valuesOf({ id, secretHash, tokenId, grant, createdAt, expiresAt }: ClientSecretRecord): Values {
  return [id, secretHash, tokenId, JSON.stringify(grant), createdAt, expiresAt];
}

function toRecord(row: Row): ClientSecretRecord {
  return {
    id: row.id,
    secretHash: row.secret_hash,
    tokenId: row.token_id,
    // Written by `valuesOf`.
    grant: JSON.parse(row.session) as RealtimeGrant,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
  };
}

const SQLITE = statementsWith((index) => `?${index}`);
const POSTGRES = statementsWith((index) => `$${index}`);

/** Client secrets on SQLite. */
export class SqliteClientSecretStore implements ClientSecretStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert(secret: ClientSecretRecord): Promise<void> {
    this.#database.query<object, Values>(SQLITE.insert).run(...valuesOf(secret));
    return Promise.resolve();
  }

  find(id: string, secretHash: Uint8Array): Promise<ClientSecretRecord | undefined> {
    const row = this.#database.query<Row, [string, Uint8Array]>(SQLITE.find).get(id, secretHash);
    return Promise.resolve(row === null ? undefined : toRecord(row));
  }

  deleteExpired(at: number): Promise<void> {
    this.#database.query<object, [number]>(SQLITE.deleteExpired).run(at);
    return Promise.resolve();
  }
}

/** Client secrets on Postgres. */
export class PostgresClientSecretStore implements ClientSecretStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async insert(secret: ClientSecretRecord): Promise<void> {
    await this.#statements.run(POSTGRES.insert, valuesOf(secret));
  }

  async find(id: string, secretHash: Uint8Array): Promise<ClientSecretRecord | undefined> {
    const [row] = await this.#statements.run<Row>(POSTGRES.find, [id, secretHash]);
    return row && toRecord(row);
  }

  async deleteExpired(at: number): Promise<void> {
    await this.#statements.run(POSTGRES.deleteExpired, [at]);
  }
}
