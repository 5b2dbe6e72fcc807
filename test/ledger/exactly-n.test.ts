/** An account that can pay for exactly N calls gets 1,000 at once: N succeed, however many processes share its ledger. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import {
  chatPath,
  type Engine,
  type Gateway,
  type PostgresServer,
  sendRaw,
  simulatedProviders,
  startGateway,
  startPostgres,
  stopGateways,
  storageOn,
  until,
} from "../kit/index.ts";

const ONE = 1_000_000_000n;
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
    // Every call costs exactly one credit, so that what it holds is what it is charged.
    config: { pricing: { models: { "openai/*": { requests_kcount: 1000 } } } },
    arguments: more,
  };
  return Promise.all(Array.from({ length: nodes }, () => startGateway(options)));
}

/** A call on a connection of its own: a client library would send only a few hundred at once. */
async function call(gateway: Gateway, token: string, model: string) {
  const body = JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] });
  const head = [`POST ${chatPath} HTTP/1.1`, "host: gateway", `authorization: Bearer ${token}`];
  const text = `${[...head, `content-length: ${body.length}`].join("\r\n")}\r\n\r\n${body}`;
  const answer = await sendRaw(gateway.url, text);
  if (answer === undefined) throw new Error("no answer");
  return { status: answer.status, credits: answer.headers.get("x-tollgate-credits"), body: answer.body };
}

test.each(setUps)(
  "$name",
  async (setUp) => {
    const gateways = await start(setUp);
    const [first] = gateways;
    if (first === undefined) throw new Error("there is no node");
    const token = await first.token({ user: "user", credits: BigInt(AFFORDED) * ONE });
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

    const ledger = openLedgerStore(first.storage);
    const account = async () => (await ledger.chain(accountId("user", "user"), Date.now()))[0];
    await until("nothing is held", async () => (await account())?.debitsPending === 0n);
    expect(await account()).toMatchObject({
      creditsPosted: BigInt(AFFORDED) * ONE,
      debitsPosted: BigInt(AFFORDED) * ONE,
    });
    expect(await ledger.openHolds()).toEqual([]);
    const { code, stdout } = await first.cli("ledger", "audit", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ ok: true, open_holds: 0, shortfall: 0, drifts: [] }),
    ]);
    expect(await Promise.all(gateways.map((gateway) => gateway.stop()))).toEqual(gateways.map(() => 0));
  },
  30_000,
);
