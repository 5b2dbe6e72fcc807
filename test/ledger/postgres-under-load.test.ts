/** Postgres fails under the load of a whole gateway: refused quickly, nothing sent upstream, all made good afterwards. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  chatPath,
  EventReader,
  expectCleanAudit,
  type Gateway,
  type GatedUpstream,
  letLeasesLapse,
  oneCredit,
  oneCreditACall,
  type PostgresServer,
  query,
  startGatedUpstream,
  startGateway,
  startPostgres,
  stopGateways,
  until,
  userBooks,
} from "../kit/index.ts";

const GRANTED = 1_000_000n * oneCredit;
const CALLERS = 8;

/** The longest wait of a caller for the refusal during an outage. */
const REFUSAL_MS_MAX = 10_000;

let postgres: PostgresServer;
let storage: string;
let upstream: GatedUpstream;
let gateway: Gateway;
let token: string;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await stopGateways();
  await upstream.stop();
  await postgres.stop();
});
beforeEach(async () => {
  upstream = startGatedUpstream();
  storage = await postgres.createDatabase();
  gateway = await start();
  token = await gateway.token({ user: "user", credits: GRANTED });
});

function start(folder?: string): Promise<Gateway> {
  return startGateway({
    storage,
    providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "sk-upstream" } },
    config: { ...oneCreditACall, upstream: { retries: 0 } },
    ...(folder === undefined ? {} : { folder }),
  });
}

const call = (model: string, more: object = {}): Promise<Response> =>
  fetch(gateway.url + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: `openai/${model}`, messages: [{ role: "user", content: "hi" }], ...more }),
  });

interface Refusal {
  id: string;
  milliseconds: number;
  retryAfter: string | null;
  body: string;
}

/** Callers that go on calling, streams and whole answers, whatever they are answered. */
class Load {
  /** Request ids. */
  readonly answered = new Set<string>();
  readonly refused: Refusal[] = [];
  readonly #callers: Promise<void>[];
  #isOver = false;

  constructor() {
    this.#callers = Array.from({ length: CALLERS }, (_, index) => this.#run(index % 2 === 0));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  async #run(stream: boolean): Promise<void> {
    while (!this.#isOver) {
      const askedAt = performance.now();
      const answer = await call("quick", { stream });
      const body = await answer.text();
      const id = answer.headers.get("x-request-id") ?? "";
      const milliseconds = performance.now() - askedAt;
      if (answer.status === 503)
        this.refused.push({ id, milliseconds, retryAfter: answer.headers.get("retry-after"), body });
      else if (answer.status === 200 && (!stream || body.endsWith("data: [DONE]\n\n"))) this.answered.add(id);
      else throw new Error(`answered with ${answer.status}: ${body}`);
      await Bun.sleep(1);
    }
  }

  expectProperRefusals(): void {
    expect(this.refused.length).toBeGreaterThan(0);
    for (const { milliseconds, retryAfter, body } of this.refused) {
      expect(JSON.parse(body)).toMatchObject({ error: { code: "storage_unavailable" } });
      expect(retryAfter).toBe("1");
      expect(milliseconds).toBeLessThan(REFUSAL_MS_MAX);
    }
  }
}

/** Every answered call is charged, once; no refused one is; nothing stays held. */
async function expectExactBooks(load: Load, more: readonly string[] = []): Promise<void> {
  const ledger = openLedgerStore(gateway.storage);
  // A hold whose commit's answer was lost was refused, and stays until its lease has expired.
  const refused = new Set(load.refused.map(({ id }) => id));
  await until("every settlement has arrived", async () => {
    // This process's connections were cut as well, which the first statement on each of them reports.
    const open = await ledger.openHolds().catch(() => undefined);
    return open?.every(({ id }) => refused.has(id));
  });
  await letLeasesLapse(gateway.storage);
  await gateway.stop({ keepFolder: true });
  gateway = await start(gateway.folder);
  await until("no hold is left", async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0);

  const entries = await query<{ id: string; amount: bigint }>(
    gateway.storage,
    "SELECT id, amount FROM entries WHERE kind <> 'grant' AND amount > 0 ORDER BY id",
  );
  expect(entries.map(({ id }) => id)).toEqual([...load.answered, ...more].toSorted());
  expect(entries.filter(({ amount }) => amount !== oneCredit)).toEqual([]);
  const spent = BigInt(entries.length) * oneCredit;
  expect(await userBooks(gateway, "user")).toEqual({ credits: GRANTED, spent, held: 0n });
  await expectCleanAudit(gateway);
  expect(await gateway.stop()).toBe(0);
}

test("restarted: calls are refused quickly and reach no upstream, those under way end well, all is charged once", async () => {
  const wholes = Array.from({ length: 4 }, () => call("held-whole"));
  const streams = await Promise.all(Array.from({ length: 4 }, () => call("held-stream", { stream: true })));
  const readers = streams.map((stream) => new EventReader(stream));
  await until("all are at the upstream", () => upstream.received().length === 8);
  const load = new Load();
  await until("calls are answered", () => load.answered.size > 20);

  await postgres.crash();
  await until("a call is refused", () => load.refused.length >= CALLERS);
  const { length: sent } = upstream.received();
  const { length: refusedBefore } = load.refused;
  await until("many are refused", () => load.refused.length > refusedBefore + 50, 10_000);
  expect(upstream.received().length).toBe(sent);

  // Meanwhile the upstream answers earlier requests.
  upstream.release();
  const answers = await Promise.all(wholes);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(answers.map((answer) => answer.headers.get("x-tollgate-credits"))).toEqual(["1", "1", "1", "1"]);
  for (const reader of readers) expect(await reader.rest()).toEndWith("data: [DONE]\n\n");

  await postgres.start();
  const { size: answeredBefore } = load.answered;
  await until("calls are answered again", () => load.answered.size > answeredBefore + 20, 10_000);
  await load.end();
  load.expectProperRefusals();
  const ids = [...answers, ...streams].map((answer) => answer.headers.get("x-request-id") ?? "");
  await expectExactBooks(load, ids);
});

test("connections cut again and again: a call is answered and charged once, or refused, sent nowhere and free", async () => {
  const load = new Load();
  const admin = new SQL(storage, { max: 1 });
  // A cut may come when no statement is under way, which nobody notices.
  for (let cuts = 1; cuts <= 8 || load.refused.length === 0; cuts += 1) {
    const { size } = load.answered;
    await until("calls are answered", () => load.answered.size > size + 20, 10_000);
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tollgate'`;
  }
  const { size } = load.answered;
  await until("calls are answered after the last cut", () => load.answered.size > size + 20, 10_000);
  await admin.close();
  await load.end();
  load.expectProperRefusals();
  expect(upstream.received().length).toBe(load.answered.size);
  await expectExactBooks(load);
});

test("down while a node is stopped: the node waits for it, and writes the remaining charges", async () => {
  const whole = call("held-whole");
  const stream = new EventReader(await call("held-stream", { stream: true }));
  await until("both are at the upstream", () => upstream.received().length === 2);
  await postgres.crash();
  upstream.release();
  expect((await whole).status).toBe(200);
  expect(await stream.rest()).toEndWith("data: [DONE]\n\n");
  gateway.process.kill("SIGTERM");
  await until("no call is taken any more", () =>
    call("quick").then(
      ({ status }) => status === 503,
      () => true,
    ),
  );
  expect(gateway.process.exitCode).toBeNull();
  await postgres.start();
  expect(await gateway.process.exited).toBe(0);
  await until("the books can be read", () => userBooks(gateway, "user").catch(() => undefined));
  expect(await userBooks(gateway, "user")).toEqual({ credits: GRANTED, spent: 2n * oneCredit, held: 0n });
  await expectCleanAudit(gateway);
  await gateway.stop();
});
