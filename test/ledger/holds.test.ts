/** Holds of answers: with little money an answer is limited instead of refused, and no upstream overruns a balance. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  auditOf,
  contentOf,
  engines,
  expectCleanAudit,
  expectRefusal,
  type Gateway,
  postChat,
  type ScriptedUpstream,
  sharedPostgres,
  startGateway,
  startScriptedUpstream,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";

/** 1,000 nano-credits for a token in, 10,000 for one out. */
const price = { input_mtok: 1, output_mtok: 10, context_window: 200_000, max_output_tokens: 64_000 };
const perToken = 10_000n;
const hello = [{ role: "user", content: "Hello" }];

const postgres = sharedPostgres();

interface Sent {
  max_tokens?: number;
  max_completion_tokens?: number;
  max_output_tokens?: number;
}

/** The limit that an upstream was sent. */
const limitOf = (sent: Sent): number =>
  sent.max_completion_tokens ?? sent.max_tokens ?? sent.max_output_tokens ?? Number.POSITIVE_INFINITY;

const usageOf = (tokens: number) => ({ prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens });

const completion = (tokens: number, content = "Hi.") => ({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "length" }],
  usage: usageOf(tokens),
});

/** Twenty bytes of text an event: five tokens, by the gateway's estimate. */
const piece = "0123456789".repeat(2);
const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;

/** A stream that writes on until its client leaves, many events at once. */
function endless(): Response {
  const block = Buffer.from(chunk({ delta: { content: piece } }).repeat(200));
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(block),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

describe.each(engines)("on %s", (engine) => {
  let upstream: ScriptedUpstream;
  let gateway: Gateway;
  /** The user of a test. */
  let user: string;
  let users = 0;
  /** The sum that the tests so far have left unpaid, as they expect. */
  let unpaid = 0n;
  beforeAll(async () => {
    upstream = startScriptedUpstream();
    const provider = { base_url: upstream.url, api_key: "unused" };
    gateway = await startGateway({
      ...(await storageOn(engine, postgres)),
      providers: {
        openai: { kind: "openai", ...provider },
        byteplus: { kind: "byteplus", ...provider },
        deepseek: { kind: "openai-compatible", preset: "deepseek", ...provider },
      },
      config: { pricing: { models: { "openai/*": price, "byteplus/*": price, "deepseek/*": price } } },
    });
  });
  beforeEach(() => {
    users += 1;
    user = `user-${users}`;
  });
  afterEach(async () => {
    await until("nothing is held", async () => (await auditOf(gateway)).openHolds === 0);
    await expectCleanAudit(gateway, unpaid);
  });
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0);
    await upstream.stop();
  });

  const sent = (): Sent[] => upstream.requests.map(({ body }) => JSON.parse(body) as Sent);

  const closed = () =>
    until("nothing is held", async () => {
      const books = await userBooks(gateway, user);
      return books.held === 0n && books;
    });

  test("a call without a limit gets one that the balance affords, and says so", async () => {
    upstream.answerWith(() => Response.json(completion(3)));
    const token = await gateway.token({ user, credits: 50_000_000n });
    const answer = await postChat(gateway, token, { model: "openai/m", messages: hello });
    expect(answer.status).toBe(200);
    const [{ max_completion_tokens: limit = 0 } = {}] = sent();
    expect(limit).toBeGreaterThan(4_900);
    expect(limit).toBeLessThan(5_000);
    expect(answer.headers.get("x-tollgate-max-output-tokens")).toBe(String(limit));
    const record = await fetch(`${gateway.url}/v1/generations/${answer.headers.get("x-request-id")}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await record.json()).toMatchObject({ max_output_tokens: limit });
  });

  test("a rich caller's limit is the default, and a limit of its own is left alone", async () => {
    upstream.answerWith(() => Response.json(completion(3)));
    const token = await gateway.token({ user, credits: 10_000_000_000n });
    const without = await postChat(gateway, token, { model: "openai/m", messages: hello });
    const own = await postChat(gateway, token, { model: "openai/m", messages: hello, max_tokens: 60_000 });
    expect(sent()).toMatchObject([{ max_completion_tokens: 32_768 }, { max_tokens: 60_000 }]);
    expect(sent()[1]?.max_completion_tokens).toBeUndefined();
    expect(without.headers.get("x-tollgate-max-output-tokens")).toBe("32768");
    expect(own.headers.get("x-tollgate-max-output-tokens")).toBeNull();
  });

  test("a call that can't even begin is refused, told what is needed and what there is", async () => {
    upstream.answerWith(() => Response.json(completion(3)));
    const token = await gateway.token({ user, credits: 1_000_000n });
    const answer = await postChat(gateway, token, { model: "openai/m", messages: hello });
    expectRefusal(answer, await answer.text(), {
      status: 402,
      code: "insufficient_credits",
      type: "insufficient_credits",
      message: /needs 0\.0025\d* for its input and 256 tokens of output, 0\.001 are left/,
    });
    expect(upstream.requests).toEqual([]);
  });

  test("BytePlus's max_tokens, which leaves thought unlimited, can't make it overrun a balance", async () => {
    // It thinks for as long as it may.
    upstream.answerWith(({ body }) => {
      const { max_completion_tokens = 64_000 } = JSON.parse(body) as Sent;
      return Response.json(completion(max_completion_tokens));
    });
    const credits = 50_000_000n;
    const token = await gateway.token({ user, credits });
    const calls = Array.from({ length: 200 }, () =>
      postChat(gateway, token, { model: "byteplus/seed", messages: hello, max_tokens: 16 }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    const billed = sent().reduce((sum, each) => sum + BigInt(Math.min(limitOf(each), 64_000)) * perToken, 0n);
    expect(billed).toBeLessThanOrEqual(credits);
    for (const each of sent()) expect(each.max_tokens).toBeUndefined();
    expect((await closed()).spent).toBeLessThanOrEqual(credits);
  });

  test("whole answers of an upstream that ignores its limit take no more than there is; the rest is counted", async () => {
    // A count without its text would be a mistake, and not be charged.
    const text = "word".repeat(50_000);
    upstream.answerWith(() => Response.json(completion(50_000, text)));
    const credits = 100_000_000n;
    const token = await gateway.token({ user, credits });
    const calls = Array.from({ length: 20 }, () =>
      postChat(gateway, token, { model: "openai/m", messages: hello, max_tokens: 300 }),
    );
    const answers = await Promise.all(calls);
    const told = answers.reduce((sum, { headers }) => sum + Number(headers.get("x-tollgate-credits")), 0);
    expect(told).toBeLessThanOrEqual(0.1);
    const { spent } = await closed();
    expect(spent).toBeLessThanOrEqual(credits);
    unpaid += BigInt(upstream.requests.length) * (50_000n * perToken + 10_000n) - (spent ?? 0n);
    await until("the log tells", () => gateway.logLines().some(({ msg }) => msg === "charged less than it cost"));
  });

  test("sixty streams of an upstream that ignores its limit end one event beyond as much text as their limit can be", async () => {
    upstream.answerWith(() => endless());
    const credits = 100_000_000n;
    const token = await gateway.token({ user, credits });
    const bodies = Array.from({ length: 60 }, (_, index) => ({
      model: index % 2 === 0 ? "openai/m" : "deepseek/m",
      messages: hello,
      stream: true,
      max_tokens: 300,
    }));
    const answers = await Promise.all(
      bodies.map(async (body) => {
        const answer = await postChat(gateway, token, body);
        return { status: answer.status, text: await answer.text() };
      }),
    );
    const delivered = answers
      .filter(({ status }) => status === 200)
      .reduce((sum, { text }) => sum + BigInt(Math.ceil(contentOf(text).length / 4)) * perToken, 0n);
    const { spent } = await closed();
    expect(spent).toBeLessThanOrEqual(credits);
    // The hold of a stream covers its limit, which is taken for ignored at 16 bytes a token, four times as many as usual; a stream
    // ends one event, of five tokens, after that.
    const beyond = BigInt(answers.length) * 5n * perToken;
    expect(delivered).toBeLessThanOrEqual(4n * credits + beyond);
    expect(delivered).toBeGreaterThan((credits * 9n) / 10n);
    for (const { status, text } of answers) {
      if (status === 200) expect(text).toContain("insufficient_credits");
    }
    const { shortfall } = await auditOf(gateway);
    expect(shortfall - unpaid).toBeLessThanOrEqual(3n * credits + beyond);
    unpaid = shortfall;
  });

  test("a stream holds little at first, and many run side by side on a small balance", async () => {
    const gates: (() => void)[] = [];
    upstream.answerWith(() => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gates.push(resolve);
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(Buffer.from(chunk({ delta: { content: "Hi." } })));
          await promise;
          controller.enqueue(Buffer.from(`${chunk({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    // Deepseek's thoughts pass by, so the model's maximum need not be held: 0.64 credits for each stream.
    const token = await gateway.token({ user, credits: 1_000_000_000n });
    const body = { model: "deepseek/m", messages: hello, stream: true };
    const answers = await Promise.all(Array.from({ length: 40 }, () => postChat(gateway, token, body)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const each of sent()) expect(limitOf(each)).toBe(Number.POSITIVE_INFINITY);
    for (const open of gates) open();
    for (const answer of answers) expect(contentOf(await answer.text())).toBe("Hi.");
    await closed();
  });

  test("a response gets no limit below OpenAI's minimum, and thought that is hidden is limited in streams too", async () => {
    upstream.answerWith(() => new Response("no", { status: 500 }));
    const token = await gateway.token({ user, credits: 2_900_000n });
    await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/m", input: "Hello", stream: true, store: false }),
    });
    const [{ max_output_tokens = 0 } = {}] = sent();
    expect(max_output_tokens).toBeGreaterThanOrEqual(256);
    expect(max_output_tokens).toBeLessThan(300);
  });
});
