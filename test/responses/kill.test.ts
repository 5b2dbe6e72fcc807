/**
 * The gateway is killed without warning while streams of responses end, on either storage. Afterwards nothing is half:
 * who has seen a response end finds it, whole; whatever is kept can be read and continued; no hold stays, and the books
 * balance.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage } from "../kit/storage.ts";
import {
  endOf,
  engines,
  expectCleanAudit,
  type Gateway,
  letLeasesLapse,
  oneCredit,
  type PostgresServer,
  query,
  responseIn,
  responsesPath,
  simulatedProviders,
  startGateway,
  startPostgres,
  stopGateways,
  storageOn,
  talker,
  textIn,
  until,
  userBooks,
} from "../kit/index.ts";

const KILLS = 2;
const CALLERS = 8;
const SEEN_BEFORE_KILL = 25;

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

/** Every call costs one credit. */
const priced = { pricing: { models: { "*": { requests_kcount: 1000 } } } };

const start = (place: { storage?: string; folder?: string }): Promise<Gateway> =>
  startGateway({ ...place, providers: simulatedProviders(simulators), config: priced });

/** Calls until the gateway is gone; returns the completely received responses. */
async function converse(gateway: Gateway, token: string, caller: number, seen: Map<string, string>): Promise<void> {
  const user = talker(gateway.url, token);
  const model = caller % 2 === 0 ? "deepseek/deepseek-chat" : "openai/gpt-4o-mini";
  let previous: string | undefined;
  try {
    for (let round = 0; ; round += 1) {
      const more = round % 4 === 0 || previous === undefined ? {} : { previous_response_id: previous };
      const body = { model, input: `${caller} says ${round} ${gateway.process.pid}`, stream: true, ...more };
      const { response, reader } = await endOf(await user.send(responsesPath, { body }));
      seen.set(response.id, textIn(response));
      previous = response.id;
      await reader.rest();
    }
  } catch {
    // It was killed.
  }
}

test.each(engines)(
  "on %s nothing is half after a kill",
  async (engine) => {
    const place = await storageOn(engine, postgres);
    let gateway = await start(place);
    const token = await gateway.token({ user: "alice", credits: 1_000_000n * oneCredit });
    const seen = new Map<string, string>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = gateway;
      const before = seen.size;
      const callers = Array.from({ length: CALLERS }, (_, caller) => converse(victim, token, caller, seen));
      await until("answers have come", () => seen.size - before >= SEEN_BEFORE_KILL, 20_000);
      victim.process.kill("SIGKILL");
      await Promise.all(callers);
      await victim.process.exited;
      await victim.stop({ keepFolder: true });
      const storage = await openStorage(victim.storageUrl);
      await letLeasesLapse(storage);
      await storage.close();
      gateway = await start({ ...place, folder: victim.folder });
      const ledger = openLedgerStore(gateway.storage);
      await until("no hold is left", async () => (await ledger.openHolds()).length === 0);
    }

    const user = talker(gateway.url, token);
    for (const [id, text] of seen) {
      expect(textIn(responseIn(await user.ask(`${responsesPath}/${id}`)))).toBe(text);
    }
    // A response that no client received completely may be stored as well, but then it is whole.
    const rows = await query<{ id: string; provider: string }>(
      gateway.storage,
      "SELECT id, provider FROM responses WHERE owner = 'alice'",
    );
    expect(rows.length).toBeGreaterThanOrEqual(seen.size);
    for (const { id, provider } of rows) {
      expect(responseIn(await user.ask(`${responsesPath}/${id}`)).status).toBe("completed");
      const model = provider === "openai" ? "openai/gpt-4o-mini" : "deepseek/deepseek-chat";
      const next = await user.ask(responsesPath, { body: { model, input: "go on", previous_response_id: id } });
      expect(textIn(responseIn(next))).toContain("You said: go on");
    }
    const { spent = 0n, held } = await userBooks(gateway, "alice");
    expect(held).toBe(0n);
    // A credit for each that was seen to end, and for each that went on.
    expect(spent).toBeGreaterThanOrEqual(BigInt(seen.size + rows.length) * oneCredit);
    await expectCleanAudit(gateway);
    expect(await gateway.stop()).toBe(0);
  },
  60_000,
);
