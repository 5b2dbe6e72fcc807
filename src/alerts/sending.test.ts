/** Messages of alerts to real receivers. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type AlertChannel, alertRules, checkConfig } from "../config/index.ts";
import type { Job, JobResult } from "../jobs/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import type { Storage } from "../storage/index.ts";
import { verified, WebhookReceiver } from "../webhooks/__fixtures__/receiver.ts";
import { MailServer } from "./__fixtures__/mail-server.ts";
import { AlertBook } from "./alert-book.ts";
import { AlertJobs } from "./alert-jobs.ts";
import { Conditions } from "./conditions/conditions.ts";
import { describeAlert } from "./rules.ts";
import { ALERT_JOB, messageJobs } from "./sending/message.ts";
import { openAlertStore } from "./sql/open.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const alert = {
  rule: "budget" as const,
  account: "user:alice",
  threshold: 80,
  value: 83,
  id: "a1",
  node: "n1",
  since: 0,
  openedAt: undefined,
  goneAt: undefined,
};

let storage: Storage;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
});
afterEach(() => storage.close());

/** Sends the alert to one channel, and again as the job wants it, until it is done. */
function sender(channel: AlertChannel | undefined) {
  const { alerts: config } = checkConfig({ alerts: { channels: channel === undefined ? {} : { one: channel } } });
  if (config === undefined) throw new Error("there are alerts");
  const log: unknown[] = [];
  const note = (fields: object, message: string): void => void log.push({ message, ...fields });
  const logger = { info: note, warn: note };
  const store = openAlertStore(storage);
  const clock = (): number => Date.now();
  const randomBytes = (size: number): Uint8Array => new Uint8Array(size);
  const handler = new AlertJobs({
    config,
    book: new AlertBook({ config, store, randomBytes, node: "n1", logger, onScheduled: () => undefined }),
    store,
    conditions: new Conditions({}, () => undefined),
    audit: () => Promise.resolve([]),
    fetch,
    clock,
    randomFraction: () => 0,
    logger,
  });
  const both = {
    ...config,
    channels: { one: channel ?? { kind: "slack", url: "https://gone.test" } },
  } as typeof config;
  const [job] = messageJobs(alert, "opened", { config: both, at: Date.now() });
  if (job === undefined) throw new Error("one channel");
  let payload = job.payload;
  const run = async (): Promise<JobResult> => {
    const leased: Job = { ...job, payload, attempts: 1, lease: undefined };
    const result = await handler.run(leased, { signal: new AbortController().signal });
    if ("again" in result) payload = result.again;
    return result;
  };
  return { run, log };
}

test("a webhook is signed by the standard; a failed one is sent again with the same id, in the standard's times", async () => {
  using receiver = new WebhookReceiver((nth) => new Response(null, { status: nth < 3 ? 500 : 204 }));
  const { run, log } = sender({ kind: "webhook", url: receiver.url, secret: SECRET });
  expect([await run(), await run()]).toMatchObject([{ afterMs: 5_000 }, { afterMs: 300_000 }]);
  expect(await run()).toEqual({ done: true });
  const [first, , last] = receiver.received;
  expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set(["alert_a1_opened"]));
  expect(first?.body).toBe(last?.body ?? "");
  expect(last && verified(last, SECRET)).toMatchObject({
    type: "alert.opened",
    data: { rule: "budget", account: "user:alice", period: null, threshold: 80, value: 83, node: "n1" },
  });
  expect(log[0]).toMatchObject({ channel: "one", attempts: 1, reason: "status 500" });
});

test("Slack gets a text, also at a private address", async () => {
  using receiver = new WebhookReceiver();
  expect(await sender({ kind: "slack", url: receiver.url }).run()).toEqual({ done: true });
  const text = "Tollgate. Alert: user:alice has spent 83 % of its budget (80 %)";
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toEqual({ text });
});

test("a mail has the text, its login and one message id", async () => {
  using server = new MailServer();
  const url = `smtp://me:p%40ss@127.0.0.1:${server.port}`;
  const { run } = sender({ kind: "email", url, to: ["ops@a.test", "b@a.test"], from: undefined });
  expect(await run()).toEqual({ done: true });
  const [mail] = server.received;
  expect([mail?.to, mail?.login]).toEqual([["ops@a.test", "b@a.test"], "\0me\0p@ss"]);
  expect(mail?.data).toContain("Subject: Tollgate. Alert: user:alice has spent 83 % of its budget");
  expect(mail?.data).toContain("Message-ID: <alert_a1_opened@tollgate>");
});

test.each<[string, () => AlertChannel | undefined]>([
  [
    "a mail server that refuses the login",
    () => ({ kind: "email", url: mailUrl("me:wrong"), to: ["a@b.test"] }) as never,
  ],
  ["a receiver that nothing listens at", () => ({ kind: "slack", url: "http://127.0.0.1:1/services/secret-of-it" })],
  ["a receiver that redirects", () => ({ kind: "webhook", url: redirecting.url, secret: SECRET })],
  ["a channel that only another node has", () => undefined],
])("%s gets it later; no line has an address or a secret", async (_, channel) => {
  using server = new MailServer();
  using redirects = new WebhookReceiver(() => Response.redirect("http://127.0.0.1:1/"));
  mailUrl = (login) => `smtp://${login}@127.0.0.1:${server.port}`;
  redirecting = redirects;
  const { run, log } = sender(channel());
  expect(await run()).toMatchObject({ afterMs: 5_000 });
  expect(JSON.stringify(log)).not.toMatch(/secret|wrong|127\.0|whsec/);
  for (let attempt = 2; attempt < 10; attempt += 1) expect(await run()).toHaveProperty("again");
  expect(await run()).toEqual({ done: true });
  expect(log.at(-1)).toMatchObject({ message: "alert could not be sent", attempts: 10 });
});
let mailUrl: (login: string) => string;
let redirecting: WebhookReceiver;

test("every rule has a line for people", () => {
  for (const rule of alertRules) expect(describeAlert({ ...alert, rule })).not.toContain("undefined");
  expect(ALERT_JOB).toBe("alert");
});
