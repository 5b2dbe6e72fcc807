/** The ledger alone, without HTTP: callers that take a hold, settle it with a record of the call, and take the next. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, type CallRecord, Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { startPostgres } from "../../test/kit/postgres.ts";
import { Samples } from "../load/samples.ts";

const callerCounts = [1, 16, 64, 256] as const;

/** Sixteen users with four tokens each, as `tollgate token create` makes them: two accounts a call. */
const userCount = 16;
const tokensOfUser = 4;

const warmUpShare = 0.3;
const leaseMs = 120_000;

export interface LedgerFigures {
  store: string;
  callers: number;
  pairsPerSecond: number;
  holdP50: number;
  holdP99: number;
  /** Why the figures don't count. */
  problem: string | null;
}

interface Kind {
  name: string;
  open: () => Promise<{ url: string; close(): Promise<void> }>;
}

/** Postgres with and without waiting for the disk: the difference is the disk's, and a server's disk is not a laptop's. */
const kinds: readonly Kind[] = [
  { name: "SQLite", open: openSqliteFile },
  { name: "Postgres", open: () => openPostgres(true) },
  { name: "Postgres, fsync off", open: () => openPostgres(false) },
];

async function openSqliteFile() {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-ledger-"));
  return { url: `sqlite:${join(folder, "ledger.db")}`, close: async () => rmSync(folder, { recursive: true }) };
}

async function openPostgres(durable: boolean) {
  const server = await startPostgres({ durable });
  return { url: await server.createDatabase(), close: () => server.stop() };
}

/** Measures each store with each number of callers; `seconds` a measurement. */
export async function measureLedger(seconds: number, progress: (line: string) => void): Promise<LedgerFigures[]> {
  const figures: LedgerFigures[] = [];
  for (const { name, open } of kinds) {
    const place = await open();
    const storage = await openStorage(place.url);
    try {
      const rig = await prepare(storage);
      for (const callers of callerCounts) {
        progress(`ledger: ${name}, ${callers} callers`);
        figures.push({ store: name, callers, ...(await measure(rig, callers, seconds)) });
      }
    } finally {
      await storage.close();
      await place.close();
    }
  }
  return figures;
}

interface Rig {
  ledger: Ledger;
  tokens: string[];
  samples: Samples;
  /** The errors in the books, or null. */
  problem(): Promise<string | null>;
}

async function prepare(storage: Storage): Promise<Rig> {
  const store = openLedgerStore(storage);
  const ledger = new Ledger({ store });
  const tokens: string[] = [];
  for (let user = 0; user < userCount; user += 1) {
    const owner = account("user", `u${user}`, undefined);
    await store.putAccount(owner, Date.now());
    await ledger.submit({ kind: "grant", id: `g${user}`, accountId: owner.id, amount: 10n ** 17n, at: Date.now() });
    for (let index = 0; index < tokensOfUser; index += 1) {
      const token = account("token", `t${user}-${index}`, owner.id);
      await store.putAccount(token, Date.now());
      tokens.push(token.id);
    }
  }
  const problem = async (): Promise<string | null> => {
    const { drifts, openHolds } = await store.audit();
    return drifts.length + openHolds === 0 ? null : `${drifts.length} drifts, ${openHolds} open holds`;
  };
  return { ledger, tokens, samples: new Samples(), problem };
}

function account(kind: "user" | "token", name: string, parentId: string | undefined): Account {
  const limits = { prepaid: kind === "user", maxBudget: undefined, period: undefined };
  return { id: `${kind}:${name}`, kind, name, parentId, ...limits };
}

/** The rows of a call. */
const record: CallRecord = {
  owner: "u",
  operation: "chat",
  dialect: "chat",
  provider: "openai",
  model: "some-model",
  streamed: false,
  status: 200,
  outcome: "complete",
  usage: { input: 300, output: 100 },
  milliseconds: 1_234.5,
  millisecondsToFirstByte: 321.5,
  startedAt: 0,
};

let holds = 0;

async function measure(rig: Rig, callers: number, seconds: number) {
  await callFor(rig, callers, seconds * warmUpShare);
  rig.samples.clear();
  const start = performance.now();
  const pairs = await callFor(rig, callers, seconds);
  const pairsPerSecond = (pairs / (performance.now() - start)) * 1_000;
  const spread = rig.samples.spread();
  const { p50: holdP50, p99: holdP99 } = spread ?? { p50: Number.NaN, p99: Number.NaN };
  return { pairsPerSecond, holdP50, holdP99, problem: await rig.problem() };
}

/** Lets callers work side by side for a while; how many pairs of hold and settle they made. */
async function callFor({ ledger, tokens, samples }: Rig, callers: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let pairs = 0;
  const work = async (accountId: string): Promise<void> => {
    while (performance.now() < end) {
      holds += 1;
      const id = `req_${holds.toString(36).padStart(20, "0")}`;
      const at = Date.now();
      const asked = performance.now();
      await ledger.submit({
        kind: "hold",
        id,
        accountId,
        amount: 1_000n,
        operation: "chat",
        provider: "openai",
        model: "some-model",
        dialect: "chat",
        streamed: false,
        at,
        leaseUntil: at + leaseMs,
        tokens: 1_000,
      });
      samples.add(performance.now() - asked);
      const settle = { kind: "settle", id, amount: 400n, at: Date.now(), tokens: 400 } as const;
      await ledger.submit({ ...settle, record: { ...record, startedAt: at } });
      pairs += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => work(tokens[index % tokens.length] ?? "")));
  return pairs;
}
