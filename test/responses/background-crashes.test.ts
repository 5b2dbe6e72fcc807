/** Processes that end while they run responses in the background: killed, stopped, and beside another one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  letLeasesLapse,
  query,
  sharedPostgres,
  simulatedProviders,
  startGateway,
  stopGateways,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";

const postgres = sharedPostgres();
const foreign = "deepseek/deepseek-chat+pace-50";
const native = "openai/gpt-5-mini";
const long = "words:2000";

let simulators: Simulators;
let said = 0;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(async () => {
  await stopGateways();
  await simulators.stop();
});

describe.each(engines)("on %s", (engine) => {
  const start = (place: { storage?: string; folder?: string }): Promise<Gateway> =>
    startGateway({ ...place, providers: simulatedProviders(simulators) });

  const clientOf = ({ url }: Gateway, apiKey: string): OpenAI =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

  /** Asks until it has ended. */
  async function endOf(client: OpenAI, id: string): Promise<OpenAI.Responses.Response> {
    return until(`${id} has ended`, async () => {
      simulators.advance(1_000);
      const response = await client.responses.retrieve(id);
      return response.status === "queued" || response.status === "in_progress" ? undefined : response;
    });
  }

  const hello = (): string => `${engine} ${(said += 1)} ${long}`;

  test("after a kill, the process's own responses have failed, and those that an upstream runs go on", async () => {
    const place = await storageOn(engine, postgres);
    const victim = await start(place);
    const token = await victim.token({ user: "alice" });
    const before = clientOf(victim, token);
    const [lost, kept] = await Promise.all([
      before.responses.create({ model: foreign, input: hello(), background: true }),
      before.responses.create({ model: native, input: hello(), background: true }),
    ]);
    await until("some of it has passed", async () => {
      const rows = await query(victim.storage, "SELECT 1 FROM background_events WHERE last_number > 5");
      return rows.length > 0;
    });
    victim.process.kill("SIGKILL");
    await victim.process.exited;
    await letLeasesLapse(victim.storage);
    await query(victim.storage, "UPDATE jobs SET lease_until = 1 WHERE lease_until IS NOT NULL");
    await victim.stop({ keepFolder: true });

    const requests = simulators.total();
    const gateway = await start({ ...place, folder: victim.folder });
    const client = clientOf(gateway, token);
    const failed = await endOf(client, lost.id);
    expect(failed).toMatchObject({ status: "failed", error: { code: "server_error" }, background: true });
    // It is not run again.
    expect(
      simulators
        .requests()
        .slice(requests)
        .some(({ method }) => method === "POST"),
    ).toBe(false);
    expect((await endOf(client, kept.id)).status).toBe("completed");
    const events = [];
    for await (const event of await client.responses.retrieve(lost.id, { stream: true })) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
    await until("no hold is left", async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0);
    const { spent, held } = await userBooks(gateway, "alice");
    expect(held).toBe(0n);
    expect(spent).toBeGreaterThan(0n);
    await until("no job is left", async () => (await query(gateway.storage, "SELECT id FROM jobs")).length === 0);
    await expectCleanAudit(gateway);
    expect(await gateway.stop()).toBe(0);
  });

  test("a process that stops ends and charges its own responses, and leaves those that an upstream runs", async () => {
    const place = await storageOn(engine, postgres);
    const first = await startGateway({ ...place, providers: simulatedProviders(simulators) });
    const token = await first.token({ user: "alice" });
    const before = clientOf(first, token);
    const short = await before.responses.create({
      model: "deepseek/deepseek-chat+pace-50",
      input: `${engine} words:20`,
      background: true,
    });
    const kept = await before.responses.create({ model: native, input: hello(), background: true });
    expect(await first.stop({ keepFolder: true })).toBe(0);
    const gateway = await start({ ...place, folder: first.folder });
    const client = clientOf(gateway, token);
    // It had time enough.
    expect((await client.responses.retrieve(short.id)).status).toBe("completed");
    expect((await endOf(client, kept.id)).status).toBe("completed");
    await until("no hold is left", async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0);
    await expectCleanAudit(gateway);
    expect(await gateway.stop()).toBe(0);
  });
});

test("two nodes: either shows, streams and cancels the responses of the other one", async () => {
  const storage = await postgres.createDatabase();
  const options = { storage, providers: simulatedProviders(simulators) };
  const [one, two] = await Promise.all([startGateway(options), startGateway(options)]);
  const token = await one.token({ user: "alice" });
  const clients = [one, two].map(({ url }) => new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })) as [
    OpenAI,
    OpenAI,
  ];
  const [here, there] = clients;
  const { id } = await here.responses.create({ model: foreign, input: `nodes ${long}`, background: true });
  await until("it runs", async () => (await there.responses.retrieve(id)).status === "in_progress");
  let last: unknown;
  const watching = (async () => {
    for await (const event of await there.responses.retrieve(id, { stream: true })) last = event;
  })();
  expect((await there.responses.cancel(id)).status).toBe("cancelled");
  await watching;
  expect(last).toMatchObject({ type: "response.failed", response: { status: "cancelled" } });
  expect((await here.responses.retrieve(id)).status).toBe("cancelled");
  await until("no hold is left", async () => (await openLedgerStore(one.storage).openHolds()).length === 0);
  expect((await userBooks(one, "alice")).spent).toBeGreaterThan(0n);
  await expectCleanAudit(one);
});
