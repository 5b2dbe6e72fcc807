/** Webhooks of real gateways: sent, repeated, and sent by another node after the first one was killed. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import OpenAI from "openai";
import { AuditLog } from "../../src/audit/index.ts";
import { createOutbound, createWebhooks } from "../../src/app/webhooks.ts";
import { loadConfig } from "../../src/config/index.ts";
import { openJobStore } from "../../src/jobs/index.ts";
import type { Webhooks } from "../../src/webhooks/index.ts";
import { verified, WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import {
  engines,
  type Gateway,
  operatorOf,
  type PostgresServer,
  query,
  startGateway,
  startPostgres,
  stopGateways,
  storageOn,
  until,
} from "../kit/index.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(stopGateways);
afterAll(() => postgres.stop());

const key = "the key of a test with more than 32 characters";
const providers = { p: { kind: "openai", base_url: "http://127.0.0.1:9", api_key: "k" } };
const withHooks = { web: { allow_private_hosts: ["127.0.0.1:*"] }, webhooks: { encryption_key: key } };

const environment = {
  clock: Date.now,
  randomBytes: (size: number) => randomBytes(size),
  randomFraction: Math.random,
  fetch: () => Promise.reject(new Error("fetch is not used")),
  ask: () => Promise.reject(new Error("no upstream is asked")),
  openSocket: () => Promise.reject(new Error("no socket is opened")),
};

/** What a feature of this gateway would call: on the same storage and configuration, but in the test's process. */
function webhooksOf({ storage, configFile }: Gateway): Webhooks {
  const { config } = loadConfig({ file: configFile, variables: {} });
  const { webhooks } = createWebhooks({
    config,
    log: new AuditLog({ storage, clock: Date.now }),
    storage,
    environment,
    logger: createLogger({ level: "silent" }),
    outbound: createOutbound(config, environment),
    jobs: openJobStore(storage),
    wake: () => undefined,
  });
  return webhooks;
}

async function secretOf(gateway: Gateway, ...options: string[]): Promise<string> {
  const { cli } = operatorOf(() => gateway);
  const { stdout } = await cli("webhooks", "secret", "--user", "tester", "--json", ...options);
  return (JSON.parse(stdout) as { secret: string }).secret;
}

const event = (url: string) => ({
  id: "video_1-completed",
  owner: "tester",
  url,
  type: "video.completed" as const,
  data: { id: "video_1", status: "completed" },
  at: Date.now(),
});

/** The wait until the next attempt passes. */
const passWait = (gateway: Gateway): Promise<unknown> => query(gateway.storage, "UPDATE jobs SET run_at = 1");

const jobsOf = (gateway: Gateway): Promise<unknown[]> => query(gateway.storage, "SELECT id FROM jobs");

describe.each(engines)("a webhook on %s", (engine) => {
  test("is repeated until its receiver accepts it", async () => {
    const gateway = await startGateway({ providers, config: withHooks, ...(await storageOn(engine, postgres)) });
    using receiver = new WebhookReceiver((nth) => new Response(null, { status: nth < 3 ? 500 : 200 }));
    await gateway.token();
    const secret = await secretOf(gateway);
    const webhooks = webhooksOf(gateway);
    const { url } = receiver;
    await webhooks.check({ owner: "tester", url });
    await webhooks.schedule(event(url));
    for (const attempts of [1, 2]) {
      await receiver.until(attempts);
      const waits = `SELECT id FROM jobs WHERE lease_token IS NULL AND payload LIKE '%"attempts":${attempts}%'`;
      await until("the failure is stored", async () => (await query(gateway.storage, waits)).length > 0);
      await passWait(gateway);
    }
    await until("the job is done", async () => (await jobsOf(gateway)).length === 0);
    expect(receiver.received.map(({ id }) => id)).toEqual(Array.from({ length: 3 }, () => "video_1-completed"));
    for (const received of receiver.received) {
      expect(verified(received, secret)).toMatchObject({ type: "video.completed", data: { id: "video_1" } });
    }
    const failures = () => gateway.logLines().filter(({ webhook_id }) => webhook_id === "video_1-completed");
    await until("the failures are in the log", () => failures().length >= 2);
    expect(failures()).toMatchObject([
      { attempts: 1, status: 500 },
      { attempts: 2, status: 500 },
    ]);
    expect(gateway.log()).not.toContain(secret);
    expect(gateway.log()).not.toContain("for-the-receiver");
  });

  test("whose node was killed in an attempt is sent by another one, with the same id", async () => {
    const shared = await storageOn(engine, postgres);
    const first = await startGateway({ providers, config: withHooks, ...shared });
    const { promise: never } = Promise.withResolvers<Response>();
    using receiver = new WebhookReceiver((nth) => (nth === 1 ? never : new Response()));
    await first.token();
    const secret = await secretOf(first);
    await webhooksOf(first).schedule(event(receiver.url));
    await receiver.until(1);
    first.process.kill("SIGKILL");
    await first.process.exited;

    const { folder } = first;
    const second = await startGateway({ providers, config: withHooks, folder, ...shared });
    // Its lease still runs: nobody takes the job before its end.
    expect(await jobsOf(second)).toHaveLength(1);
    await query(second.storage, "UPDATE jobs SET lease_until = 1");
    await receiver.until(2);
    await until("the job is done", async () => (await jobsOf(second)).length === 0);
    const [lost, repeated] = receiver.received;
    if (lost === undefined || repeated === undefined) throw new Error("a message is missing");
    expect([repeated.id, repeated.body]).toEqual([lost.id, lost.body]);
    expect(verified(repeated, secret)).toMatchObject({ data: { id: "video_1" } });
    expect(receiver.received).toHaveLength(2);
    await second.stop();
    await first.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("is signed by both secrets after a rotation by the command", async () => {
    const gateway = await startGateway({ providers, config: withHooks, ...(await storageOn(engine, postgres)) });
    using receiver = new WebhookReceiver();
    await gateway.token();
    const secrets = [await secretOf(gateway), await secretOf(gateway, "--rotate")];
    await webhooksOf(gateway).schedule(event(receiver.url));
    await receiver.until(1);
    const [received] = receiver.received;
    if (received === undefined) throw new Error("nothing was received");
    for (const secret of secrets) {
      expect(verified(received, secret)).toMatchObject({ data: { id: "video_1" } });
      // Another implementation of the standard.
      const { webhooks } = new OpenAI({ apiKey: "unused", webhookSecret: secret });
      expect(await webhooks.unwrap(received.body, received.headers)).toMatchObject({ type: "video.completed" });
    }
    expect(received.signatures).toHaveLength(2);
  });

  test("to a private address is refused without the setting, also if it was scheduled before", async () => {
    const config = { webhooks: { encryption_key: key } };
    const gateway = await startGateway({ providers, config, ...(await storageOn(engine, postgres)) });
    using receiver = new WebhookReceiver();
    await gateway.token();
    await secretOf(gateway);
    const webhooks = webhooksOf(gateway);
    const { url } = receiver;
    expect(webhooks.check({ owner: "tester", url })).rejects.toMatchObject({ status: 422, param: "webhook_url" });
    await webhooks.schedule(event(url));
    await until("the attempt is logged", () => gateway.logLines().some(({ attempts }) => attempts === 1));
    expect(receiver.received).toEqual([]);
  });
});
