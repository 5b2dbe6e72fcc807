/** Webhooks on a database in memory, sent to a real server; the job's waits are passed by the test's clock. */
import { AuditLog } from "../audit/index.ts";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../core/index.ts";
import { type Job, type JobResult, openJobStore } from "../jobs/index.ts";
import { AddressGuard, Outbound } from "../outbound/index.ts";
import { encryptionKey, SecretError, type Storage } from "../storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { UpstreamClient } from "../upstream/index.ts";
import { verified, WebhookReceiver } from "./__fixtures__/receiver.ts";
import { WebhookDelivery } from "./delivery.ts";
import type { WebhookEvent } from "./message.ts";
import { openWebhookSecretStore } from "./sql/open.ts";
import { WebhookSecrets } from "./webhook-secrets.ts";
import { Webhooks } from "./webhooks.ts";

const HOUR = 3_600_000;
const act = { actor: { name: "cli:test" } };

const testKey = "a key of the test, with 32 characters and more";

/** Everything of one gateway that webhooks need. */
class Rig {
  now = Date.now();
  readonly log: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  readonly woken: string[] = [];
  readonly storage: Storage;
  readonly secrets: WebhookSecrets;
  readonly webhooks: Webhooks;
  readonly delivery: WebhookDelivery;

  private constructor(storage: Storage, configured: string, allowPrivateHosts: readonly string[]) {
    this.storage = storage;
    const clock = (): number => this.now;
    const key = encryptionKey({ configured, storage, randomBytes });
    this.secrets = new WebhookSecrets({
      store: openWebhookSecretStore(storage),
      log: new AuditLog({ storage, clock }),
      key,
      environment: { clock, randomBytes },
    });
    const { ask } = new UpstreamClient({ fallback: () => Promise.reject(), clock, variables: {} });
    const resolve = (name: string): Promise<string[]> => {
      if (name === "slow.test") return Promise.reject(Object.assign(new Error("again"), { code: "EAI_AGAIN" }));
      if (name === "nowhere.test") return Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
      return Promise.resolve([name === "inside.test" ? "10.0.0.1" : "93.184.215.14"]);
    };
    const guard = new AddressGuard({ allowPrivateHosts, allowPorts: [80, 443], resolve, ownAddresses: () => [] });
    const outbound = new Outbound({ guard, ask });
    const jobs = openJobStore(storage);
    const note =
      (level: string) =>
      (fields: object, message: string): void =>
        void this.log.push({ level, fields: { ...fields }, message });
    const logger = { info: note("info"), warn: note("warn") };
    this.delivery = new WebhookDelivery({ secrets: this.secrets, outbound, logger, clock, randomFraction: () => 0 });
    this.webhooks = new Webhooks({
      jobs,
      secrets: this.secrets,
      outbound,
      delivery: this.delivery,
      clock,
      onScheduled: (kind) => void this.woken.push(kind),
    });
  }

  static async open(storage: Storage, { configured = testKey, allow = ["127.0.0.1:*"] } = {}): Promise<Rig> {
    return new Rig(storage, configured, allow);
  }

  /** Runs the message's job once, as the runner would. */
  async run(id: string): Promise<JobResult> {
    const job = await openJobStore(this.storage).find(`webhook:${id}`);
    if (job === undefined) throw new Error("there is no job");
    return this.runJob(job);
  }

  runJob(job: Job): Promise<JobResult> {
    return this.delivery.run(job, { signal: new AbortController().signal });
  }

  /** Runs the job until it is done, passing its waits. Returns these. */
  async runToEnd(id: string): Promise<number[]> {
    const waits: number[] = [];
    const found = await openJobStore(this.storage).find(`webhook:${id}`);
    if (found === undefined) throw new Error("there is no job");
    let { payload } = found;
    for (;;) {
      const result = await this.runJob({ ...found, payload });
      if ("done" in result) return waits;
      waits.push(result.afterMs);
      this.now += result.afterMs;
      payload = result.again;
    }
  }
}

let storage: Storage;
let rig: Rig;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  rig = await Rig.open(storage);
});
afterEach(() => storage.close());

const eventTo = (url: string, rest: Partial<WebhookEvent> = {}): WebhookEvent => ({
  id: "video_1-completed",
  owner: "alice",
  url,
  type: "video.completed",
  data: { id: "video_1", prompt: "a private text" },
  at: Date.UTC(2026, 0, 2),
  ...rest,
});

async function refusal(check: Promise<void>): Promise<unknown> {
  const thrown: unknown = await check.catch((reason: unknown) => reason);
  if (!(thrown instanceof GatewayError)) throw new Error("it was not refused");
  const { status, code, param, message } = thrown;
  return { status, code, param, message };
}

describe("an address", () => {
  test.each([
    ["http://127.0.0.2/", "webhook_url: its host is not on the public Internet."],
    ["https://inside.test/", "webhook_url: its host is not on the public Internet."],
    ["https://nowhere.test/", "webhook_url: its host has no address."],
    ["https://example.com:22/", "webhook_url: port 22 is not permitted."],
    ["ftp://example.com/", "webhook_url: it is neither https: nor http:."],
    ["no address", "webhook_url: it is no absolute URL."],
    ["https://user:hidden@example.com/", "webhook_url: it contains a user or a password."],
  ])("%s is refused", async (url, message) => {
    await rig.secrets.make("alice", act);
    expect(await refusal(rig.webhooks.check({ owner: "alice", url }))).toEqual({
      status: 422,
      code: "validation_failed",
      param: "webhook_url",
      message,
    });
  });

  test("of a user without a secret is refused, with the command that makes one", async () => {
    const check = rig.webhooks.check({ owner: "alice", url: "https://example.com/" });
    expect(await refusal(check)).toMatchObject({
      status: 422,
      param: "webhook_url",
      message: expect.stringContaining("tollgate webhooks secret --user alice") as unknown,
    });
    await rig.secrets.make("alice", act);
    await rig.webhooks.check({ owner: "alice", url: "https://example.com/" });
  });

  test("whose name can't be looked up at the moment is accepted: each attempt looks again", async () => {
    await rig.secrets.make("alice", act);
    await rig.webhooks.check({ owner: "alice", url: "https://slow.test/" });
  });
});

describe("a message in Firecrawl's format", () => {
  const eventOf = (url: string) => ({ id: "c1-page-0", owner: "alice", url, headers: {}, at: 0, body: { page: 1 } });
  const { signal } = new AbortController();

  test("is sent at once, and leaves nothing behind", async () => {
    using receiver = new WebhookReceiver();
    await rig.secrets.make("alice", act);
    expect(await rig.webhooks.send(eventOf(receiver.url), signal)).toBe(true);
    expect(receiver.received.map(({ body }) => body)).toEqual(['{"page":1}']);
    expect(await rig.webhooks.hasScheduled("c1-")).toBe(false);
    expect(await rig.webhooks.send({ ...eventOf(receiver.url), body: { page: "x".repeat(300_000) } }, signal)).toBe(
      false,
    );
    expect(receiver.received).toHaveLength(1);
  });

  test("that is refused has its further attempts later", async () => {
    using receiver = new WebhookReceiver(() => new Response("", { status: 500 }));
    await rig.secrets.make("alice", act);
    expect(await rig.webhooks.send(eventOf(receiver.url), signal)).toBe(true);
    expect(rig.woken).toEqual([]);
    expect([await rig.webhooks.hasScheduled("c1-"), await rig.webhooks.hasScheduled("c2-")]).toEqual([true, false]);
    const job = await openJobStore(rig.storage).find("webhook:c1-page-0");
    expect(job).toMatchObject({ runAt: rig.now + 5_000, payload: { attempts: 1 } });
    expect(await rig.run("c1-page-0")).toMatchObject({ again: { attempts: 2 } });
    expect(receiver.received).toHaveLength(2);
  });
});

describe("a message", () => {
  test("is sent with the headers of the standard, and verified by its library", async () => {
    using receiver = new WebhookReceiver();
    const { secret } = await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    expect(rig.woken).toEqual(["webhook"]);
    expect(await rig.run("video_1-completed")).toEqual({ done: true });
    const [received] = receiver.received;
    if (received === undefined) throw new Error("nothing was received");
    expect(received.id).toBe("video_1-completed");
    expect(received.headers.get("content-type")).toBe("application/json");
    expect(verified(received, secret)).toEqual({
      type: "video.completed",
      timestamp: "2026-01-02T00:00:00.000Z",
      data: { id: "video_1", prompt: "a private text" },
    });
  });

  test("that is scheduled again stays as it is", async () => {
    using receiver = new WebhookReceiver();
    await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    await rig.webhooks.schedule(eventTo("https://elsewhere.test/", { owner: "bob" }));
    await rig.run("video_1-completed");
    expect(receiver.received).toHaveLength(1);
  });

  test("has an id that can be signed, and a bounded body", async () => {
    for (const id of ["", "a.b", "a b", "a\r\nb", "x".repeat(129)]) {
      expect(rig.webhooks.schedule(eventTo("https://a.test/", { id }))).rejects.toThrow(RangeError);
    }
    const data = { text: "x".repeat(300_000) };
    expect(rig.webhooks.schedule(eventTo("https://a.test/", { data }))).rejects.toThrow(RangeError);
  });

  test("is repeated over three days with the same id and body, a new time and a new signature", async () => {
    using receiver = new WebhookReceiver((nth) => new Response(null, { status: [500, 302, 404, 429][nth % 4] ?? 503 }));
    await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    const waits = await rig.runToEnd("video_1-completed");
    expect(waits.slice(0, 3)).toEqual([5_000, 300_000, 1_800_000]);
    expect(waits.at(-1)).toBe(24 * HOUR);
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ id, body }) => id + body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ timestamp }) => timestamp)).size).toBe(10);
    expect(new Set(receiver.received.flatMap(({ signatures }) => signatures)).size).toBe(10);
    expect(rig.log.filter(({ level }) => level === "warn")).toEqual([
      {
        level: "warn",
        message: "webhook could not be delivered",
        fields: {
          webhook_id: "video_1-completed",
          user: "alice",
          host: new URL(receiver.url).host,
          attempts: 10,
          status: 404,
        },
      },
    ]);
  });

  test("waits as long as its receiver asks for", async () => {
    using receiver = new WebhookReceiver(() => new Response(null, { status: 429, headers: { "retry-after": "120" } }));
    await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    expect(await rig.run("video_1-completed")).toMatchObject({ afterMs: 120_000 });
  });

  test("is accepted by any status from 200 to 299, whatever follows it", async () => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue("x".repeat(10_000)) });
    using receiver = new WebhookReceiver(
      (nth) => new Response(nth === 1 ? endless : null, { status: nth === 1 ? 200 : 204 }),
    );
    await rig.secrets.make("alice", act);
    for (const id of ["one", "two"]) {
      await rig.webhooks.schedule(eventTo(receiver.url, { id }));
      expect(await rig.run(id)).toEqual({ done: true });
    }
  });

  test("ends with 410", async () => {
    using receiver = new WebhookReceiver(() => new Response(null, { status: 410 }));
    await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    expect(await rig.runToEnd("video_1-completed")).toEqual([]);
    expect(rig.log.map(({ level }) => level)).toEqual(["info"]);
  });

  test("is not sent to an address that has become private, nor along a redirect", async () => {
    using receiver = new WebhookReceiver();
    using redirecting = new WebhookReceiver(() => Response.redirect(receiver.url));
    await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url, { id: "private" }));
    await rig.webhooks.schedule(eventTo(redirecting.url, { id: "redirected" }));
    const strict = await Rig.open(storage, { allow: [] });
    const result = await strict.run("private");
    expect(result).toMatchObject({ again: { attempts: 1 } });
    expect(strict.log[0]?.fields).toMatchObject({ failure: expect.stringMatching(/^refused: /) as unknown });
    expect(await rig.run("redirected")).toMatchObject({ again: { attempts: 1 } });
    expect([receiver.received.length, redirecting.received.length]).toEqual([0, 1]);
  });

  test("of a user with many under way waits, without counting as an attempt", async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    using receiver = new WebhookReceiver(() => opened.then(() => new Response()));
    await rig.secrets.make("alice", act);
    await rig.secrets.make("bob", act);
    const ids = Array.from({ length: 9 }, (_, index) => `m${index}`);
    for (const id of ids) await rig.webhooks.schedule(eventTo(receiver.url, { id }));
    await rig.webhooks.schedule(eventTo(receiver.url, { id: "of-bob", owner: "bob" }));
    const runs = ids.slice(0, 8).map((id) => rig.run(id));
    await receiver.until(8);
    const turn = await rig.run("m8");
    expect(turn).toMatchObject({ again: { attempts: 0, deferrals: 1 }, afterMs: 1_000 });
    const waiting = await openJobStore(storage).find("webhook:m8");
    for (const [deferrals, afterMs] of [
      [1, 2_000],
      [9, 120_000],
    ]) {
      const payload = { ...waiting?.payload, deferrals };
      expect(await rig.runJob({ ...(waiting as Job), payload })).toMatchObject({ afterMs });
    }
    const other = rig.run("of-bob");
    await receiver.until(9);
    open();
    expect(await Promise.all(runs)).toEqual(runs.map(() => ({ done: true })));
    expect(await other).toEqual({ done: true });
    expect(await rig.run("m8")).toEqual({ done: true });
  });

  test("whose run is stopped by its node is no failed attempt", async () => {
    const { promise: never } = Promise.withResolvers<Response>();
    using receiver = new WebhookReceiver(() => never);
    await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    const job = await openJobStore(storage).find("webhook:video_1-completed");
    if (job === undefined) throw new Error("there is no job");
    const abort = new AbortController();
    const run = rig.delivery.run(job, { signal: abort.signal });
    await receiver.until(1);
    abort.abort(new Error("the node stops"));
    expect(run).rejects.toThrow("the node stops");
    expect(rig.log).toEqual([]);
  });

  test("leaves nothing of its text, its secret and its address in the log", async () => {
    using receiver = new WebhookReceiver(() => new Response("an answer", { status: 500 }));
    const { secret } = await rig.secrets.make("alice", act);
    await rig.webhooks.schedule(eventTo(receiver.url));
    await rig.runToEnd("video_1-completed");
    await rig.delivery.onExhausted((await openJobStore(storage).find("webhook:video_1-completed")) as Job);
    const log = JSON.stringify(rig.log);
    for (const hidden of ["a private text", secret.slice(6), "for-the-receiver", "an answer"]) {
      expect(log).not.toContain(hidden);
    }
  });
});

describe("a secret", () => {
  test("is stored encrypted, and shown once", async () => {
    const { secret } = await rig.secrets.make("alice", act);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const stored = await openWebhookSecretStore(storage).find("alice");
    expect(stored?.secret).not.toContain(secret.slice(6));
    expect(rig.secrets.make("alice", act)).rejects.toThrow("--rotate replaces it");
    expect(await rig.secrets.signing("alice")).toEqual([secret]);
  });

  test("that was rotated signs together with the new one for a day", async () => {
    using receiver = new WebhookReceiver();
    const first = await rig.secrets.make("alice", act);
    const second = await rig.secrets.rotate("alice", act);
    expect(second.previousUntil).toBe(rig.now + 24 * HOUR);
    await rig.webhooks.schedule(eventTo(receiver.url));
    await rig.run("video_1-completed");
    const [received] = receiver.received;
    if (received === undefined) throw new Error("nothing was received");
    expect(received.signatures).toHaveLength(2);
    for (const { secret } of [first, second])
      expect(verified(received, secret)).toMatchObject({ type: "video.completed" });
    rig.now += 24 * HOUR - 1;
    expect(await rig.secrets.signing("alice")).toEqual([second.secret, first.secret]);
    rig.now += 1;
    expect(await rig.secrets.signing("alice")).toEqual([second.secret]);
  });

  test("that was rotated twice signs no more", async () => {
    await rig.secrets.make("alice", act);
    const second = await rig.secrets.rotate("alice", act);
    const third = await rig.secrets.rotate("alice", act);
    expect(await rig.secrets.signing("alice")).toEqual([third.secret, second.secret]);
  });

  test("is made by a rotation if there is none", async () => {
    expect(await rig.secrets.rotate("alice", act)).toMatchObject({ user: "alice", previousUntil: undefined });
  });

  test("does not open with another key; a rotation replaces it", async () => {
    using receiver = new WebhookReceiver();
    await rig.secrets.make("alice", act);
    const other = await Rig.open(storage, { configured: "another key, of more than 32 characters" });
    expect(other.secrets.signing("alice")).rejects.toThrow(SecretError);
    await other.webhooks.schedule(eventTo(receiver.url));
    expect(await other.run("video_1-completed")).toMatchObject({ again: { attempts: 1 } });
    expect(receiver.received).toEqual([]);
    const { secret } = await other.secrets.rotate("alice", act);
    expect(await other.secrets.signing("alice")).toEqual([secret]);
  });

  test("of another user never signs", async () => {
    await rig.secrets.make("alice", act);
    expect(rig.secrets.signing("bob")).rejects.toThrow("user bob has no webhook secret");
    expect([await rig.secrets.has("alice"), await rig.secrets.has("bob")]).toEqual([true, false]);
  });
});
