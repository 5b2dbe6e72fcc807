/** An account that can pay for exactly N calls gets 1,000 at once: N succeed, however many processes share its ledger. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage } from "../kit/storage.ts";
import {
  type Engine,
  expectCleanAudit,
  type Gateway,
  oneCredit,
  oneCreditACall,
  type PostgresServer,
  query,
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
const WORKERS = 3;

/** Lines of the log, if a call ended in neither way: warnings and errors. */
const LOGGED_LEVEL_MIN = 40;
const LOGGED_LINES_MAX = 20;

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

/** The preparation of a new database before a gateway uses it. */
type Prepare = (url: string) => Promise<void>;

const threeWorkers: SetUp = {
  name: "one node of three workers",
  engine: "Postgres",
  nodes: 1,
  arguments: ["--workers", String(WORKERS)],
};

const setUps: SetUp[] = [
  { name: "one node on SQLite", engine: "SQLite", nodes: 1 },
  { name: "one node on Postgres", engine: "Postgres", nodes: 1 },
  { name: "three nodes on one Postgres", engine: "Postgres", nodes: 3 },
  threeWorkers,
];

async function start({ engine, nodes, arguments: more = [] }: SetUp, prepare?: Prepare): Promise<Gateway[]> {
  const storage = await storageOn(engine, postgres);
  if (storage.storage !== undefined) await prepare?.(storage.storage);
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

type Answered = Awaited<ReturnType<typeof call>>;

/** Unexpected answers and their number, together with the gateways' log. */
function describeOthers(gateways: readonly Gateway[], others: readonly Answered[]) {
  const counts: Record<string, number> = {};
  for (const { status, body } of others) {
    const other = `${status} ${body}`;
    counts[other] = (counts[other] ?? 0) + 1;
  }
  const lines = others.length === 0 ? [] : gateways.flatMap((gateway) => gateway.logLines());
  const troubles = lines.filter(({ level }) => Number(level) >= LOGGED_LEVEL_MIN);
  return { counts, logged: troubles.slice(0, LOGGED_LINES_MAX) };
}

async function expectExactlyAfforded(gateways: readonly Gateway[]): Promise<void> {
  const [first] = gateways;
  if (first === undefined) throw new Error("there is no node");
  const token = await first.token({ user: "user", credits: BigInt(AFFORDED) * oneCredit });
  const received = simulators.total();

  // Some end while others begin; some are slow enough for all callers to be there while they are still under way.
  const calls = Array.from({ length: CALLS }, (_, index) =>
    call(gateways[index % gateways.length] ?? first, token, index % 2 === 0 ? "openai/quick" : "openai/slow+slow-300"),
  );
  const answers = await Promise.all(calls);

  const paid = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 402);
  const others = describeOthers(
    gateways,
    answers.filter(({ status }) => status !== 200 && status !== 402),
  );
  expect({ paid: paid.length, refused: refused.length, others }).toEqual({
    paid: AFFORDED,
    refused: CALLS - AFFORDED,
    others: { counts: {}, logged: [] },
  });
  expect(new Set(paid.map(({ credits }) => credits))).toEqual(new Set(["1"]));
  expect(refused.filter(({ body }) => !body.includes("insufficient_credits"))).toEqual([]);
  expect(simulators.total() - received).toBe(AFFORDED);

  await until("nothing is held", async () => (await userBooks(first, "user")).held === 0n);
  const all = BigInt(AFFORDED) * oneCredit;
  expect(await userBooks(first, "user")).toEqual({ credits: all, spent: all, held: 0n });
  expect(await openLedgerStore(first.storage).openHolds()).toEqual([]);
  await expectCleanAudit(first);
  expect(await Promise.all(gateways.map((gateway) => gateway.stop()))).toEqual(gateways.map(() => 0));
}

test.each(setUps)("$name", async (setUp) => expectExactlyAfforded(await start(setUp)), 30_000);

/** Every commit writes to the accounts, even if to none of them. A sequence continues after a rollback. */
const FAILING_COMMITS = [
  "CREATE SEQUENCE commits",
  `CREATE FUNCTION fail_first_commits() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     IF nextval('commits') <= ${WORKERS} THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected'; END IF;
     RETURN NULL;
   END $$`,
  "CREATE TRIGGER first_commits_fail BEFORE UPDATE ON accounts FOR EACH STATEMENT EXECUTE FUNCTION fail_first_commits()",
];

/** Makes each worker's first commit fail, which is a sweep: the next one is due a quarter of a minute later. */
async function failFirstCommits(url: string): Promise<void> {
  const storage = await openStorage(url);
  for (const statement of FAILING_COMMITS) await query(storage, statement);
  await storage.close();
}

test("one node of three workers, of which each has seen its last commit fail", async () => {
  const gateways = await start(threeWorkers, failFirstCommits);
  const failures = () => gateways.flatMap((gateway) => gateway.logLines()).filter(({ msg }) => msg === "sweep failed");
  await until("each has failed to sweep", () => failures().length === WORKERS);
  await expectExactlyAfforded(gateways);
});
