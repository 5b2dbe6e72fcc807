import { SQL } from "bun";
import { GatewayError } from "../../core/index.ts";

/** Connections of one process: commits go one at a time, so the rest is for look-ups beside them. */
const CONNECTIONS_MAX = 4;

/** How long making a connection may take. */
const CONNECT_SECONDS_MAX = 2;

/** How long a statement may run, its waits for locks included, before the server itself ends it. */
const STATEMENT_MS_MAX = 2_000;

/** How long an answer is waited for: longer than a statement may run, since a server that is there ends it by itself. */
const ANSWER_MS_MAX = 2_500;

/** Classes of SQLSTATE that say nothing about the statement: connection, transaction, resources, operator, system. */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(["08", "40", "53", "57", "58"]);

/** What a statement may be given. */
export type Parameter = string | number | bigint | boolean | Uint8Array | readonly (string | null)[] | null;

/**
 * Statements over a pool of connections, each answered within a bound. An answer that doesn't come says that the network
 * or the server hangs: the connections are then given up, and the next statement makes new ones. Every failure that is
 * not the statement's own fault is a `GatewayError` with `storage_unavailable`; what the statement did is then unknown.
 */
export class Statements {
  readonly #url: string;
  #pool: SQL;

  constructor(url: string) {
    this.#url = url;
    this.#pool = connect(url, CONNECTIONS_MAX);
  }

  /** Runs one statement with parameters $1, $2 …; its rows' integers of 64 bits are bigints. */
  async run<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const pool = this.#pool;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#giveUp(pool);
      reject(unavailable(new Error(`no answer within ${ANSWER_MS_MAX} ms`)));
    }, ANSWER_MS_MAX);
    try {
      const rows: Row[] = await Promise.race([pool.unsafe<Row[]>(text, parameters.map(toParameter(pool))), late]);
      return rows;
    } catch (reason) {
      throw isUnavailable(reason) ? unavailable(reason) : reason;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads several things as of one moment; may take as long as it needs. */
  async snapshot<T>(read: (run: <Row>(text: string) => Promise<Row[]>) => Promise<T>): Promise<T> {
    return this.#pool.begin("isolation level repeatable read read only", async (transaction) => {
      await transaction.unsafe("SET LOCAL statement_timeout = 0");
      return read(async (text) => transaction.unsafe(text));
    }) as Promise<T>;
  }

  async close(): Promise<void> {
    await this.#pool.close({ timeout: CONNECT_SECONDS_MAX });
  }

  #giveUp(pool: SQL): void {
    if (pool !== this.#pool) return;
    this.#pool = connect(this.#url, CONNECTIONS_MAX);
    void pool.close({ timeout: 0 });
  }
}

/** A pool that connects when it is first used. */
export function connect(url: string, max: number): SQL {
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  return new SQL({
    url,
    // Said again, since the variable PGDATABASE would win over the URL.
    ...(database === "" ? {} : { database }),
    adapter: "postgres",
    max,
    bigint: true,
    connectionTimeout: CONNECT_SECONDS_MAX,
    connection: { application_name: "tollgate", statement_timeout: STATEMENT_MS_MAX },
  });
}

/** The server infers the type of an array's elements from where it stands in the statement. */
function toParameter(pool: SQL) {
  return (value: Parameter): unknown => (Array.isArray(value) ? pool.array(value) : value);
}

/** Without a SQLSTATE it is the client's own: refused, cut, timed out. */
function isUnavailable(reason: unknown): boolean {
  if (!(reason instanceof SQL.PostgresError)) return false;
  return reason.errno === undefined || UNAVAILABLE_CLASSES.has(reason.errno.slice(0, 2));
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError("storage_unavailable", "The storage can't be reached.", { cause, retryAfterSeconds: 1 });
}
