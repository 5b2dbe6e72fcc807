/** Postgres goes away while the holds of open streams are raised, and comes back. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  expectCleanAudit,
  type Gateway,
  postChat,
  type PostgresServer,
  type ScriptedUpstream,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const STREAMS = 24;
const OUTAGES = 3;

let server: PostgresServer;
let upstream: ScriptedUpstream;
let gateway: Gateway;
beforeAll(async () => {
  server = await startPostgres();
  upstream = startScriptedUpstream();
});
afterAll(async () => {
  await upstream.stop();
  await server.stop();
});
beforeEach(async () => {
  upstream.answerWith(() => endless());
  const openai = { kind: "openai", base_url: upstream.url, api_key: "unused" };
  gateway = await startGateway({ providers: { openai }, storage: await server.createDatabase() });
});
afterEach(() => gateway.stop());

/** 25 events of 300 bytes of text a second: a hold for 4,096 tokens lasts some seconds, and is raised again and again. */
function endless(): Response {
  let timer: ReturnType<typeof setInterval>;
  const delta = { content: "words and words ".repeat(20) };
  const event = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      timer = setInterval(() => controller.enqueue(event), 40);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test(`${STREAMS} streams outlive ${OUTAGES} outages, and the process answers all the while`, async () => {
  const token = await gateway.token({ user: "user", credits: 1_000_000_000_000n });
  const leaving = new AbortController();
  const received = Array.from({ length: STREAMS }, () => 0);
  const readAll = async (index: number): Promise<void> => {
    const body = { model: "openai/m", messages: [{ role: "user", content: "hi" }], stream: true };
    const answer = await postChat(gateway, token, body, { signal: leaving.signal, msMax: 120_000 });
    const reader = answer.body?.getReader();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      received[index] = (received[index] ?? 0) + Buffer.from(part.value).length;
  };
  const isFurther = (than: readonly number[]) => received.every((bytes, index) => bytes > (than[index] ?? 0));
  // One after the other, so that an outage meets some of them at each point of their holds.
  const streams: Promise<void>[] = [];
  for (const index of received.keys()) {
    streams.push(readAll(index).catch(() => undefined));
    await until("the stream flows", () => (received[index] ?? 0) > 1_000);
  }
  await until("all streams flow", () => isFurther(received.map(() => 10_000)));
  for (let outage = 0; outage < OUTAGES; outage += 1) {
    const failedBefore = failures();
    await server.crash();
    await until("top-ups have failed", () => failures() >= failedBefore + STREAMS / 2);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    await server.start();
    // Further than what the holds of the outage covered: each hold was raised again.
    const before = received.map((bytes) => bytes + 30_000);
    await until("all streams flow on", () => isFurther(before), 30_000);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  }
  leaving.abort();
  await Promise.all(streams);
  expect(await gateway.stop({ keepFolder: true })).toBe(0);
  await expectCleanAudit(gateway);
});

const failures = (): number => gateway.logLines().filter(({ msg }) => msg === "ledger commit failed").length;
