/** Usage, audit, seal, export and removal of books with millions of calls over a year. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { openGenerationStore } from "../../src/generations/index.ts";
import { exportBooks, openLedgerStore, removeEntries, sealBooks } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { median } from "../report/median.ts";
import { onEachStore, type StoreUnderTest } from "../system/stores.ts";
import { busyUser, fill } from "./fill.ts";
import { type ExportFigure, measureExports } from "./exports.ts";
import { type ListFigure, measureLists } from "./lists.ts";
import { fillSums, measureSums, type SumFigure } from "./sums.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const spanDays = 365;

/** Sealed and removed: eleven of twelve months. */
const sealedDays = 335;

const usageRounds = 7;

export interface GrowthFigures {
  store: string;
  calls: number;
  fillSeconds: number;
  /** Milliseconds of one report about a user with half of all calls. */
  usage: { title: string; ms: number }[];
  /** The first page of each list of the admin API. */
  lists: ListFigure[];
  /** Reports over the sums of ten million calls. */
  sums: SumFigure[];
  /** Of up to a million rows. */
  exports: ExportFigure[];
  auditSeconds: number;
  sealSeconds: number;
  sealedAuditSeconds: number;
  exportSeconds: number;
  exportBytes: number;
  removeSeconds: number;
  removed: number;
  /** The report over all whole days, after the removal. */
  usageAfterMs: number;
  /** Bytes in use, free pages of the file excluded. */
  bytesBefore: number;
  bytesAfter: number;
  /** Why the figures don't count. */
  problem: string | null;
}

/** Measures each store with this many calls. */
export function measureGrowth(calls: number, progress: (line: string) => void): Promise<GrowthFigures[]> {
  return onEachStore((store) => measureStore(store, calls, progress));
}

async function measureStore(
  { name, url, storage, folder }: StoreUnderTest,
  calls: number,
  progress: (line: string) => void,
): Promise<GrowthFigures> {
  const now = Date.now();
  const today = Math.floor(now / DAY_MS);
  const [from, to] = [(today - spanDays) * DAY_MS, today * DAY_MS];
  progress(`growth: ${name}, ${calls} calls`);
  const fillSeconds = await secondsOf(() => fill(storage, url, { calls, from, to }));
  const store = openLedgerStore(storage);
  const bytesBefore = await bytesOf(storage);
  progress(`growth: ${name}, usage and audit`);
  const usage = [
    { title: "a year by day", ms: await usageMs(storage, { from, to, groupBy: "day" }) },
    { title: "a year by model", ms: await usageMs(storage, { from, to, groupBy: "model" }) },
    { title: "a year by token", ms: await usageMs(storage, { from, to, groupBy: "token" }) },
    {
      title: "a year by day, less half a day at each end",
      ms: await usageMs(storage, { from: from + 12 * HOUR_MS, to: to - 12 * HOUR_MS, groupBy: "day" }),
    },
  ];
  const lists = await measureLists(storage, busyUser);
  progress(`growth: ${name}, exports`);
  const exports = await measureExports(storage, { calls, from, to, user: busyUser });
  const drifts: number[] = [];
  const audit = async (): Promise<void> => {
    drifts.push((await store.audit()).drifts.length);
  };
  const auditSeconds = await secondsOf(audit);
  const day = today - spanDays + sealedDays;
  progress(`growth: ${name}, seal, export and removal`);
  const sealSeconds = await secondsOf(() => sealBooks(store, day, now));
  const sealedAuditSeconds = await secondsOf(audit);
  const file = join(folder, `${name}.jsonl.gz`);
  const exportSeconds = await secondsOf(() => exportBooks(store, { day, file, now }));
  let removed = 0;
  const removeSeconds = await secondsOf(async () => {
    removed = await removeEntries(store, day);
  });
  await audit();
  const usageAfterMs = await usageMs(storage, { from, to, groupBy: "day" });
  const bytesAfter = await bytesOf(storage);
  progress(`growth: ${name}, sums of ten million calls`);
  await fillSums(storage, url, today);
  const sums = await measureSums(storage, today);
  const counted = drifts.reduce((sum, count) => sum + count, 0);
  return {
    store: name,
    calls,
    fillSeconds,
    usage,
    lists,
    exports,
    auditSeconds,
    sealSeconds,
    sealedAuditSeconds,
    exportSeconds,
    exportBytes: statSync(file).size,
    removeSeconds,
    removed,
    usageAfterMs,
    sums,
    bytesBefore,
    bytesAfter,
    problem: counted === 0 ? null : `${counted} drifts`,
  };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

interface Range {
  from: number;
  to: number;
  groupBy: "day" | "model" | "token";
}

async function usageMs(storage: Storage, range: Range): Promise<number> {
  const generations = openGenerationStore(storage);
  const times: number[] = [];
  for (let round = 0; round < usageRounds; round += 1) {
    times.push(1_000 * (await secondsOf(() => generations.usage({ owner: busyUser, groupsMax: 10_000, ...range }))));
  }
  return median(times);
}

async function bytesOf(storage: Storage): Promise<number> {
  if (storage.engine === "sqlite") {
    const pragma = (name: string): number =>
      Number(storage.handle.query<Record<string, bigint>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0n);
    return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  }
  const [row] = await storage.statements.run<{ bytes: bigint }>("SELECT pg_database_size(current_database()) AS bytes");
  return Number(row?.bytes ?? 0n);
}
