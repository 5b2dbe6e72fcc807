import { SQL } from "bun";
import { GatewayError } from "../../core/index.ts";

/** The time-out for opening a connection. */
const CONNECT_SECONDS_MAX = 2;

/** The time after which the server cancels a statement, including its waits for locks. */
const STATEMENT_MS_MAX = 2_000;

/**
 * The time-out for an answer: longer than that of a statement, because a working server cancels a late statement
 * itself. It is counted in slices. A process that stood still, busy or without a core, finds a timer expired before it
 * has read its received data; such a standstill counts as one slice, however long it was, and is not mistaken for the
 * server's silence.
 */
const ANSWER_SLICES_MAX = 5;
const SLICE_MS = 500;

/** SQLSTATE classes that are not caused by the statement: connection, transaction, resources, operator, system. */
const UNAVAILABLE_CLASSES: ReadonlySet<string> = new Set(["08", "40", "53", "57", "58"]);

/** The parameters of a statement. */
export type Parameter = string | number | bigint | boolean | Uint8Array | readonly (string | null)[] | null;

/** Runs one statement of a transaction. */
type RunStatement = <Row>(text: string, parameters?: readonly Parameter[]) => Promise<Row[]>;

/** Connections, and the number of their unanswered statements. */
interface Pool {
  readonly sql: SQL;
  waiting: number;
}

export interface StatementsOptions {
  url: string;
  connectionsMax: number;
}

/**
 * Statements over a pool of connections, each answered within a bound. A missing answer means that the network or the
 * server hangs: later statements get new connections, running ones keep theirs until they are answered or late
 * themselves. Every failure that is not the statement's own fault is a `GatewayError` with `storage_unavailable`; the
 * effect of the statement is then unknown.
 */
export class Statements {
  readonly #options: StatementsOptions;
  #pool: Pool;

  constructor(options: StatementsOptions) {
    this.#options = options;
    this.#pool = openPool(options);
  }

  /** Opens the first connection, so that none has to be opened while the process is busy starting. */
  async connect(): Promise<void> {
    await this.#pool.sql.unsafe("SELECT 1");
  }

  /** Runs one statement with parameters $1, $2 …; 64-bit integers in its rows are bigints. */
  async run<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const pool = this.#pool;
    const { sql } = pool;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const stopWaiting = awaitAnswer(() => {
      this.#retire(pool);
      reject(unavailable(new Error(`no answer within ${ANSWER_SLICES_MAX * SLICE_MS} ms`)));
    });
    pool.waiting += 1;
    try {
      const rows: Row[] = await Promise.race([sql.unsafe<Row[]>(text, parameters.map(toParameter(sql))), late]);
      return rows;
    } catch (reason) {
      throw isUnavailable(reason) ? unavailable(reason) : reason;
    } finally {
      stopWaiting();
      pool.waiting -= 1;
      this.#closeUnused(pool);
    }
  }

  /**
   * Runs the work in one transaction, which whatever it throws undoes. Fails like `run`: each of its statements is answered within the
   * same bound.
   */
  async transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const pool = this.#pool;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const onLate = (): void => {
      this.#retire(pool);
      reject(unavailable(new Error(`no answer within ${ANSWER_SLICES_MAX * SLICE_MS} ms`)));
    };
    let stopWaiting = awaitAnswer(onLate);
    pool.waiting += 1;
    try {
      const ended = pool.sql.begin(async (transaction) =>
        work(async <Row>(text: string, parameters: readonly Parameter[] = []) => {
          const rows = await transaction.unsafe<Row[]>(text, parameters.map(toParameter(pool.sql)));
          stopWaiting();
          stopWaiting = awaitAnswer(onLate);
          return rows;
        }),
      );
      return (await Promise.race([ended, late])) as T;
    } catch (reason) {
      throw isUnavailable(reason) ? unavailable(reason) : reason;
    } finally {
      stopWaiting();
      pool.waiting -= 1;
      this.#closeUnused(pool);
    }
  }

  /** Reads several results in one snapshot, without a time-out. */
  async snapshot<T>(read: (run: <Row>(text: string) => Promise<Row[]>) => Promise<T>): Promise<T> {
    return this.#pool.sql.begin("isolation level repeatable read read only", async (transaction) => {
      await transaction.unsafe("SET LOCAL statement_timeout = 0");
      return read(async (text) => transaction.unsafe(text));
    }) as Promise<T>;
  }

  async close(): Promise<void> {
    await this.#pool.sql.close({ timeout: CONNECT_SECONDS_MAX });
  }

  #retire(pool: Pool): void {
    if (pool === this.#pool) this.#pool = openPool(this.#options);
  }

  #closeUnused(pool: Pool): void {
    if (pool !== this.#pool && pool.waiting === 0) void pool.sql.close({ timeout: 0 });
  }
}

function openPool({ url, connectionsMax }: StatementsOptions): Pool {
  return { sql: connect(url, connectionsMax), waiting: 0 };
}

/** Calls back once the time-out for an answer has passed. Returns a function that cancels it. */
function awaitAnswer(onLate: () => void): () => void {
  let slices = 0;
  const onSlice = (): void => {
    slices += 1;
    if (slices === ANSWER_SLICES_MAX) onLate();
    else timer = setTimeout(onSlice, SLICE_MS);
  };
  let timer = setTimeout(onSlice, SLICE_MS);
  return () => clearTimeout(timer);
}

/** A pool that connects when it is first used. */
export function connect(url: string, max: number): SQL {
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  return new SQL({
    url,
    // Repeated here because the variable PGDATABASE would override the URL.
    ...(database === "" ? {} : { database }),
    adapter: "postgres",
    max,
    bigint: true,
    connectionTimeout: CONNECT_SECONDS_MAX,
    connection: { application_name: "tollgate", statement_timeout: STATEMENT_MS_MAX },
  });
}

/** The server infers the type of an array's elements from its position in the statement. */
function toParameter(pool: SQL) {
  return (value: Parameter): unknown => (Array.isArray(value) ? pool.array(value) : value);
}

/** Errors without a SQLSTATE are the client's own: refused, cut, timed out. */
function isUnavailable(reason: unknown): boolean {
  if (!(reason instanceof SQL.PostgresError)) return false;
  return reason.errno === undefined || UNAVAILABLE_CLASSES.has(reason.errno.slice(0, 2));
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError("storage_unavailable", "The storage can't be reached.", { cause, retryAfterSeconds: 1 });
}
