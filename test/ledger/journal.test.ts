/**
 * Postgres goes away while calls run, their answers are sent, and the gateway is killed: every charge is in the journal,
 * and the next start submits it. `KILLS=20 npm test -- test/ledger/journal.test.ts` does it as often as that.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  expectCleanAudit,
  type Gateway,
  oneCredit,
  postChat,
  type PostgresServer,
  type ScriptedUpstream,
  spentBy,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const KILLS = Number(process.env["KILLS"] ?? 2);
const CALLS = 40;
const ROUND_MS_MAX = 30_000;

let server: PostgresServer;
let upstream: ScriptedUpstream;
let gateway: Gateway;
let token: string;
let release: () => void;

beforeAll(async () => {
  server = await startPostgres();
  upstream = startScriptedUpstream();
});
afterAll(async () => {
  await upstream.stop();
  await server.stop();
});

const models = {
  "openai/m": { requests_kcount: 1000 },
  // One credit a token.
  "openai/tokens": { input_mtok: 1e6, output_mtok: 0 },
};
const config = { pricing: { models } };
const options = () => ({
  providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } },
  config,
});

beforeEach(async () => {
  gateway = await startGateway({ ...options(), storage: await server.createDatabase() });
  token = await gateway.token({ user: "user" });
});
afterEach(() => gateway.stop());

/** Answers wait until `release`. */
function hold(): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  upstream.answerWith(async ({ body }) => {
    await promise;
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    if (!body.includes('"stream":true')) {
      return Response.json({ choices: [{ index: 0, message: { role: "assistant", content: "hi" } }], usage });
    }
    const chunks = [
      { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] },
      { choices: [], usage },
    ];
    const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
  });
}

const call = async (stream: boolean): Promise<{ status: number; credits: string | null; text: string }> => {
  const body = { model: "openai/m", messages: [{ role: "user", content: "hi" }], stream };
  const answer = await postChat(gateway, token, body);
  return { status: answer.status, credits: answer.headers.get("x-tollgate-credits"), text: await answer.text() };
};

/** Calls whose holds are durable and whose answers arrive when Postgres is gone. */
async function answeredWithoutStore(): Promise<Awaited<ReturnType<typeof call>>[]> {
  hold();
  const calls = Array.from({ length: CALLS }, (_, index) => call(index % 2 === 0));
  await until("the upstream has all calls", () => upstream.requests.length === CALLS);
  await server.crash();
  release();
  return Promise.all(calls);
}

async function restart(): Promise<void> {
  const { folder, storageUrl } = gateway;
  gateway.process.kill("SIGKILL");
  await gateway.process.exited;
  await gateway.stop({ keepFolder: true });
  gateway = await startGateway({ ...options(), folder, storage: storageUrl });
}

const journalOf = ({ folder }: Gateway): string[] => {
  const directory = join(folder, "data/journal");
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".journal")) : [];
};

test(
  `${KILLS} times Postgres and then the gateway are killed: every answered call is charged, once`,
  async () => {
    for (let round = 1; round <= KILLS; round += 1) {
      const answers = await answeredWithoutStore();
      for (const { status, credits, text } of answers) {
        expect([status, text]).toEqual([200, expect.stringContaining("hi") as string]);
        if (text.startsWith("data: ")) expect(text).toEndWith("data: [DONE]\n\n");
        else expect(credits).toBe("1");
      }
      expect(journalOf(gateway)).toHaveLength(1);
      gateway.process.kill("SIGKILL");
      await server.start();
      await restart();
      expect(await spentBy(gateway, "user")).toBe(BigInt(round * CALLS) * oneCredit);
      await until("the journal is empty", () => journalOf(gateway).length === 0);
    }
    await expectCleanAudit(gateway);
  },
  KILLS * ROUND_MS_MAX,
);

test("without a kill the running gateway submits them itself, and a further start finds nothing", async () => {
  const answers = await answeredWithoutStore();
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  await server.start();
  expect(await spentBy(gateway, "user")).toBe(BigInt(CALLS) * oneCredit);
  await until("the journal is empty", () => journalOf(gateway).length === 0);
  await restart();
  expect(await spentBy(gateway, "user")).toBe(BigInt(CALLS) * oneCredit);
  await expectCleanAudit(gateway);
});

describe("a journal that cannot be written", () => {
  test("withholds the end of every answer", async () => {
    rmSync(join(gateway.folder, "data"), { recursive: true, force: true });
    writeFileSync(join(gateway.folder, "data"), "a file in place of the directory");
    for (const { status, text } of await answeredWithoutStore()) {
      expect(text).toContain("storage_unavailable");
      expect(text).not.toContain("[DONE]");
      if (text.startsWith("data: ")) expect(status).toBe(200);
      else expect([status, text]).toEqual([503, expect.not.stringContaining("hi") as string]);
    }
    await server.start();
    // It is still owed, and submitted by the process as long as it lives.
    expect(await spentBy(gateway, "user")).toBe(BigInt(CALLS) * oneCredit);
  });
});

test("the credits of an answer are never more than what was charged", async () => {
  // The upstream bills more than the hold, and more than there is.
  upstream.answerWith(() => Response.json({ choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 1 } }));
  const poor = await gateway.token({ user: "poor", credits: 100n * oneCredit });
  const body = { model: "openai/tokens", messages: [{ role: "user", content: "hi" }], max_tokens: 1 };
  const answer = await postChat(gateway, poor, body);
  expect([answer.status, answer.headers.get("x-tollgate-credits")]).toEqual([200, "100"]);
  expect(await spentBy(gateway, "poor")).toBe(100n * oneCredit);
});
