/** An account that can pay for exactly N calls gets 1,000 at once: N succeed, however many processes share its ledger. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  type Engine,
  expectCleanAudit,
  type Gateway,
  oneCredit,
  oneCreditACall,
  type PostgresServer,
  sendChat,
  simulatedProviders,
  startGateway,
  startPostgres,
  stopGateways,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";

const CALLS = 1_000;
const AFFORDED = 137;

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

interface SetUp {
  name: string;
  engine: Engine;
  nodes: number;
  arguments?: string[];
}

const setUps: SetUp[] = [
  { name: "one node on SQLite", engine: "SQLite", nodes: 1 },
  { name: "one node on Postgres", engine: "Postgres", nodes: 1 },
  { name: "three nodes on one Postgres", engine: "Postgres", nodes: 3 },
  { name: "one node of three workers", engine: "Postgres", nodes: 1, arguments: ["--workers", "3"] },
];

async function start({ engine, nodes, arguments: more = [] }: SetUp): Promise<Gateway[]> {
  const storage = await storageOn(engine, postgres);
  const options = {
    ...storage,
    providers: simulatedProviders(simulators),
    config: oneCreditACall,
    arguments: more,
  };
  return Promise.all(Array.from({ length: nodes }, () => startGateway(options)));
}

async function call(gateway: Gateway, token: string, model: string) {
  const body = JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] });
  const answer = await sendChat(gateway.url, token, body);
  return { status: answer.status, credits: answer.headers.get("x-tollgate-credits"), body: answer.body };
}

test.each(setUps)(
  "$name",
  async (setUp) => {
    const gateways = await start(setUp);
    const [first] = gateways;
    if (first === undefined) throw new Error("there is no node");
    const token = await first.token({ user: "user", credits: BigInt(AFFORDED) * oneCredit });
    const received = simulators.total();

    // Some end while others begin; some are slow enough for all callers to be there while they are still under way.
    const calls = Array.from({ length: CALLS }, (_, index) =>
      call(
        gateways[index % gateways.length] ?? first,
        token,
        index % 2 === 0 ? "openai/quick" : "openai/slow+slow-300",
      ),
    );
    const answers = await Promise.all(calls);

    const paid = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 402);
    expect({ paid: paid.length, refused: refused.length }).toEqual({ paid: AFFORDED, refused: CALLS - AFFORDED });
    expect(new Set(paid.map(({ credits }) => credits))).toEqual(new Set(["1"]));
    expect(refused.filter(({ body }) => !body.includes("insufficient_credits"))).toEqual([]);
    expect(simulators.total() - received).toBe(AFFORDED);

    await until("nothing is held", async () => (await userBooks(first, "user")).held === 0n);
    const all = BigInt(AFFORDED) * oneCredit;
    expect(await userBooks(first, "user")).toEqual({ credits: all, spent: all, held: 0n });
    expect(await openLedgerStore(first.storage).openHolds()).toEqual([]);
    await expectCleanAudit(first);
    expect(await Promise.all(gateways.map((gateway) => gateway.stop()))).toEqual(gateways.map(() => 0));
  },
  30_000,
);
