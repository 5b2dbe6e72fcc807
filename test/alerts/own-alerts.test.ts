/** Messages to users about the use of their own budgets: the looks on either engine, and a gateway with a receiver. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  type AccountsDependencies,
  addAlertChannel,
  addBudget,
  addHolder,
  changeHolder,
  createToken,
  deleteBudget,
  deleteHolder,
  removeAlertChannel,
} from "../../src/accounts/index.ts";
import { openNoticeStore, OwnAlerts } from "../../src/alerts/index.ts";
import { type NewJob, openJobStore } from "../../src/jobs/index.ts";
import { openSpendingReader } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { verified, WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import { createAccounts } from "../kit/accounts.ts";
import { postChat, query, type Rig, sharedPostgres, startRig, until } from "../kit/index.ts";
import { openStorage } from "../kit/storage.ts";

const credit = 1_000_000_000n;
const postgres = sharedPostgres();

describe.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)("looks on %s", (_engine, newStorage) => {
  const now = Date.parse("2026-11-27T12:00:00Z");
  const environment = { clock: () => now, randomBytes: (size: number) => crypto.getRandomValues(new Uint8Array(size)) };
  const url = "https://receiver.example/hook";
  let storage: Storage;
  let deps: AccountsDependencies;
  let alerts: OwnAlerts;

  beforeEach(async () => {
    storage = await openStorage(await newStorage());
    deps = createAccounts(storage, environment, "test");
    alerts = alertsOn();
  });
  afterEach(() => storage.close());

  function alertsOn(): OwnAlerts {
    return new OwnAlerts({
      store: openNoticeStore(storage),
      spending: openSpendingReader(storage),
      delivery: { deliverInTurn: () => Promise.resolve({ done: true }) },
      jobs: openJobStore(storage),
      ...environment,
      everyMs: 15_000,
      onScheduled: () => undefined,
    });
  }

  /** Runs a job as its kind's handler does. */
  const run = (job: NewJob, by = alerts) =>
    new Map(by.handlers)
      .get(job.kind)
      ?.run({ ...job, attempts: 1, lease: undefined }, { signal: new AbortController().signal });

  const look = (by = alerts) => run(by.look, by);

  test("an earlier version's look gives way to one with turns of its own", async () => {
    const store = openJobStore(storage);
    const old = { ...alerts.look, id: "own_alert:look", kind: "own_alert" };
    await store.put(old);
    const jobs = () => query<{ id: string; kind: string }>(storage, "SELECT id, kind FROM jobs");
    // A node that dies before the end of the run leaves both for the next one.
    for (let time = 0; time < 2; time += 1) expect(await run(old)).toEqual({ done: true });
    await query(storage, "DELETE FROM jobs WHERE id = 'own_alert:look'");
    expect(await jobs()).toEqual([{ id: "own_alert_look", kind: "own_alert_look" }]);
    expect(await look()).toEqual({ again: { task: "look" }, afterMs: 15_000 });
  });

  const watch = (owner: string, thresholds: readonly number[], budgetId?: string) =>
    addAlertChannel(deps, { owner, url, thresholds, budgetId, watch: alerts.look });

  /** Sets what was spent in the running period. */
  const spend = (account: string, nano: bigint) =>
    query(storage, `UPDATE accounts SET period_debits = ${nano} WHERE id = '${account}'`);

  /** The messages so far. */
  async function messages(): Promise<string[]> {
    const rows = await query<{ owner: string; payload: string }>(
      storage,
      "SELECT owner, payload FROM jobs WHERE kind = 'own_alert' ORDER BY id",
    );
    return [...rows]
      .map(({ owner, payload }) => {
        const { message } = JSON.parse(payload) as { message: { body: string } };
        const { type, data } = JSON.parse(message.body) as {
          type: string;
          data: { account: string; threshold: number; value: number };
        };
        return `${owner} ${type} ${data.account.replace(/:budget_.*/, ":ID")} ${data.threshold} ${data.value}`;
      })
      .toSorted();
  }

  test("one message for each threshold, however many processes look, and one when it is over", async () => {
    const { id } = await createToken(deps, { user: "ann", organisation: "acme", maxBudget: 2n * credit });
    await changeHolder(deps, { kind: "user", name: "ann" }, { maxBudget: 10n * credit });
    await createToken(deps, { user: "ben", organisation: "acme" });
    await addHolder(deps, { kind: "project", name: "site", maxBudget: credit });
    const { budget } = await addBudget(deps, { kind: "user", name: "ann" }, { maxBudget: 4n * credit });
    await addBudget(deps, { kind: "organisation", name: "acme" }, { maxBudget: credit });
    await addBudget(deps, { kind: "user", name: "ben" }, { maxBudget: credit });
    await watch("ann", [50, 90]);
    await watch("ann", [75], budget.id);
    await watch("project:site", [100]);
    await look();
    expect(await messages()).toEqual([]);
    await query(storage, `UPDATE accounts SET period_debits = ${8n * credit} WHERE kind <> 'token'`);
    await spend(`budget:${budget.id}`, 3n * credit);
    await spend(`token:${id}`, 2n * credit);
    await Promise.all([look(), look(alertsOn()), look(alertsOn())]);
    const opened = [
      "ann alert.opened budget:ID 50 75",
      "ann alert.opened budget:ID 75 75",
      `ann alert.opened token:${id} 50 100`,
      `ann alert.opened token:${id} 90 100`,
      "ann alert.opened user:ann 50 80",
      "project:site alert.opened project:site 100 800",
    ];
    expect(await messages()).toEqual(opened);
    await look();
    expect(await messages()).toEqual(opened);
    await spend("user:ann", 0n);
    await deleteBudget(deps, budget.id);
    await Promise.all([look(), look(alertsOn())]);
    expect(await messages()).toEqual([
      "ann alert.closed budget:ID 50 75",
      "ann alert.closed budget:ID 75 75",
      "ann alert.closed user:ann 50 80",
      ...opened,
    ]);
  });

  test("the look has turns of its own, which receivers that never answer don't take", async () => {
    const { id } = await createToken(deps, { user: "ann", maxBudget: credit });
    await watch("ann", [50]);
    const [job] = await query<{ kind: string }>(storage, "SELECT kind FROM jobs");
    const handlers = new Map(alerts.handlers);
    const handler = handlers.get(job?.kind ?? "");
    expect(handler).not.toBe(alerts);
    await spend(`token:${id}`, credit);
    const running = { ...alerts.look, attempts: 1, lease: undefined };
    await handler?.run(running, { signal: new AbortController().signal });
    const due = await query<{ kind: string }>(storage, "SELECT kind FROM jobs WHERE owner = 'ann'");
    expect(due.map(({ kind }) => handlers.get(kind))).toEqual([alerts]);
  });

  test("two hundred changes at a time, and the rest at once", async () => {
    await createToken(deps, { user: "ann" });
    const thresholds = Array.from({ length: 99 }, (_, index) => index + 1);
    for (let count = 0; count < 3; count += 1)
      await addBudget(deps, { kind: "user", name: "ann" }, { maxBudget: credit });
    await watch("ann", thresholds);
    await query(storage, `UPDATE accounts SET period_debits = ${credit} WHERE kind = 'budget'`);
    expect(await look()).toMatchObject({ afterMs: 0 });
    expect(await messages()).toHaveLength(200);
    expect(await look()).toMatchObject({ afterMs: 15_000 });
    expect(await messages()).toHaveLength(297);
  });

  test("nothing is left of a channel that is deleted, or whose user is", async () => {
    for (const user of ["ann", "ben"]) {
      await createToken(deps, { user });
      await changeHolder(deps, { kind: "user", name: user }, { maxBudget: credit });
      await spend(`user:${user}`, credit);
    }
    const { id } = await watch("ann", [50]);
    await watch("ben", [50]);
    await look();
    expect(await messages()).toHaveLength(2);
    await removeAlertChannel(deps, { owner: "ann", id });
    await deleteHolder(deps, { kind: "user", name: "ben" });
    await look();
    expect(await messages()).toHaveLength(2);
    for (const table of ["alert_channels", "alert_notices"])
      expect(await query(storage, `SELECT * FROM ${table}`)).toHaveLength(0);
    // What was scheduled before is not sent any more.
    const jobs = await query<{ payload: string }>(storage, "SELECT payload FROM jobs WHERE kind = 'own_alert'");
    const deliveries = { sent: 0 };
    const sender = new OwnAlerts({
      store: openNoticeStore(storage),
      spending: openSpendingReader(storage),
      delivery: {
        deliverInTurn() {
          deliveries.sent += 1;
          return Promise.resolve({ done: true });
        },
      },
      jobs: openJobStore(storage),
      ...environment,
      everyMs: 15_000,
      onScheduled: () => undefined,
    });
    for (const { payload } of jobs) {
      const job = { ...alerts.look, payload: JSON.parse(payload) as (typeof alerts.look)["payload"], attempts: 1 };
      expect(await sender.run({ ...job, lease: undefined }, { signal: new AbortController().signal })).toEqual({
        done: true,
      });
    }
    expect([jobs.length, deliveries.sent]).toEqual([2, 0]);
  });
});

describe("a member", () => {
  let rig: Rig;
  const receiver = new WebhookReceiver();
  beforeAll(async () => {
    rig = await startRig({
      config: { alerts: { every: "100ms" }, web: { allow_private_hosts: [new URL(receiver.url).host] } },
    });
  });
  afterAll(async () => {
    await rig.stop();
    receiver[Symbol.dispose]();
  });

  async function ask(token: string, method: string, path: string, body?: object) {
    const answer = await fetch(`${rig.gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    return {
      status: answer.status,
      json: (await answer.json()) as Record<string, unknown> & { error?: { code: string; param: string } },
    };
  }

  const path = "/v1/alerts/channels";

  test("gets signed messages about an own budget, and none after the channel is deleted", async () => {
    const owner = await rig.gateway.token({ user: "root", role: "owner", credits: 0n });
    const token = await rig.gateway.token({ user: "ann" });
    expect(await ask(token, "POST", path, { url: receiver.url })).toMatchObject({
      status: 422,
      json: { error: { param: "url" } },
    });
    const { json: made } = await ask(token, "POST", "/v1/webhooks/secret", {});
    const secret = String(made["secret"]);
    const { json: budget } = await ask(owner, "POST", "/admin/v1/budgets", { user: "ann", max_budget: 0.01 });
    const asked = { url: receiver.url, budget: budget["id"], thresholds: [100, 1, 100], reason: "to know" };
    expect(await ask(token, "POST", `${path}?dry_run=true`, asked)).toMatchObject({ status: 200 });
    expect(await ask(token, "GET", path)).toMatchObject({ status: 200, json: { data: [] } });
    const { status, json: channel } = await ask(token, "POST", path, asked);
    expect([status, channel]).toMatchObject([
      200,
      { object: "alert_channel", url: receiver.url, thresholds: [1, 100] },
    ]);
    expect((await ask(token, "GET", path)).json).toMatchObject({ data: [channel], has_more: false });
    expect(await ask(token, "POST", path, asked)).toMatchObject({ status: 409 });
    const answer = await postChat(rig.gateway, token, {
      model: "openai/gpt-4o-mini",
      messages: [{ role: "user", content: "words:200" }],
      max_tokens: 200,
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    await until("the message", () => receiver.received.length > 0, 15_000);
    const [first] = receiver.received;
    if (first === undefined) throw new Error("nothing was received");
    expect(verified(first, secret)).toMatchObject({
      type: "alert.opened",
      data: {
        rule: "budget",
        account: `budget:${String(budget["id"])}`,
        period: null,
        threshold: 1,
        value: expect.any(Number) as number,
        channel: channel["id"],
      },
    });
    expect(first.body).not.toContain("node");
    const { json: audit } = await ask(owner, "GET", "/admin/v1/audit");
    expect(JSON.stringify(audit) + rig.gateway.log()).not.toContain("for-the-receiver");
    const acts = (audit["data"] as { act: string }[]).filter(({ act }) => act.startsWith("alert_channel"));
    expect(acts).toMatchObject([
      { act: "alert_channel.create", target: `alert_channel:${String(channel["id"])}`, reason: "to know" },
    ]);
    const other = await rig.gateway.token({ user: "ben" });
    const one = `${path}/${String(channel["id"])}`;
    expect((await ask(other, "DELETE", one)).status).toBe(404);
    expect((await ask(other, "GET", path)).json).toMatchObject({ data: [] });
    expect((await ask(token, "DELETE", one)).status).toBe(200);
    expect((await ask(token, "DELETE", one)).status).toBe(404);
  });

  test("sets no channel to a private address, for another's budget, with a limited token, or an eleventh", async () => {
    const owner = await rig.gateway.token({ user: "root", role: "owner", credits: 0n });
    const token = await rig.gateway.token({ user: "cleo" });
    await ask(token, "POST", "/v1/webhooks/secret", {});
    const { json: budget } = await ask(owner, "POST", "/admin/v1/budgets", { user: "ann", max_budget: 1 });
    for (const url of [
      "http://10.0.0.1/",
      "http://169.254.169.254/latest",
      "http://[::1]:1/",
      "ftp://a.example/",
      "no",
    ])
      expect([url, (await ask(token, "POST", path, { url })).status]).toEqual([url, 422]);
    const { url } = receiver;
    expect(await ask(token, "POST", path, { url, budget: budget["id"] })).toMatchObject({
      status: 404,
      json: { error: { code: "account_not_found" } },
    });
    for (const thresholds of [[], [0], [101], [1.5], Array.from({ length: 11 }, (_, index) => index + 1)])
      expect((await ask(token, "POST", path, { url, thresholds })).status).toBe(422);
    const limited = await rig.gateway.token({ user: "cleo", rpm: 100 });
    expect(await ask(limited, "POST", path, { url })).toMatchObject({
      status: 403,
      json: { error: { code: "role_required" } },
    });
    const same = await Promise.all(Array.from({ length: 3 }, () => ask(token, "POST", path, { url })));
    expect(same.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409, 409]);
    const others = Array.from({ length: 13 }, (_, number) => `${url}?number=${number}`);
    const all = await Promise.all(others.map((each) => ask(token, "POST", path, { url: each })));
    const shown = async (by: string) => (await ask(by, "GET", path)).json["data"] as { url: string }[];
    expect((await shown(token)).map((each) => each.url)).toContain(url);
    expect(new Set((await shown(limited)).map((each) => each.url))).toEqual(new Set([new URL(url).origin]));
    expect([200, 409].map((status) => all.filter((each) => each.status === status).length)).toEqual([9, 4]);
  });
});
