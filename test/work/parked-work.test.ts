/** Paid work without an HTTP request: parked, resumed by another process after `kill -9`, topped up, settled once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openGenerationStore } from "../../src/generations/index.ts";
import { Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, query, startPostgres, until } from "../kit/index.ts";
import { accountId, cost, heldAtFirst, parentId, renderId } from "./render-order.ts";

const granted = 1_000_000_000n;
const script = join(import.meta.dir, "render-feature.ts");

let postgres: PostgresServer;
let folder: string;
const running = new Set<Bun.Subprocess>();
beforeAll(async () => {
  postgres = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), "tollgate-work-"));
});
afterAll(async () => {
  for (const node of running) node.kill("SIGKILL");
  await Promise.all([...running].map((node) => node.exited));
  rmSync(folder, { recursive: true, force: true });
  await postgres.stop();
});

/** A process of the feature, and all that it has printed. */
function startNode(mode: "order" | "work", url: string): { kill: () => Promise<void>; printed: () => string } {
  const node = Bun.spawn([process.execPath, script, mode, url], { stdio: ["ignore", "pipe", "inherit"] });
  running.add(node);
  let text = "";
  const reading = (async () => {
    for await (const piece of node.stdout) text += Buffer.from(piece).toString();
  })();
  return {
    printed: () => text,
    async kill() {
      node.kill("SIGKILL");
      await Promise.all([node.exited, reading]);
      running.delete(node);
    },
  };
}

async function booksOf(storage: Storage) {
  const store = openLedgerStore(storage);
  const [account] = await store.chain(accountId, Date.now());
  const holds = await store.openHolds();
  return {
    spent: account?.debitsPosted,
    held: account?.debitsPending,
    holds: holds.map(({ id, keeper }) => [id, keeper]),
  };
}

async function openAccount(storage: Storage): Promise<Ledger> {
  const store = openLedgerStore(storage);
  const account = { id: accountId, kind: "user", name: "u", parentId: undefined, prepaid: true } as const;
  await store.putAccount({ ...account, maxBudget: undefined, period: undefined }, 1);
  const ledger = new Ledger({ store });
  await ledger.submit({ kind: "grant", id: "grant", accountId, amount: granted, at: 1 });
  return ledger;
}

describe.each([
  ["SQLite", async () => `sqlite:${join(folder, "work.db")}`],
  ["Postgres", async () => postgres.createDatabase()],
] as const)("on %s", (_engine, newStorage) => {
  test("work that a job keeps survives its process, and is charged once", async () => {
    const url = await newStorage();
    const storage = await openStorage(url);
    const ledger = await openAccount(storage);
    const kept = { spent: 0n, held: heldAtFirst, holds: [[renderId, "job"]] };

    const first = startNode("order", url);
    await until("the job runs", () => first.printed().includes("running"), 10_000);
    await first.kill();
    expect(await booksOf(storage)).toEqual(kept);

    // A process that holds for itself would have lost its hold by then.
    await ledger.submit({ kind: "sweep", at: Date.now() + 30 * 60_000 });
    expect(await booksOf(storage)).toEqual(kept);

    const others = [startNode("work", url), startNode("work", url)];
    // The dead node's lease of the job is still running: nobody takes the job before its end.
    await query(storage, "UPDATE jobs SET lease_until = 1");
    await until("the work has ended", () => others.some(({ printed }) => printed().includes("ended")), 15_000);

    expect(await booksOf(storage)).toEqual({ spent: cost, held: 0n, holds: [] });
    // Its row goes after the work's end.
    await until("the job is gone", async () => (await query(storage, "SELECT id FROM jobs")).length === 0);
    expect(
      others
        .map(({ printed }) => printed())
        .join("")
        .match(/committed/g),
    ).toHaveLength(1);
    expect(await openGenerationStore(storage).find(renderId, "u")).toMatchObject({
      parent: parentId,
      operation: "image_generation",
      outcome: "complete",
      credits: cost,
      usage: { output: 300_000 },
    });
    expect(await openLedgerStore(storage).audit()).toMatchObject({ openHolds: 0, shortfall: 0n, drifts: [] });
    await Promise.all(others.map((node) => node.kill()));
    await storage.close();
  });
});
