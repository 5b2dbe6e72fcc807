/**
 * From this version to one with a further step of the schema, and back, by processes that take the port over from each other under
 * calls: none is lost, none is charged twice. On Postgres a node of this version goes on all the time.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import {
  type Engine,
  engines,
  expectCleanAudit,
  type Gateway,
  type GatedUpstream,
  oneCredit,
  oneCreditACall,
  sharedPostgres,
  spentBy,
  startGatedUpstream,
  startGateway,
  until,
} from "../kit/index.ts";
import { planStorage } from "../../src/app/storage.ts";
import { startSteadyCallers } from "../kit/steady-callers.ts";

const A_SECOND = 200;
/** Between two changes of processes. */
const CALLS_BETWEEN = 300;

const preload = join(import.meta.dir, "__fixtures__/further-step.ts");
const postgres = sharedPostgres();
let upstream: GatedUpstream;
beforeAll(() => {
  upstream = startGatedUpstream();
});
afterAll(() => upstream.stop());

const options = () => ({
  providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "sk-upstream" } },
  config: oneCreditACall,
});

const versionOf = async ({ storageUrl }: Gateway): Promise<number | undefined> =>
  (await planStorage(storageUrl))[0]?.now.version;

async function startFirst(engine: Engine): Promise<Gateway[]> {
  if (engine === "SQLite") return [await startGateway(options())];
  const storage = await postgres.createDatabase();
  return Promise.all([startGateway({ ...options(), storage }), startGateway({ ...options(), storage })]);
}

test.skipIf(process.platform !== "linux").each(engines)("a roll forward and back on %s", async (engine) => {
  const [first, stays] = (await startFirst(engine)) as [Gateway, Gateway | undefined];
  const before = (await versionOf(first)) ?? 0;
  const token = await first.token({ user: "ann", credits: 10n ** 9n * oneCredit });
  const call = { token, model: "openai/quick", hasKeys: true };
  const rolled = startSteadyCallers({ ...call, url: first.url, atOnce: 16, aSecond: A_SECOND });
  const beside = stays && startSteadyCallers({ ...call, url: stays.url, atOnce: 2, aSecond: 20, prefix: "beside" });
  const more = (): Promise<unknown> => {
    const already = rolled.ended();
    return until("calls go on", () => rolled.ended() > already + CALLS_BETWEEN);
  };
  const next = {
    ...options(),
    storage: first.storageUrl,
    arguments: ["--port", new URL(first.url).port, "--handover"],
  };

  await more();
  const newer = await startGateway({ ...next, preload });
  expect(await first.process.exited).toBe(0);
  expect(await versionOf(newer)).toBe(before + 1);
  await more();
  const back = await startGateway(next);
  expect(await newer.process.exited).toBe(0);
  await more();
  rolled.stop();
  beside?.stop();

  expect(await rolled.failures).toEqual([]);
  expect((await beside?.failures) ?? []).toEqual([]);
  const calls = rolled.ended() + (beside?.ended() ?? 0);
  expect(await spentBy(back, "ann")).toBe(BigInt(calls) * oneCredit);
  await expectCleanAudit(back);
  for (const gateway of [back, stays, newer, first]) await gateway?.stop();
});
