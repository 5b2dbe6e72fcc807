import { SQL } from "bun";
import { type PostgresStorage, StorageError } from "../database.ts";
import { migratePostgres } from "./migrate.ts";
import { connect, Statements } from "./statements.ts";
import { agreeOnTimezone, recountPostgres } from "./timezone.ts";
import { CHANGES_CHANNEL } from "./tables.ts";

/** Connections of one process for look-ups, besides the one for its ledger's commits, which run one at a time. */
const LOOKUP_CONNECTIONS_MAX = 3;

/**
 * Opens the database of the URL, `postgres://user:password@host:port/database?sslmode=…`, and migrates it. Throws a
 * `StorageError` with a one-line message without the password if it cannot be used.
 */
export async function openPostgres(url: string, wantedZone?: string): Promise<PostgresStorage> {
  const place = describePlace(url);
  const statements = new Statements({ url, connectionsMax: LOOKUP_CONNECTIONS_MAX });
  const commits = new Statements({ url, connectionsMax: 1 });
  const closeAll = () => Promise.all([statements.close(), commits.close()]);
  let timezone: string;
  try {
    timezone = await prepare(url, wantedZone);
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
    onForeignCommit: (callback) => changes.watch(callback),
    async check() {
      await statements.run("SELECT 1");
    },
    async close() {
      await Promise.all([changes.close(), closeAll()]);
    },
  };
}

/** Migrates the database, and returns the zone of its days. */
function prepare(url: string, wantedZone: string | undefined): Promise<string> {
  return withConnection(url, async (setup) => {
    await migratePostgres(setup);
    return agreeOnTimezone(setup, wantedZone);
  });
}

/** Changes the zone of the database's days. Rejects with a `StorageError` if that is not possible. */
export async function changePostgresTimezone(url: string, zone: string): Promise<void> {
  const place = describePlace(url);
  try {
    await withConnection(url, async (setup) => {
      await migratePostgres(setup);
      await recountPostgres(setup, zone);
    });
  } catch (cause) {
    throw unusable(place, cause);
  }
}

async function withConnection<T>(url: string, work: (connection: SQL) => Promise<T>): Promise<T> {
  const connection = connect(url, 1);
  try {
    return await work(connection);
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
  readonly #watchers = new Set<() => void>();
  #connection: SQL | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback);
    if (this.#connection === undefined) this.#listen();
    return () => this.#watchers.delete(callback);
  }

  #listen(): void {
    const connection = connect(this.#url, 1);
    this.#connection = connection;
    const announce = (): void => {
      for (const callback of this.#watchers) callback();
    };
    const again = (): void => {
      // Closed before it listened: there is no watcher left.
      if (this.#connection === connection) this.#listen();
    };
    connection.listen(CHANGES_CHANNEL, announce, announce).catch(again);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close({ timeout: 0 });
  }
}
