/** The states of alerts on a storage in memory, by the test's clock. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type AlertsConfig, checkConfig } from "../config/index.ts";
import type { Storage } from "../storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { query } from "../../test/kit/engines.ts";
import { AlertBook } from "./alert-book.ts";
import type { Crossing } from "./alert.ts";
import { openAlertStore } from "./sql/open.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const hook = { kind: "webhook", url: "https://hooks.test/a", secret: SECRET };

const configOf = (alerts: object): AlertsConfig => {
  const { alerts: checked } = checkConfig({ alerts });
  if (checked === undefined) throw new Error("there are alerts");
  return checked;
};

const spent: Crossing = { rule: "budget", account: "user:alice", period: "2026-11-01", threshold: 80, value: 83 };
const circuit: Crossing = { rule: "circuit", account: "a/m", value: "open" };

let storage: Storage;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
});
afterEach(() => storage.close());

function scene(alerts: object = { channels: { hook } }) {
  const log: unknown[] = [];
  const note = (level: string) => (fields: object, message: string) => void log.push([level, message, fields]);
  const book = new AlertBook({
    config: configOf(alerts),
    store: openAlertStore(storage),
    randomBytes,
    node: "n1",
    logger: { info: note("info"), warn: note("warn") },
    onScheduled: () => undefined,
  });
  return { book, log };
}

/** The messages that wait, as they will be sent. */
async function messages(): Promise<{ channel: string; type: string; data: Record<string, unknown> }[]> {
  const rows = await query<{ payload: string }>(storage, "SELECT payload FROM jobs ORDER BY created_at, id");
  return rows.map(({ payload }) => {
    const { channel, body } = JSON.parse(payload) as { channel: string; body: string };
    return { channel, ...(JSON.parse(body) as { type: string; data: Record<string, unknown> }) };
  });
}

const all = new Set([spent.rule, circuit.rule]);
const types = async (): Promise<string[]> => (await messages()).map(({ type }) => type);

test("a finding that keeps alerts open opens none, and closes none", async () => {
  const { book } = scene();
  const empty: Crossing = { rule: "balance", account: "user:alice", threshold: 3, value: 0 };
  const rules = new Set([empty.rule]);
  await book.settle(rules, [{ ...empty, keepsOpen: true }], 0);
  expect(await types()).toEqual([]);
  await book.settle(rules, [empty], 1);
  for (let at = 2; at < 5; at += 1) await book.settle(rules, [{ ...empty, keepsOpen: true }], at);
  expect(await types()).toEqual(["alert.opened"]);
  await book.settle(rules, [], 5);
  expect(await types()).toEqual(["alert.opened", "alert.closed"]);
});

describe("an alert", () => {
  test("is sent once when it begins and once when it is over, with its subject", async () => {
    const { book, log } = scene();
    for (let at = 0; at < 5; at += 1) await book.settle(all, [{ ...spent, value: 83 + at }], at);
    for (let at = 5; at < 9; at += 1) await book.settle(all, [], at);
    const data = { rule: "budget", account: "user:alice", period: "2026-11-01", threshold: 80, value: 83, node: "n1" };
    const timestamp = (at: number): string => new Date(at).toISOString();
    expect(await messages()).toEqual([
      { channel: "hook", type: "alert.opened", timestamp: timestamp(0), data },
      { channel: "hook", type: "alert.closed", timestamp: timestamp(5), data },
    ] as never);
    expect(log).toMatchObject([
      ["warn", "alert opened", { rule: "budget", means: "user:alice has spent 83 % of its budget (80 %)" }],
      ["info", "alert closed", { rule: "budget" }],
    ]);
  });

  test("of each account, period and threshold is one of its own", async () => {
    const { book } = scene();
    const found = [spent, { ...spent, threshold: 50 }, { ...spent, account: "user:bob" }];
    await book.settle(all, found, 0);
    await book.settle(all, [{ ...spent, period: "2026-12-01" }], 1);
    expect((await types()).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => "alert.closed"),
      ...Array.from({ length: 4 }, () => "alert.opened"),
    ]);
  });

  test("of a condition that comes and goes opens after it has lasted, and closes after it is gone for as long", async () => {
    const { book } = scene({ channels: { hook }, rules: { circuit: { after: "1m" } } });
    const look = (found: readonly Crossing[], at: number): Promise<void> => book.settle(all, found, at);
    await look([circuit], 0);
    await look([circuit], 59_999);
    await look([], 60_000);
    await look([circuit], 70_000);
    expect(await types()).toEqual([]);
    await look([circuit], 130_000);
    await look([], 140_000);
    await look([circuit], 190_000);
    await look([], 200_000);
    await look([], 259_999);
    expect(await types()).toEqual(["alert.opened"]);
    await look([], 260_000);
    expect(await types()).toEqual(["alert.opened", "alert.closed"]);
  });

  test("of a rule that was not looked at stays as it is", async () => {
    const { book } = scene();
    await book.settle(all, [spent], 0);
    await book.settle(new Set([circuit.rule]), [], 1);
    expect(await types()).toEqual(["alert.opened"]);
  });

  test("is over when the configuration turns its rule off", async () => {
    await scene().book.settle(all, [spent], 0);
    const { book } = scene({ channels: { hook }, rules: { budget: { off: true } } });
    expect([book.wants("budget"), book.wants("circuit")]).toEqual([false, true]);
    await book.settle(new Set([circuit.rule]), [], 1);
    expect(await types()).toEqual(["alert.opened", "alert.closed"]);
  });

  test("goes to the channels of its rule, else to all; without any it is in the log", async () => {
    const channels = { hook, other: { kind: "slack", url: "https://hooks.test/b?c=d" } };
    await scene({ channels, rules: { budget: { channels: ["other"] } } }).book.settle(all, [spent], 0);
    expect((await messages()).map(({ channel }) => channel)).toEqual(["other"]);
    await scene({ channels, rules: { circuit: { after: 1 } } }).book.settle(all, [spent, circuit], 1);
    await scene({ channels, rules: { circuit: { after: 1 } } }).book.settle(all, [spent, circuit], 2);
    expect((await messages()).map(({ channel }) => channel).toSorted()).toEqual(["hook", "other", "other"]);
    const { book, log } = scene({});
    await book.settle(all, [], 3);
    expect([(await messages()).length, log]).toEqual([3, [["info", "alert closed", expect.anything()]]] as never);
  });
});

test("a thousand alerts at once are added over several looks", async () => {
  const { book } = scene();
  const found = Array.from({ length: 1_000 }, (_, number) => ({ ...spent, account: `user:${number}` }));
  await book.settle(all, found, 0);
  expect(await types()).toHaveLength(200);
  for (let at = 1; at < 5; at += 1) await book.settle(all, found, at);
  await book.settle(all, found, 5);
  expect(await types()).toHaveLength(1_000);
});

test.each([
  [{ rules: { budgets: {} } }, "alerts.rules.budgets: unknown key"],
  [{ rules: { budget: { channels: ["none"] } } }, "alerts.rules.budget.channels: no channel has the name none"],
  [{ channels: { a: { ...hook, secret: "short" } } }, "alerts.channels.a.secret"],
  [{ channels: { a: { kind: "email", url: "http://mail.test", to: ["a@b.test"] } } }, "alerts.channels.a.url"],
  [{ channels: { a: { kind: "slack", url: "https://u:p@hooks.test" } } }, "alerts.channels.a.url"],
])("the configuration %j is refused with its path", (alerts, problem) => {
  expect(() => checkConfig({ alerts })).toThrow(problem);
});
