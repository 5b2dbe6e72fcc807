/** Reports of many users over the sums that ten million calls leave: 300 users, 600 tokens, 20 models, a year of days. */
import { SQL } from "bun";
import { openGenerationStore, type SpendingQuery, type UsageDimension } from "../../src/generations/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { median } from "../report/median.ts";

const userCount = 300;
const tokenCount = 600;
const modelCount = 20;
/** Of a token and a day. */
const modelsOfDay = 3;
const callsOfSum = 15;

const dayCount = 365;
const chunkDays = 73;
const ROUNDS = 7;

const DAY_MS = 86_400_000;

/** The median time of a report. */
export interface SumFigure {
  title: string;
  /** The most that it may take; undefined for one of thousands of groups. */
  most: number | undefined;
  ms: number;
}

const MONTH_MS_MAX = 100;
const YEAR_MS_MAX = 300;

/** Writes the sums without their calls: an audit would find them wrong. */
export async function fillSums(storage: Storage, url: string, today: number): Promise<void> {
  // A gateway's own statements have a time-out that these would exceed.
  const pool = storage.engine === "postgres" ? new SQL(url) : undefined;
  const run = async (statement: string): Promise<void> => {
    if (storage.engine === "sqlite") storage.handle.run(statement);
    else await pool?.unsafe(statement);
  };
  const columns =
    "owner, day, account_id, provider, model, operation, tags, requests, failures, input_tokens, output_tokens, credits, list_credits, units_cache_read, first_tokens_2";
  const values = `'user:' || (t % ${userCount}), d, 'token:t' || t, 'openai', 'model-' || ((t * 7 + d * 3 + k * 5) % ${modelCount}), 'chat',
    '{"team":"t' || (t % 30) || '"}', ${callsOfSum}, 0, 13500, 2700, 1000000, 1000000, 4000, ${callsOfSum}`;
  for (let first = today - dayCount; first < today; first += chunkDays) {
    const numbers = (name: string, from: number, to: number): string =>
      storage.engine === "sqlite"
        ? `(WITH RECURSIVE n (${name}) AS (SELECT ${from} UNION ALL SELECT ${name} + 1 FROM n WHERE ${name} < ${to}) SELECT ${name} FROM n)`
        : `generate_series(${from}, ${to}) AS ${name}`;
    const from = [
      numbers("t", 0, tokenCount - 1),
      numbers("d", first, first + chunkDays - 1),
      numbers("k", 0, modelsOfDay - 1),
    ];
    await run(`INSERT INTO daily_sums (${columns}) SELECT ${values} FROM ${from.join(", ")}`);
  }
  // On SQLite a trigger has added them up.
  if (storage.engine === "sqlite") return;
  const [key, sums] = [columns.split(", ").slice(2, 7), columns.split(", ").slice(7)];
  await run(`INSERT INTO monthly_sums (owner, month, ${key.join(", ")}, ${sums.join(", ")})
    SELECT owner, date_trunc('month', to_timestamp(day * 86400) AT TIME ZONE 'UTC')::date - date '1970-01-01', ${key.join(", ")},
      ${sums.map((name) => `sum(${name})`).join(", ")}
    FROM daily_sums WHERE owner LIKE 'user:%' GROUP BY 1, 2, 3, 4, 5, 6, 7`);
  await run("ANALYZE daily_sums, monthly_sums");
  await pool?.close();
}

/** The median times of reports about all users. */
export async function measureSums(storage: Storage, today: number): Promise<SumFigure[]> {
  const generations = openGenerationStore(storage);
  const figures: SumFigure[] = [];
  const ask = async (title: string, days: number, groupBy: UsageDimension[], more: Partial<SpendingQuery> = {}) => {
    const query = { owners: undefined, filter: {}, interval: "day", organisationOf: () => undefined } as const;
    const [from, to] = [(today - days) * DAY_MS, today * DAY_MS];
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now();
      const report = await generations.spending({ ...query, from, to, groupBy, groupsMax: 10_000, ...more });
      times.push(performance.now() - began);
      if (report === "too-many-groups" || !("groups" in report)) throw new Error(`${title}: there is no report`);
    }
    const most = groupBy.includes("day") && more.interval === undefined ? undefined : YEAR_MS_MAX;
    figures.push({ title, most: days < dayCount ? MONTH_MS_MAX : most, ms: median(times) });
  };
  await ask("a month by user and model", 30, ["user", "model"]);
  await ask("a month by day and model", 30, ["day", "model"]);
  await ask("a month by model and tag", 30, ["model", "tag:team"]);
  await ask("a month by model, with buckets and first tokens", 30, ["model"], {
    details: ["buckets", "first_token_ms"],
  });
  await ask("a year by user and model", dayCount, ["user", "model"]);
  await ask("a year by month and model", dayCount, ["day", "model"], { interval: "month" });
  await ask("a year by day and model", dayCount, ["day", "model"]);
  return figures;
}
