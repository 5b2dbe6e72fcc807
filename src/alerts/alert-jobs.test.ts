/** The jobs that never end: the look at the rules, and the daily audit of the books. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { checkConfig } from "../config/index.ts";
import type { Job } from "../jobs/index.ts";
import type { Storage } from "../storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { query } from "../../test/kit/engines.ts";
import { AlertBook } from "./alert-book.ts";
import { AlertJobs } from "./alert-jobs.ts";
import type { Crossing } from "./alert.ts";
import { Conditions } from "./conditions/conditions.ts";
import { openAlertStore } from "./sql/open.ts";

const DAY = 86_400_000;

let storage: Storage;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
});
afterEach(() => storage.close());

function scene(rules: object = {}) {
  const { alerts: config } = checkConfig({ alerts: { rules } });
  if (config === undefined) throw new Error("there are alerts");
  const state = { now: DAY, drifts: [] as Crossing[], audits: 0 };
  const logger = { info: () => undefined, warn: () => undefined };
  const store = openAlertStore(storage);
  const jobs = new AlertJobs({
    config,
    book: new AlertBook({ config, store, randomBytes, node: "n1", logger, onScheduled: () => undefined }),
    store,
    conditions: new Conditions({}, () => undefined),
    audit() {
      state.audits += 1;
      return Promise.resolve(state.drifts);
    },
    fetch,
    clock: () => state.now,
    randomFraction: () => 0,
    logger,
  });
  const run = (task: string) => {
    const standing = jobs.standing.find(({ payload }) => payload["task"] === task);
    if (standing === undefined) throw new Error(`no job looks at ${task}`);
    const job: Job = { ...standing, attempts: 1, lease: undefined };
    return jobs.run(job, { signal: new AbortController().signal });
  };
  const alerts = () =>
    query<{ account: string; value: string; closed_at: bigint | null }>(
      storage,
      "SELECT account, value, closed_at FROM alerts WHERE rule = 'audit_drift' ORDER BY account",
    );
  return { state, jobs, run, alerts };
}

test("the books are audited ten minutes after the start, and then each day; a difference is an alert until it is gone", async () => {
  const { state, jobs, run, alerts } = scene();
  const audit = jobs.standing.find(({ payload }) => payload["task"] === "audit");
  expect(audit?.runAt).toBe(DAY + 10 * 60_000);
  state.drifts = [{ rule: "audit_drift", account: "user:u", value: "debits_posted" }];
  expect(await run("audit")).toEqual({ again: { task: "audit" }, afterMs: DAY });
  expect(await alerts()).toMatchObject([{ account: "user:u", closed_at: null }]);
  // The look at the other rules in between leaves it alone.
  await run("look");
  state.now += DAY;
  await run("audit");
  expect(await alerts()).toMatchObject([{ account: "user:u", closed_at: null }]);
  state.drifts = [];
  state.now += DAY;
  await run("audit");
  expect(await alerts()).toMatchObject([{ account: "user:u", closed_at: BigInt(state.now) }]);
  expect(state.audits).toBe(3);
});

test("a rule that is off audits nothing; its alert is over at the next look", async () => {
  const on = scene();
  on.state.drifts = [{ rule: "audit_drift", account: "user:u", value: "debits_posted" }];
  await on.run("audit");
  const { state, run, alerts } = scene({ audit_drift: { off: true } });
  await run("audit");
  expect(state.audits).toBe(0);
  await run("look");
  expect(await alerts()).toMatchObject([{ account: "user:u", closed_at: BigInt(state.now) }]);
});
