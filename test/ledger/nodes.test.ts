/** Gateway processes that share one Postgres: one that is paused past its leases, and announcements that reach all. */
import { expect, test } from "bun:test";
import { SQL } from "bun";
import {
  chatPath,
  EventReader,
  expectCleanAudit,
  type Gateway,
  letLeasesLapse,
  oneCredit,
  oneCreditACall,
  query,
  sharedPostgres,
  startGatedUpstream,
  startGateway,
  startTwoNodes,
  until,
  userBooks,
} from "../kit/index.ts";

/** How soon a revocation has to be in force everywhere. */
const REVOKED_MS_MAX = 1_000;

const postgres = sharedPostgres();

const node = (storage: string, upstream: string) => ({
  storage,
  providers: { openai: { kind: "openai", base_url: upstream, api_key: "sk-upstream" } },
  config: oneCreditACall,
});

function call(gateway: Gateway, token: string, model: string, more: object = {}): Promise<Response> {
  return fetch(gateway.url + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: `openai/${model}`, messages: [{ role: "user", content: "hi" }], ...more }),
    keepalive: false,
  });
}

const books = (gateway: Gateway) => userBooks(gateway, "user");

test("a node that is paused past its leases, and continued, charges its calls once although another node has ended them", async () => {
  const upstream = startGatedUpstream();
  const storage = await postgres.createDatabase();
  const paused = await startGateway(node(storage, upstream.url));
  const token = await paused.token({ user: "user", credits: 10n * oneCredit });
  const whole = call(paused, token, "held-whole");
  const stream = await call(paused, token, "held-stream", { stream: true });
  const reader = new EventReader(stream);
  expect(await reader.next()).toContain("hello");
  await until("both calls are at the upstream", () => upstream.received().length === 2);
  expect(await books(paused)).toMatchObject({ spent: 0n, held: 2n * oneCredit });

  paused.process.kill("SIGSTOP");
  await letLeasesLapse(paused.storage);
  // It sweeps when it starts; a node that runs already does so every 15 seconds.
  const other = await startGateway(node(storage, upstream.url));
  await until("the other node has ended the calls", async () => (await books(other)).held === 0n);
  expect(await books(other)).toMatchObject({ spent: 0n, held: 0n });
  expect((await call(other, token, "quick")).status).toBe(200);
  await until("its own call is charged", async () => (await books(other)).spent === oneCredit);

  paused.process.kill("SIGCONT");
  upstream.release();
  expect((await whole).status).toBe(200);
  expect(await reader.rest()).toEndWith("data: [DONE]\n\n");
  const entries = await query<{ id: string; amount: bigint }>(
    other.storage,
    "SELECT id, amount FROM entries WHERE kind <> 'grant'",
  );
  const charges = entries.filter(({ amount }) => amount > 0n);
  expect(new Set(charges.map(({ id }) => id.slice(0, 29))).size).toBe(3);
  expect(charges.map(({ amount }) => amount)).toEqual([oneCredit, oneCredit, oneCredit]);
  expect(await books(other)).toMatchObject({ spent: 3n * oneCredit, held: 0n });
  await expectCleanAudit(other);

  expect(await paused.stop()).toBe(0);
  expect(await other.stop()).toBe(0);
  await upstream.stop();
});

test("a revoked token is refused by every process within a second, also after their connections were cut", async () => {
  const upstream = startGatedUpstream();
  const storage = await postgres.createDatabase();
  const [first, second] = await startTwoNodes(node(storage, upstream.url));
  const workers = await startGateway({ ...node(storage, upstream.url), arguments: ["--workers", "2"] });
  const asked = [second, workers, workers, workers, workers, first];
  const expectRevocation = async (token: string): Promise<void> => {
    const statuses = () => Promise.all(asked.map(async (gateway) => (await call(gateway, token, "quick")).status));
    // Every process has it in memory then.
    await until("the token works everywhere", async () => (await statuses()).every((status) => status === 200));
    const { code, stderr } = await second.cli("token", "revoke", token.slice(3, 15));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await until(
      "it is refused everywhere",
      async () => (await statuses()).every((status) => status === 401),
      REVOKED_MS_MAX,
    );
  };

  const token = await first.token({ user: "user", credits: 100n * oneCredit });
  const another = await first.token({ user: "user" });
  await expectRevocation(token);
  const admin = new SQL(storage, { max: 1 });
  await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tollgate'`;
  await expectRevocation(another);
  await admin.close();
  expect(await Promise.all([first, second, workers].map((gateway) => gateway.stop()))).toEqual([0, 0, 0]);
  await upstream.stop();
});
