/** `kill -9` under a batch: each line once in the results, charged once; only those in flight are asked again. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import {
  engines,
  expectCleanAudit,
  oneCredit,
  type ScriptedUpstream,
  sharedPostgres,
  sorted,
  spentBy,
  startScriptedUpstream,
  storageOn,
  until,
} from "../kit/index.ts";
import {
  answerTo,
  begin,
  clientsOf,
  ended,
  idsUpTo,
  letAllLapse,
  linesOf,
  resultsOf,
  startBatchGateway,
} from "./batch-scene.ts";

const postgres = sharedPostgres();

/** Lines that one process calls of a batch at a time. */
const AT_ONCE = 8;

const KILLS = 3;
const LINES = 300;

let upstream: ScriptedUpstream;
beforeAll(() => {
  upstream = startScriptedUpstream();
});
afterAll(() => upstream.stop());

describe.each(engines)("on %s", (engine) => {
  test("a batch outlives every process", async () => {
    upstream.answerWith(({ body }) => answerTo(body));
    const options = await storageOn(engine, postgres);
    let gateway = await startBatchGateway(upstream, options);
    const { folder } = gateway;
    const { openai, token } = await clientsOf(gateway, { user: "alice" });
    const { id } = await begin(openai, linesOf(idsUpTo(LINES)));
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until("more lines are called", () => upstream.requests.length >= (kill * LINES) / (KILLS + 2));
      gateway.process.kill("SIGKILL");
      await gateway.process.exited;
      await gateway.storage.close();
      gateway = await startBatchGateway(upstream, { ...options, folder });
      await letAllLapse(gateway);
    }
    const { openai: again } = await clientsOf(gateway, { user: "bob" });
    again.apiKey = token;
    const done = await ended(again, id, 120_000);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: LINES, completed: LINES, failed: 0 } });
    const results = await resultsOf(again, done.output_file_id);
    expect(sorted(results.map(({ custom_id }) => custom_id))).toEqual(sorted(idsUpTo(LINES)));
    expect(upstream.requests.length).toBeLessThanOrEqual(LINES + KILLS * AT_ONCE);
    expect(await spentBy(gateway, "alice")).toBe(BigInt(LINES) * oneCredit);
    await expectCleanAudit(gateway);
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 300_000);
});

test("a batch of a node that dies goes on at the other one", async () => {
  upstream.answerWith(async ({ body }) => {
    await Bun.sleep(20);
    return answerTo(body);
  });
  const options = { storage: await postgres.createDatabase() };
  const nodes = [await startBatchGateway(upstream, options), await startBatchGateway(upstream, options)] as const;
  const { openai } = await clientsOf(nodes[1], { user: "alice" });
  const first = await clientsOf(nodes[0], { user: "alice" });
  const { id } = await begin(first.openai, linesOf(idsUpTo(100)));
  await until("lines are called", () => upstream.requests.length > 20);
  nodes[0].process.kill("SIGKILL");
  await nodes[0].process.exited;
  await letAllLapse(nodes[1]);
  expect((await ended(openai, id)).request_counts).toEqual({ total: 100, completed: 100, failed: 0 });
  expect(upstream.requests.length).toBeLessThanOrEqual(100 + AT_ONCE);
  expect(await spentBy(nodes[1], "alice")).toBe(100n * oneCredit);
  await expectCleanAudit(nodes[1]);
  await nodes[0].storage.close();
  await nodes[1].stop();
});
