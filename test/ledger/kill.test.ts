/**
 * The gateway is killed without warning, again and again, at random moments under load and with open streams.
 * Afterwards every call that a client got whole is charged once, none is charged twice, no hold stays, and the books
 * balance. `KILLS=20 npm test -- test/ledger/kill.test.ts` does it as often as that for each storage.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { rmSync } from "node:fs";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import {
  chatPath,
  type Engine,
  engines,
  expectCleanAudit,
  type Gateway,
  letLeasesLapse,
  oneCredit,
  oneCreditACall,
  type PostgresServer,
  query,
  simulatedProviders,
  startGateway,
  startPostgres,
  stopGateways,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";

const KILLS = Number(process.env["KILLS"] ?? 3);
const GRANTED = 1_000_000n * oneCredit;

/** A kill comes after between so many answered calls … */
const CALLS_BEFORE_KILL = { min: 20, max: 150 };
/** … and a moment that is as long as a call at most. */
const MOMENT_MS_MAX = 60;

const ROUND_MS_MAX = 20_000;

/** The callers' parallel actions: whole answers, fast and slow ones, and streams, of which some are always open. */
const callers = [
  ...Array.from({ length: 6 }, () => ({ model: "openai/quick", stream: false })),
  ...Array.from({ length: 6 }, () => ({ model: "openai/slow+slow-40", stream: false })),
  ...Array.from({ length: 6 }, () => ({ model: "openai/streamed", stream: true })),
  ...Array.from({ length: 6 }, () => ({ model: "openai/paced+pace-10", stream: true })),
];

let simulators: Simulators;
let postgres: PostgresServer;

beforeAll(async () => {
  [simulators, postgres] = await Promise.all([startSimulators(), startPostgres()]);
});

afterAll(async () => {
  await stopGateways();
  await simulators.stop();
  await postgres.stop();
});

/** A gateway that is killed and started again on the same storage. */
class Victim {
  gateway: Gateway;
  readonly #place: { storage?: string };

  private constructor(place: { storage?: string }, gateway: Gateway) {
    this.#place = place;
    this.gateway = gateway;
  }

  static async start(engine: Engine): Promise<Victim> {
    const place = await storageOn(engine, postgres);
    return new Victim(place, await startOn(place));
  }

  async kill(): Promise<void> {
    this.gateway.process.kill("SIGKILL");
    await this.gateway.process.exited;
    await this.gateway.stop({ keepFolder: true });
    await lapse(this.gateway.storageUrl);
  }

  /** Resolves when the sweeper has ended the remaining holds. */
  async startAgain(): Promise<void> {
    this.gateway = await startOn({ ...this.#place, folder: this.gateway.folder });
    const ledger = openLedgerStore(this.gateway.storage);
    await until("no hold is left", async () => (await ledger.openHolds()).length === 0);
  }

  async end(): Promise<void> {
    expect(await this.gateway.stop({ keepFolder: true })).toBe(0);
    rmSync(this.gateway.folder, { recursive: true, force: true });
  }
}

function startOn(place: { storage?: string; folder?: string }): Promise<Gateway> {
  return startGateway({
    ...place,
    providers: simulatedProviders(simulators),
    config: oneCreditACall,
  });
}

async function lapse(storageUrl: string): Promise<void> {
  if (storageUrl.startsWith("postgres:")) await untilLeft(storageUrl);
  const storage = await openStorage(storageUrl);
  await letLeasesLapse(storage);
  await storage.close();
}

/** Statements of a dead process may still be running in Postgres. */
async function untilLeft(url: string): Promise<void> {
  const admin = new SQL(url, { max: 1 });
  const connections =
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
  await until("its connections end", async () => {
    const rows: unknown[] = await admin.unsafe(connections);
    return rows.length === 0;
  });
  await admin.close();
}

/** The clients' observations. */
class Tally {
  /** Request ids of the calls that were answered to their end. */
  readonly answered = new Set<string>();
  /** Calls that a kill cut off, in whatever state they were. */
  cut = 0;

  /** Every caller calls until it is cut off. */
  async callUntilCut(gateway: Gateway, token: string): Promise<void> {
    await Promise.all(
      callers.map(async (caller) => {
        while (await this.#call(gateway, token, caller)) continue;
        this.cut += 1;
      }),
    );
  }

  async #call(gateway: Gateway, token: string, { model, stream }: (typeof callers)[number]): Promise<boolean> {
    const answer = await fetch(gateway.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "hi" }] }),
    }).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer === undefined || text === undefined) return false;
    if (answer.status !== 200) throw new Error(`answered with ${answer.status}: ${text}`);
    const isWhole = stream ? text.includes("data: [DONE]") : text.endsWith("}");
    if (isWhole) this.answered.add(answer.headers.get("x-request-id") ?? "");
    return isWhole;
  }
}

const upTo = (most: number): number => Math.floor(Math.random() * (most + 1));

/** How a call's hold ended, from the books. */
interface EntryRow {
  id: string;
  kind: "settle" | "release" | "expire";
  amount: bigint;
}

test.each(engines)(
  `%s: ${KILLS} kills under load lose no charge and double none`,
  async (engine) => {
    const tally = new Tally();
    const victim = await Victim.start(engine);
    const token = await victim.gateway.token({ user: "user", credits: GRANTED });
    for (let round = 1; round <= KILLS; round += 1) {
      const enough = tally.answered.size + CALLS_BEFORE_KILL.min + upTo(CALLS_BEFORE_KILL.max - CALLS_BEFORE_KILL.min);
      const load = tally.callUntilCut(victim.gateway, token);
      await Promise.race([load, until("enough calls are answered", () => tally.answered.size >= enough, ROUND_MS_MAX)]);
      await Bun.sleep(upTo(MOMENT_MS_MAX));
      await victim.kill();
      await load;
      await victim.startAgain();
    }

    const { gateway } = victim;
    const ends = await query<EntryRow>(
      gateway.storage,
      "SELECT id, kind, amount FROM entries WHERE kind <> 'grant' ORDER BY id",
    );
    const charged = ends.filter(({ amount }) => amount > 0n);
    const charges = new Set(charged.map(({ id }) => id.slice(0, 29)));
    expect(tally.cut).toBe(callers.length * KILLS);
    // Kills that left nothing behind would prove nothing.
    expect(ends.filter(({ kind }) => kind === "expire").length).toBeGreaterThan(0);

    expect(tally.answered.size).toBeGreaterThanOrEqual(KILLS * CALLS_BEFORE_KILL.min);
    expect([...tally.answered].filter((id) => !charges.has(id))).toEqual([]);
    // One charge per call, equal to its cost.
    expect(charged.length).toBe(charges.size);
    expect(charged.filter(({ amount }) => amount !== oneCredit)).toEqual([]);
    // Charges beyond the completely received answers belong to answers that were cut off on the way.
    expect(charges.size - tally.answered.size).toBeWithin(0, tally.cut + 1);

    const spent = BigInt(charges.size) * oneCredit;
    expect(await userBooks(gateway, "user")).toEqual({ credits: GRANTED, spent, held: 0n });
    await expectCleanAudit(gateway);
    if (engine === "SQLite")
      expect(await query(gateway.storage, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
    await victim.end();
  },
  (KILLS + 1) * ROUND_MS_MAX,
);
