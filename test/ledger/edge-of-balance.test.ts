/** Streams on a balance that just pays for them: none that its hold covers is cut, and nothing overruns. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  engines,
  expectCleanAudit,
  type Gateway,
  type PostgresServer,
  type ScriptedUpstream,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  stopGateways,
  storageOn,
} from "../kit/index.ts";

let upstream: ScriptedUpstream;
let postgres: PostgresServer;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  postgres = await startPostgres();
});
afterAll(async () => {
  await stopGateways();
  await upstream.stop();
  await postgres.stop();
});

const NANO = 1_000_000_000;

/** A stream of these texts, as long as `milliseconds`; the usage is its last event. */
function streamOf(texts: readonly string[], usage: object, milliseconds: number): Response {
  const chunks = [
    ...texts.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { choices: [], usage },
  ];
  const body = async function* () {
    for (const chunk of chunks) {
      yield Buffer.from(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...chunk })}\n\n`);
      await Bun.sleep(milliseconds / chunks.length);
    }
    yield Buffer.from("data: [DONE]\n\n");
  };
  return new Response(body(), { headers: { "content-type": "text/event-stream" } });
}

describe.each(engines)("on %s", (engine) => {
  let gateway: Gateway;
  beforeAll(async () => {
    const models = { "own/flat": { requests_kcount: 1_000 } };
    gateway = await startGateway({
      ...(await storageOn(engine, postgres)),
      providers: { own: { kind: "openai-compatible", base_url: upstream.url, api_key: "unused" } },
      config: { pricing: { models } },
    });
  });
  afterAll(async () => {
    await expectCleanAudit(gateway);
  });

  async function stream(token: string, body: object) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const messages = [{ role: "user", content: "hi" }];
    const answer = await fetch(gateway.url + chatPath, {
      method: "POST",
      headers,
      body: JSON.stringify({ stream: true, messages, ...body }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      isWhole: text.includes("[DONE]"),
      isCut: text.includes("insufficient_credits"),
      text,
    };
  }

  async function spent(token: string): Promise<{ spend: number; held: number }> {
    const headers = { authorization: `Bearer ${token}` };
    const { spend, held } = (await (await fetch(`${gateway.url}/v1/user/info`, { headers })).json()) as {
      spend: number;
      held: number;
    };
    return { spend, held };
  }

  test("of streams priced by the call, as many run as there are credits for, and none is cut", async () => {
    // Longer than it takes until the cost is compared with the hold.
    upstream.answerWith(() => streamOf(["a", "b", "c"], { prompt_tokens: 5, completion_tokens: 3 }, 2_500));
    const token = await gateway.token({ user: "fees", credits: BigInt(10 * NANO) });
    const all = await Promise.all(Array.from({ length: 15 }, () => stream(token, { model: "own/flat" })));
    expect(all.filter(({ isWhole }) => isWhole)).toHaveLength(10);
    expect(all.filter(({ status }) => status === 402)).toHaveLength(5);
    expect(await spent(token)).toEqual({ spend: 10, held: 0 });
  });
});
