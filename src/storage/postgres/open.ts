import { SQL } from "bun";
import { GatewayError, keysOf } from "../../core/index.ts";
import { type CachedRows, type PostgresStorage, StorageError } from "../database.ts";
import { CHECK_WRITE } from "../readiness.ts";
import { type Preparation, type Schema, stepsFor } from "../schema.ts";
import type { SchemaPlan } from "../schema-state.ts";
import { migratePostgres, planPostgres } from "./migrate.ts";
import { connect, Statements } from "./statements.ts";

/** The channels on which triggers announce changes of rows that nodes cache. */
const channels: Readonly<Record<CachedRows, string>> = {
  tokens: "tollgate_changes",
  targets: "tollgate_targets",
  toolMail: "tollgate_tool_mail",
  toolSessions: "tollgate_tool_sessions",
};

/** Connections of one process for look-ups, besides the one for its ledger's commits, which run one at a time. */
const LOOKUP_CONNECTIONS_MAX = 3;

/**
 * Opens the database of the URL, `postgres://user:password@host:port/database?sslmode=…`, and migrates it. Throws a
 * `StorageError` with a one-line message without the password if it cannot be used.
 */
export async function openPostgres(
  url: string,
  { schema, prepare }: { schema: Schema; prepare: Preparation<string> },
): Promise<PostgresStorage> {
  const place = describePlace(url);
  const statements = new Statements({ url, connectionsMax: LOOKUP_CONNECTIONS_MAX });
  const commits = new Statements({ url, connectionsMax: 1 });
  const closeAll = () => Promise.all([statements.close(), commits.close()]);
  let timezone: string;
  try {
    timezone = await preparePostgres(url, schema, prepare.postgres);
    await Promise.all([statements.connect(), commits.connect()]);
  } catch (cause) {
    await closeAll();
    throw unusable(place, cause);
  }
  const changes = new Changes(url);
  return {
    engine: "postgres",
    timezone,
    statements,
    commits,
    onForeignCommit: (callback, rows = "tokens") => changes.watch(callback, rows),
    async check() {
      try {
        await commits.run(CHECK_WRITE.postgres);
      } catch (cause) {
        if (cause instanceof GatewayError) throw cause;
        throw new GatewayError("storage_unavailable", "The storage takes no writes.", { cause, retryAfterSeconds: 1 });
      }
    },
    async close() {
      await Promise.all([changes.close(), closeAll()]);
    },
  };
}

/** Migrates the database and does something with it, over a connection of its own. Throws a `StorageError` if it cannot be used. */
export async function preparePostgres<T>(
  url: string,
  { steps }: Schema,
  prepare: (connection: SQL) => Promise<T>,
): Promise<T> {
  return overOneConnection(url, async (connection) => {
    await migratePostgres(connection, stepsFor("postgres", steps));
    return prepare(connection);
  });
}

/** What opening the database would change. Throws a `StorageError` if it cannot be used. */
export function planPostgresAt(url: string, { steps }: Schema): Promise<SchemaPlan> {
  return overOneConnection(url, (connection) =>
    planPostgres(connection, describePlace(url), stepsFor("postgres", steps)),
  );
}

async function overOneConnection<T>(url: string, work: (connection: SQL) => Promise<T>): Promise<T> {
  const place = describePlace(url);
  const connection = connect(url, 1);
  try {
    return await work(connection);
  } catch (cause) {
    throw unusable(place, cause);
  } finally {
    await connection.close({ timeout: 0 });
  }
}

function unusable(place: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  return new StorageError(`storage: cannot use Postgres at ${place}: ${reasonOf(cause)}`, { cause });
}

function describePlace(url: string): string {
  if (!URL.canParse(url)) throw new StorageError("storage: write postgres://user:password@host:port/database");
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port === "" ? "5432" : port}${pathname}`;
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = cause instanceof SQL.PostgresError ? ` (${cause.errno ?? cause.code})` : "";
  return cause.message.split("\n")[0] + code;
}

/**
 * Announcements of changes to cached rows, over a separate connection that is opened for the first watcher and again
 * whenever it drops. Announcements in between are missed, so each new connection also counts as one.
 */
class Changes {
  readonly #url: string;
  readonly #watchers: Record<CachedRows, Set<(row?: string) => void>> = {
    tokens: new Set(),
    targets: new Set(),
    toolMail: new Set(),
    toolSessions: new Set(),
  };
  #connection: SQL | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  watch(callback: (row?: string) => void, rows: CachedRows): () => void {
    this.#watchers[rows].add(callback);
    if (this.#connection === undefined) this.#listen();
    return () => this.#watchers[rows].delete(callback);
  }

  #listen(): void {
    const connection = connect(this.#url, 1);
    this.#connection = connection;
    const again = (): void => {
      // Closed before it listened: there is no watcher left.
      if (this.#connection === connection) this.#listen();
    };
    const listens = keysOf(channels).map((rows) => {
      const announce = (row?: string): void => {
        for (const callback of this.#watchers[rows]) callback(row === "" ? undefined : row);
      };
      return connection.listen(channels[rows], announce, () => announce());
    });
    Promise.all(listens).catch(again);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close({ timeout: 0 });
  }
}
