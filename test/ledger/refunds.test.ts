/** Processes that refund, grant and take back at once, and are killed in the middle of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { engines, type PostgresServer, query, startPostgres, until } from "../kit/index.ts";
import { openStorage } from "../kit/storage.ts";
import { ACCOUNT, callId, CALLS, makeCalls, TOKEN } from "./refunded-calls.ts";

const NODES = 3;
const KILLS = Number(process.env["KILLS"] ?? 6);

let postgres: PostgresServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-refunds-"));
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Row {
  id: string;
  debit_account: string;
  amount: bigint;
}

/** What the entries of a call and of its refund leave charged. */
async function chargedFor(storage: Storage, id: string): Promise<{ charged: bigint; isRefunded: boolean }> {
  const rows = await query<Row>(storage, `SELECT id, debit_account, amount FROM entries WHERE id LIKE '${id}%'`);
  const charged = rows.reduce((sum, row) => sum + (row.debit_account === TOKEN ? row.amount : -row.amount), 0n);
  return { charged, isRefunded: rows.some((row) => row.id === `${id}:refund`) };
}

test.each(engines)(
  "on %s, each call is refunded once, whoever asks and dies, and no balance is overdrawn",
  async (engine) => {
    const url = engine === "Postgres" ? await postgres.createDatabase() : `sqlite:${join(folder, "t.db")}`;
    const storage = await openStorage(url);
    const store = openLedgerStore(storage);
    await makeCalls(store);
    /** The calls whose refund a node has had acknowledged. */
    const acknowledged: string[] = [];
    const start = (node: number) => {
      const child = Bun.spawn([process.execPath, join(import.meta.dir, "refunding-node.ts"), url, String(node)], {
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      });
      const reading = new Response(child.stdout)
        .text()
        .then((text) => acknowledged.push(...text.split("\n").filter(Boolean)));
      return { child, reading };
    };
    const entries = async (): Promise<bigint> =>
      (await query<{ count: bigint }>(storage, "SELECT count(*) AS count FROM entries"))[0]?.count ?? 0n;

    const nodes = Array.from({ length: NODES }, (_, node) => start(node));
    const readings = nodes.map(({ reading }) => reading);
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Killed while it commits: the others go on meanwhile.
      const before = await entries();
      await until("more entries", async () => (await entries()) > before + 40n);
      const place = kill % NODES;
      nodes[place]?.child.kill("SIGKILL");
      await nodes[place]?.child.exited;
      const next = start(kill);
      nodes[place] = next;
      readings.push(next.reading);
    }
    const refunds =
      "SELECT count(*) AS count FROM entries WHERE id LIKE 'call-%:refund' AND id NOT LIKE '%:late:refund'";
    await until(
      "most refunds",
      async () => ((await query<{ count: bigint }>(storage, refunds))[0]?.count ?? 0n) > CALLS / 2,
    );
    for (const { child } of nodes) {
      child.kill("SIGKILL");
      await child.exited;
    }
    await Promise.all(readings);

    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    for (let index = 0; index < CALLS; index += 1) {
      const { charged, isRefunded } = await chargedFor(storage, callId(index));
      if (isRefunded) expect(charged).toBe(0n);
      else expect(acknowledged).not.toContain(callId(index));
    }
    // What the killed ones held is returned, and the books follow from the entries.
    await store.commit([{ kind: "sweep", at: Date.now() + 600_000 }]);
    const { drifts, openHolds } = await store.audit();
    expect({ drifts, openHolds }).toEqual({ drifts: [], openHolds: 0 });
    const [account] = await store.chain(ACCOUNT, Date.now());
    expect((account?.creditsPosted ?? 0n) - (account?.debitsPosted ?? 0n)).toBeGreaterThanOrEqual(0n);
    await storage.close();
  },
);
