/**
 * The gateway is killed without warning, under load and with open streams, three times. Afterwards every call that a
 * client got whole is charged once, none is charged twice, no hold stays, and the books balance.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { chatPath, type Gateway, simulatedProviders, startGateway, until } from "../kit/index.ts";

const ONE = 1_000_000_000n;
const KILLS = 3;
const CALLS_BEFORE_KILL = 150;
const GRANTED = 100_000n * ONE;

/** What the callers do side by side: whole answers, fast and slow ones, and streams, of which some are always open. */
const callers = [
  ...Array.from({ length: 6 }, () => ({ model: "openai/quick", stream: false })),
  ...Array.from({ length: 6 }, () => ({ model: "openai/slow+slow-40", stream: false })),
  ...Array.from({ length: 6 }, () => ({ model: "openai/streamed", stream: true })),
  ...Array.from({ length: 6 }, () => ({ model: "openai/paced+pace-10", stream: true })),
];

let simulators: Simulators;
let gateway: Gateway;
let folder: string | undefined;

beforeAll(async () => {
  simulators = await startSimulators();
});

afterAll(async () => {
  // Also where the test has failed.
  await gateway.stop({ keepFolder: true });
  await simulators.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  gateway = await startGateway({
    providers: simulatedProviders(simulators),
    config: { pricing: { models: { "openai/*": { requests_kcount: 1000 } } } },
    ...(folder === undefined ? {} : { folder }),
  });
  folder = gateway.folder;
}

/** Works on the storage's file itself, beside whatever the gateway does. */
function withFile<T>(work: (file: Database) => T): T {
  const file = new Database(join(gateway.folder, "tollgate.db"), { readwrite: true, safeIntegers: true });
  try {
    return work(file);
  } finally {
    file.close();
  }
}

async function kill(): Promise<void> {
  gateway.process.kill("SIGKILL");
  await gateway.process.exited;
  // The lease is two minutes long; the test makes that time pass.
  withFile((file) => file.run("UPDATE holds SET lease_until = 1"));
  await gateway.stop({ keepFolder: true });
}

/** Request ids of the calls that were answered to their end. */
const answered = new Set<string>();
/** Calls that a kill cut off, in whatever state they were. */
let cut = 0;

async function callOnce(token: string, { model, stream }: (typeof callers)[number]): Promise<boolean> {
  try {
    const answer = await fetch(gateway.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "hi" }] }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`answered with ${answer.status}: ${text}`);
    const whole = stream ? text.includes("data: [DONE]") : text.endsWith("}");
    if (!whole) return false;
    answered.add(answer.headers.get("x-request-id") ?? "");
    return true;
  } catch (reason) {
    if (reason instanceof Error && reason.message.startsWith("answered with")) throw reason;
    return false;
  }
}

/** Every caller calls until it is cut off. */
async function loadUntilCut(token: string): Promise<void> {
  await Promise.all(
    callers.map(async (caller) => {
      while (await callOnce(token, caller)) continue;
      cut += 1;
    }),
  );
}

/** How a call's hold ended, from the books. */
interface EntryRow {
  id: string;
  kind: "settle" | "release" | "expire";
  amount: bigint;
}

test(`${KILLS} kills under load lose no charge and double none`, async () => {
  await start();
  const token = await gateway.token({ user: "user", credits: GRANTED });
  for (let round = 1; round <= KILLS; round += 1) {
    const before = answered.size;
    const load = loadUntilCut(token);
    await until("enough calls are answered", () => answered.size >= before + CALLS_BEFORE_KILL);
    await kill();
    await load;
    await start();
    await until(
      "the sweeper has ended what was left",
      async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0,
    );
  }

  const ends = withFile((file) =>
    file.query<EntryRow, []>("SELECT id, kind, amount FROM entries WHERE kind <> 'grant'").all(),
  );
  const charged = ends.filter(({ amount }) => amount > 0n);
  const charges = new Set(charged.map(({ id }) => id.slice(0, 29)));
  expect(cut).toBe(callers.length * KILLS);
  // Kills that left nothing behind would prove nothing.
  expect(ends.filter(({ kind }) => kind === "expire").length).toBeGreaterThan(0);

  expect(answered.size).toBeGreaterThanOrEqual(KILLS * CALLS_BEFORE_KILL);
  expect([...answered].filter((id) => !charges.has(id))).toEqual([]);
  // One charge a call, of what it costs.
  expect(charged.length).toBe(charges.size);
  expect(charged.filter(({ amount }) => amount !== ONE)).toEqual([]);
  // What was charged beyond what callers got whole was cut off on its way to them.
  expect(charges.size - answered.size).toBeWithin(0, cut + 1);

  const [account] = await openLedgerStore(gateway.storage).chain(accountId("user", "user"), Date.now());
  expect(account).toMatchObject({
    creditsPosted: GRANTED,
    debitsPending: 0n,
    debitsPosted: BigInt(charges.size) * ONE,
  });
  const audit = await gateway.cli("ledger", "audit", "--json");
  expect([audit.code, JSON.parse(audit.stdout)]).toEqual([
    0,
    expect.objectContaining({ ok: true, open_holds: 0, shortfall: 0, drifts: [] }),
  ]);
  const integrity = withFile((file) => file.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get());
  expect(integrity).toEqual({ integrity_check: "ok" });
}, 60_000);
