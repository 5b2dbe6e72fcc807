/** Streams on a balance that just pays for them: none that its hold covers is cut, and nothing overruns. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  engines,
  expectCleanAudit,
  type Gateway,
  type PostgresServer,
  query,
  type ScriptedUpstream,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  stopGateways,
  storageOn,
  until,
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
  let shortfall = 0n;
  beforeAll(async () => {
    const models = {
      "own/flat": { requests_kcount: 1_000 },
      "own/text": { input_mtok: 0, output_mtok: 100 },
      "own/speech": { input_mchars: 100_000 },
    };
    gateway = await startGateway({
      ...(await storageOn(engine, postgres)),
      providers: { own: { kind: "openai-compatible", base_url: upstream.url, api_key: "unused" } },
      config: { pricing: { models } },
    });
  });
  afterAll(async () => {
    await expectCleanAudit(gateway, shortfall);
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

  /** 36 sentences of 13 tokens, which are 531 by their bytes. */
  const sentences = Array.from({ length: 36 }, () => "The quick brown fox jumps over the lazy dog and runs away. ");
  const limited = { model: "own/text", max_tokens: 500 };

  test("of streams whose limit is all that there are credits for, none is cut, whatever its bytes look like", async () => {
    upstream.answerWith(() => streamOf(sentences, { prompt_tokens: 5, completion_tokens: 468 }, 2_500));
    const token = await gateway.token({ user: "limits", credits: BigInt((5 * NANO) / 20) });
    const all = await Promise.all(Array.from({ length: 8 }, () => stream(token, limited)));
    expect(all.filter(({ isWhole }) => isWhole)).toHaveLength(5);
    expect(all.filter(({ status }) => status === 402)).toHaveLength(3);
    expect(await spent(token)).toEqual({ spend: 0.234, held: 0 });
  });

  test("nor are texts of words that are long, or of letters that are three bytes each", async () => {
    // Their real tokens, by o200k: 480 of 13 bytes each, and 480 of 10.
    const words = Array.from({ length: 120 }, () => "internationalization characteristics responsibilities ");
    const hindi = Array.from({ length: 24 }, () => "भारत एक विशाल देश है और यहाँ विभिन्न भाषाएँ बोली जाती हैं। ".repeat(2));
    for (const [user, texts] of Object.entries({ words, hindi })) {
      upstream.answerWith(() => streamOf(texts, { prompt_tokens: 5, completion_tokens: 480 }, 2_500));
      const token = await gateway.token({ user, credits: BigInt(NANO / 20) });
      expect(await stream(token, limited)).toMatchObject({ isWhole: true, isCut: false });
      expect(await spent(token)).toEqual({ spend: 0.048, held: 0 });
    }
  });

  test("an upstream that reports nothing is taken to have kept to its limit, up to as much text as that can be", async () => {
    const token = await gateway.token({ user: "uncounted", credits: BigInt(NANO / 20) });
    upstream.answerWith(() => streamOf([...sentences, ...sentences.slice(5)], {}, 1_500));
    expect(await stream(token, limited)).toMatchObject({ isWhole: true, isCut: false });
    expect(await spent(token)).toEqual({ spend: 0.05, held: 0 });
  });

  test("an upstream that ignores its limit is cut well beyond it", async () => {
    const token = await gateway.token({ user: "ignored", credits: BigInt(NANO / 20) });
    // The longest text of 500 tokens has 8,000 bytes.
    const texts = Array.from({ length: 40 }, () => "word".repeat(250));
    upstream.answerWith(() => streamOf(texts, { prompt_tokens: 5, completion_tokens: 10_000 }, 2_500));
    const { isCut, text } = await stream(token, limited);
    expect(isCut).toBe(true);
    const tokens = text.split("word").length - 1;
    expect(tokens).toBeWithin(8_000 / 4, 16_000 / 4);
    expect(await spent(token)).toEqual({ spend: 0.05, held: 0 });
    shortfall = BigInt(tokens) * 100_000n - BigInt(NANO / 20);
  });

  test("the hold of a stream grows to what its limit costs, and no further", async () => {
    const token = await gateway.token({ user: "grows", credits: BigInt(NANO) });
    const held = new Set<number>();
    const texts = Array.from({ length: 10 }, () => "word".repeat(250));
    upstream.answerWith(() => streamOf(texts, { prompt_tokens: 5, completion_tokens: 2_400 }, 3_000));
    const streamed = stream(token, { model: "own/text", max_tokens: 2_500 });
    const isOver = streamed.then(() => true);
    while (!(await Promise.race([isOver, Bun.sleep(50)]))) held.add((await spent(token)).held);
    expect(await streamed).toMatchObject({ isWhole: true });
    held.delete(0);
    expect(held).toEqual(new Set([0.2048, 0.25]));
    expect(await spent(token)).toEqual({ spend: 0.24, held: 0 });
  });

  test("the hold for speech, which is priced by the character, stays what it is", async () => {
    const body = async function* () {
      for (let second = 0; second < 5; second += 1) {
        yield Buffer.alloc(500, 1);
        await Bun.sleep(600);
      }
    };
    upstream.answerWith(() => new Response(body(), { headers: { "content-type": "audio/mpeg" } }));
    const token = await gateway.token({ user: "speech", credits: BigInt(10 * NANO) });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "own/speech", voice: "alloy", input: "ten chars." }),
    });
    expect(answer.status).toBe(200);
    const held = new Set<number>();
    const isOver = answer.arrayBuffer().then(() => true);
    while (!(await Promise.race([isOver, Bun.sleep(50)]))) held.add((await spent(token)).held);
    held.delete(0);
    expect(held).toEqual(new Set([1]));
    expect(await spent(token)).toEqual({ spend: 1, held: 0 });
  });

  test("a call that is refused uses up none of the values of a tag, and tags have a bounded length", async () => {
    upstream.answerWith(() => streamOf(["a"], { prompt_tokens: 5, completion_tokens: 3 }, 0));
    const keys = Array.from({ length: 16 }, (_, index) => `key-${String(index).padStart(2, "0")}`);
    const token = await gateway.token({ user: "tagged", organisation: "tagged", credits: 0n });
    const set = await gateway.cli("organisation", "set", "tagged", "--tags", keys.join(","));
    expect(set.stderr).toBe("");
    const call = (value: string) => {
      const metadata = Object.fromEntries(keys.map((key) => [key, value]));
      return stream(token, { model: "own/flat", metadata });
    };
    const values = () => query<{ value: string }>(gateway.storage, "SELECT value FROM tag_values");
    for (const value of ["a", "b"]) expect((await call(value)).status).toBe(402);
    expect(await values()).toEqual([]);
    await gateway.cli("credits", "grant", "--organisation", "tagged", "--amount", "1");
    const value = "\u6f22".repeat(128);
    await until("the credits are known", async () => (await call(value)).isWhole);
    expect(await values()).toEqual([{ value }, { value }]);
    const [stored] = await query<{ tags: string }>(gateway.storage, "SELECT tags FROM generations WHERE tags <> ''");
    expect(JSON.parse(stored?.tags ?? "")).toEqual({ "key-00": value, "key-01": value });
    expect(Buffer.byteLength(stored?.tags ?? "")).toBeLessThanOrEqual(1_024);
  });
});
