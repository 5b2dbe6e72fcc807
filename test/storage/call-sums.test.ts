/** The sums of days on both engines: as the step of operations, failures and list prices leaves them, and in zones with days of 23 and 25 hours. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { schema } from "../../src/app/schema.ts";
import { Calendar, dayName } from "../../src/core/index.ts";
import { openGenerationStore, type SpendingQuery } from "../../src/generations/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { engines, query, sharedPostgres } from "../kit/index.ts";
import { insertGeneration, plainGeneration } from "../kit/generations.ts";
import { changeTimezone, openStorage } from "../kit/storage.ts";

const postgres = sharedPostgres();

/** The steps of operations, of tags and of units, by what they replace or create. */
const steps = ["daily_sums_before", "sums_without_tags", "CREATE TABLE daily_units"].flatMap((text) =>
  schema.steps.filter((step) => step.sqlite?.includes(text) === true || step.postgres?.includes(text) === true),
);

let folder: string;
let url: string;
let storage: Storage;

const HOUR = 3_600_000;

let calls = 0;
async function put(more: Partial<Parameters<typeof insertGeneration>[1]>): Promise<void> {
  calls += 1;
  await insertGeneration(storage, {
    id: `req_${calls}`,
    owner: "ann",
    tokenId: "a",
    ...plainGeneration,
    startedAt: 0,
    ...more,
  });
}

const everything: SpendingQuery = {
  owners: undefined,
  from: 0,
  to: Date.parse("2030-01-01"),
  groupBy: ["day"],
  interval: "day",
  groupsMax: 10_000,
  filter: {},
  organisationOf: () => undefined,
};

async function report(asked: Partial<SpendingQuery>) {
  const found = await openGenerationStore(storage, 50).spending({ ...everything, ...asked });
  if (typeof found !== "object" || !("groups" in found)) throw new Error("there is no report");
  return found;
}

describe.each(engines)("on %s,", (engine) => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-sums-"));
    url = engine === "Postgres" ? await postgres.createDatabase() : `sqlite:${join(folder, "t.db")}`;
    storage = await openStorage(url);
  });
  afterEach(async () => {
    await storage.close();
    rmSync(folder, { recursive: true });
  });

  test("the steps count the calls again, and keep what is left of removed ones as unknown", async () => {
    await put({ outcome: "failed", listCredits: 4 });
    await put({ operation: "embedding", listCredits: 5, usage: { input: 4, cacheRead: 3, inputAudio: 2 } });
    await put({ owner: "bob", startedAt: 30 * 24 * HOUR });
    // As the version before had it, with two more calls that were removed since, and a day of which nothing else is left.
    const before = ["requests", "input_tokens", "output_tokens", "credits"];
    const columns = [...before, ...before.map((name) => `removed_${name}`)];
    const types = storage.engine === "sqlite" ? ["TEXT", "INTEGER"] : ['text COLLATE "C"', "bigint"];
    for (const table of ["daily_sums", "monthly_sums", "daily_units", "monthly_units"])
      await query(storage, `DROP TABLE ${table}`);
    await query(
      storage,
      `CREATE TABLE daily_sums (owner ${types[0]} NOT NULL, day ${types[1]} NOT NULL, account_id ${types[0]} NOT NULL,
         provider ${types[0]} NOT NULL, model ${types[0]} NOT NULL,
         ${columns.map((name) => `${name} ${types[1]} NOT NULL DEFAULT 0`).join(", ")},
         PRIMARY KEY (owner, day, account_id, provider, model))`,
    );
    const key = "'token:a', 'openai', 'm'";
    await query(storage, `INSERT INTO daily_sums VALUES ('ann', 0, ${key}, 4, 28, 12, 40, 2, 14, 6, 20)`);
    await query(storage, `INSERT INTO daily_sums VALUES ('ann', 3, ${key}, 5, 1, 2, 3, 5, 1, 2, 3)`);
    await query(storage, `INSERT INTO daily_sums VALUES ('bob', 30, ${key}, 1, 7, 3, 10, 0, 0, 0, 0)`);
    for (const step of steps) {
      if (storage.engine === "sqlite") {
        if (step.sqlite !== undefined) storage.handle.run(step.sqlite);
      } else if (step.postgres !== undefined)
        await storage.statements.run(`DO $step$ BEGIN EXECUTE $sql$${step.postgres}$sql$; END $step$`);
    }
    const { groups, total } = await report({ groupBy: ["day", "user", "operation"] });
    expect(
      groups.map(({ values, ...sums }) => [
        values.day,
        values.user,
        values.operation,
        ...Object.values(sums).map(Number),
      ]),
    ).toEqual([
      ["1970-01-01", "ann", "unknown", 2, 0, 14, 6, 20, 0],
      ["1970-01-01", "ann", "chat", 1, 1, 7, 3, 10, 4],
      ["1970-01-01", "ann", "embedding", 1, 0, 7, 3, 10, 5],
      ["1970-01-04", "ann", "unknown", 5, 0, 1, 2, 3, 0],
      ["1970-01-31", "bob", "chat", 1, 0, 7, 3, 10, 0],
    ]);
    expect(total).toMatchObject({ requests: 10n, failures: 1n, credits: 53n, listCredits: 9n });
    const unitsOf = async (table: "daily" | "monthly") => {
      const rows = await query<{ owner: string; operation: string; bucket: string; units: unknown }>(
        storage,
        `SELECT owner, operation, bucket, sum(units) AS units FROM ${table}_units GROUP BY 1, 2, 3
         UNION ALL SELECT owner, operation, 'cacheRead', sum(units_cache_read) FROM ${table}_sums GROUP BY 1, 2 HAVING sum(units_cache_read) > 0
         ORDER BY 1, 2, 3`,
      );
      return rows.map(({ units, ...rest }) => [...Object.values(rest), Number(units)]);
    };
    const units = [
      ["ann", "embedding", "cacheRead", 3],
      ["ann", "embedding", "inputAudio", 2],
      ["ann", "unknown", "unknownInput", 15],
      ["ann", "unknown", "unknownOutput", 8],
    ];
    expect(await unitsOf("daily")).toEqual(units);
    expect(await unitsOf("monthly")).toEqual(units);
    // Calls are counted by the new sums from now on.
    await put({ owner: "bob", startedAt: 30 * 24 * HOUR, outcome: "failed" });
    expect((await report({ owners: ["bob"] })).total).toMatchObject({ requests: 2n, failures: 1n });
  });

  test.each(["UTC", "Asia/Kolkata", "America/St_Johns"])(
    "in %s the days add up to the whole, at any moments",
    async (zone) => {
      const begin = Date.parse("2026-03-06T00:00:00Z");
      const call = fc.record({
        owner: fc.constantFrom("ann", "bob"),
        outcome: fc.constantFrom("complete" as const, "failed" as const),
        listCredits: fc.constantFrom(undefined, 3),
        // Around both changes of the clock of 2026.
        startedAt: fc.oneof(
          fc.integer({ min: begin, max: begin + 96 * HOUR }),
          fc.integer({ min: Date.parse("2026-10-30"), max: Date.parse("2026-11-03") }),
        ),
        credits: fc.bigInt({ min: 0n, max: 1_000n }),
      });
      const written = fc.sample(call, { seed: 37, numRuns: 60 });
      for (const one of written) await put(one);
      await storage.close();
      await changeTimezone(url, zone);
      storage = await openStorage(url);
      const calendar = new Calendar(zone);
      const moment = fc.oneof(
        fc.integer({ min: begin - 24 * HOUR, max: begin + 120 * HOUR }),
        fc.integer({ min: Date.parse("2026-10-30"), max: Date.parse("2026-11-03") }),
      );
      await fc.assert(
        fc.asyncProperty(moment, moment, async (one, other) => {
          const [from, to] = [Math.min(one, other), Math.max(one, other)];
          const inside = written.filter(({ startedAt }) => startedAt >= from && startedAt < to);
          const { groups, total } = await report({ from, to });
          const byDay = Map.groupBy(inside, ({ startedAt }) => dayName(calendar.dayOf(startedAt)));
          const sumsOf = (some: typeof inside) => [
            some.length,
            some.filter(({ outcome }) => outcome === "failed").length,
            some.reduce((sum, { credits }) => sum + Number(credits), 0),
            some.reduce((sum, { listCredits = 0 }) => sum + listCredits, 0),
          ];
          const shown = (sums: typeof total) =>
            [sums.requests, sums.failures, sums.credits, sums.listCredits].map(Number);
          expect(shown(total)).toEqual(sumsOf(inside));
          expect(Object.fromEntries(groups.map((group) => [group.values.day ?? "", shown(group)]))).toEqual(
            Object.fromEntries([...byDay].map(([day, some]) => [day, sumsOf(some)])),
          );
        }),
        { seed: 37, numRuns: 30 },
      );
    },
  );
});
