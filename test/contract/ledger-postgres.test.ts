import { afterAll, beforeAll } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage, type PostgresStorage } from "../../src/storage/index.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { describeLedgerStore, type OpenedLedgerStore } from "./ledger-store.ts";

let server: PostgresServer;
let url: string;
/** Connections that the tests of this file share; each store finds the tables empty. */
let storages: PostgresStorage[];

async function connect(): Promise<PostgresStorage> {
  const storage = await openStorage(url);
  if (storage.engine !== "postgres") throw new Error(`${url} is no Postgres`);
  return storage;
}

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  storages = await Promise.all([connect(), connect(), connect()]);
});

afterAll(async () => {
  for (const storage of storages) await storage.close();
  await server.stop();
});

/** Faster than a new database each; entries can't be emptied without switching their trigger off. */
const EMPTY = `
  ALTER TABLE entries DISABLE TRIGGER USER;
  TRUNCATE accounts, holds, entries, tokens;
  ALTER TABLE entries ENABLE TRIGGER USER`;

async function openPostgresLedger(): Promise<OpenedLedgerStore> {
  const [first, ...others] = storages;
  if (first === undefined) throw new Error("there is no connection");
  for (const statement of EMPTY.split(";")) await first.statements.run(statement);
  return {
    store: openLedgerStore(first),
    connectAgain: async () => {
      const storage = others.shift();
      if (storage === undefined) throw new Error("too few connections are open");
      return openLedgerStore(storage);
    },
    query: (sql) => first.statements.run<Record<string, unknown>>(sql),
    close: async () => {},
  };
}

describeLedgerStore("postgres", openPostgresLedger);
