/** Money of calls that move from a free target to an expensive one: nothing passes that was not held, and one charge remains. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import {
  type Engine,
  engines,
  expectCleanAudit,
  type Gateway,
  type GatewayOptions,
  letLeasesLapse,
  oneCredit,
  postChat,
  type PostgresServer,
  query,
  simulatedProviders,
  spentBy,
  startGateway,
  startPostgres,
  stopGateways,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";

const CALLS = 200;
const AFFORDED = 10;

let simulators: Simulators;
let postgres: PostgresServer;
beforeAll(async () => {
  [simulators, postgres] = await Promise.all([startSimulators(), startPostgres()]);
});
afterEach(() => stopGateways());
afterAll(async () => {
  await simulators.stop();
  await postgres.stop();
});

async function optionsOn(engine: Engine): Promise<GatewayOptions> {
  const dear = (model: string): object => ({ tiers: [[{ model: "free/down" }], [{ model }]] });
  return {
    ...(await storageOn(engine, postgres)),
    providers: {
      ...simulatedProviders(simulators),
      free: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" },
    },
    config: {
      pricing: { models: { "free/*": { input_mtok: 0, output_mtok: 0 }, "openai/*": { requests_kcount: 1000 } } },
      routing: {
        circuits: false,
        routes: {
          quick: dear("openai/quick"),
          slow: dear("openai/slow+slow-300"),
          silent: dear("openai/silent+slow-60000"),
        },
      },
    },
  };
}

const hello = (model: string): object => ({ model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] });

describe.each([...engines])("on %s", (engine) => {
  test(`of ${CALLS} calls at once that fail over to a dear target, a budget for ${AFFORDED} pays for ${AFFORDED}`, async () => {
    const gateway = await startGateway(await optionsOn(engine));
    const token = await gateway.token({ user: "user", credits: BigInt(AFFORDED) * oneCredit });
    const before = simulators.total();
    const calls = Array.from({ length: CALLS }, async (_, index) => {
      const answer = await postChat(gateway, token, hello(index % 2 === 0 ? "quick" : "slow"));
      await answer.arrayBuffer();
      return answer.status;
    });
    const statuses = await Promise.all(calls);
    // The others have no room for the expensive target, and report that the free one could not be reached.
    expect([200, 502].map((status) => statuses.filter((each) => each === status).length)).toEqual([
      AFFORDED,
      CALLS - AFFORDED,
    ]);
    expect(simulators.total() - before).toBe(AFFORDED);
    expect(await spentBy(gateway, "user")).toBe(BigInt(AFFORDED) * oneCredit);
    await expectCleanAudit(gateway);
  });

  test("a process that is killed between two targets leaves one hold, which is released once", async () => {
    const options = await optionsOn(engine);
    const killed = await startGateway(options);
    const token = await killed.token({ user: "user", credits: 5n * oneCredit });
    const before = simulators.total();
    const calls = Array.from({ length: 5 }, () => postChat(killed, token, hello("silent")).catch(() => undefined));
    await until("the dear target is asked", () => simulators.total() - before === 5);
    expect(await userBooks(killed, "user")).toMatchObject({ held: 5n * oneCredit });
    killed.process.kill("SIGKILL");
    await killed.process.exited;
    await Promise.all(calls);
    const gateway: Gateway = await startGateway({ ...options, folder: killed.folder, storage: killed.storageUrl });
    await letLeasesLapse(gateway.storage);
    await until("nothing is held", async () => (await userBooks(gateway, "user")).held === 0n);
    expect(await userBooks(gateway, "user")).toMatchObject({ spent: 0n, held: 0n });
    const rows = await query<{ provider: string; outcome: string }>(
      gateway.storage,
      "SELECT provider, outcome FROM generations WHERE owner = 'user'",
    );
    expect(rows).toEqual(Array.from({ length: 5 }, () => ({ provider: "openai", outcome: "expired" })));
    await expectCleanAudit(gateway);
  });
});
