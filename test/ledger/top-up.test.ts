/** Streams that cost more than their holds: the hold grows with them, or they end with the credits. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  chunksOf,
  contentOf,
  engines,
  expectCleanAudit,
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

/** A call without its own limit is limited to the model's maximum, which this upstream exceeds. */
const pricing = { models: { "openai/*": { input_mtok: 1, output_mtok: 2, max_output_tokens: 10 } } };

/** Nano-credits of a piece of text: 40 bytes are taken for 10 tokens. Four pieces might be within the maximum, five are not. */
const pieceCosts = 20_000n;
const piece = "0123456789".repeat(4);

/** A stream with the given text, without usage. */
class Stream {
  gone = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  answer(): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.gone = true;
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  say(pieces: number): void {
    for (let count = 0; count < pieces; count += 1) this.#event({ delta: { content: piece } });
  }

  end(): void {
    this.#event({ delta: {}, finish_reason: "stop" });
    this.#controller?.enqueue(Buffer.from("data: [DONE]\n\n"));
    this.#controller?.close();
  }

  #event(choice: object): void {
    this.#controller?.enqueue(Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`));
  }
}

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let upstream: ScriptedUpstream;
  let gateway: Gateway;
  beforeEach(async () => {
    upstream = startScriptedUpstream();
    gateway = await startGateway({
      ...(await storageOn(engine, postgres)),
      providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "unused" } },
      config: { pricing },
    });
  });
  afterEach(async () => {
    expect(await gateway.stop()).toBe(0);
    await upstream.stop();
  });

  /** A running stream, and the bytes received by its client. */
  async function startStream(user: string, credits: bigint, headers: Record<string, string> = {}) {
    const stream = new Stream();
    upstream.answerWith(() => stream.answer());
    const token = await gateway.token({ user, credits });
    const body = { model: "openai/m", messages: [{ role: "user", content: "hi" }], stream: true };
    const answering = postChat(gateway, token, body, { headers });
    await until("the upstream has it", () => upstream.requests.length === 1);
    // Nothing is answered before the first event.
    stream.say(1);
    const answer = await answering;
    return { stream, answer, text: answer.text() };
  }

  const heldNow = async (): Promise<bigint> =>
    (await openLedgerStore(gateway.storage).openHolds()).reduce((sum, { amount }) => sum + amount, 0n);

  const closed = (user: string) =>
    until("nothing is held", async () => {
      const books = await userBooks(gateway, user);
      return books.held === 0n && books;
    });

  /** A call's first hold, and the assumed cost of its input without reported usage. */
  async function firstHold(): Promise<{ hold: bigint; input: bigint }> {
    const { stream, text } = await startStream("probe", 1_000_000n);
    const hold = await heldNow();
    const before = await userBooks(gateway, "probe");
    stream.end();
    await text;
    const { spent } = await closed("probe");
    return { hold, input: (spent ?? 0n) - (before.spent ?? 0n) - pieceCosts };
  }

  test("the hold of a long stream is raised repeatedly, and it is charged its cost", async () => {
    const { hold, input } = await firstHold();
    const { stream, text } = await startStream("rich", 1_000_000_000n);
    expect(await heldNow()).toBe(hold);
    stream.say(4);
    const second = await until("it is raised", async () => {
      const now = await heldNow();
      return now > hold && now;
    });
    expect(second).toBeLessThanOrEqual(2n * (input + 5n * pieceCosts));
    stream.say(15);
    await until("it covers the cost", async () => (await heldNow()) >= input + 20n * pieceCosts);
    const { stdout } = await gateway.cli("ledger", "holds", "--json");
    expect(JSON.parse(stdout)).toMatchObject([{ amount: Number(await heldNow()) / 1e9, description: "chat openai/m" }]);
    stream.end();
    expect(contentOf(await text)).toBe(piece.repeat(20));
    expect((await closed("rich")).spent).toBe(input + 20n * pieceCosts);
    await expectCleanAudit(gateway);
  });

  test("a stream whose credits are used up ends with an error event, and is charged the available credits", async () => {
    const { hold, input } = await firstHold();
    const credits = hold + 5n * pieceCosts;
    const { stream, answer, text } = await startStream("poor", credits);
    stream.say(22);
    const got = await text;
    // One event beyond what there is, although more had arrived with it.
    const pieces = Math.ceil(Number(credits - input) / Number(pieceCosts));
    expect(contentOf(got)).toBe(piece.repeat(pieces));
    expect(got).not.toContain("[DONE]");
    expect(chunksOf(got).at(-1)).toMatchObject({
      error: { code: "insufficient_credits", message: expect.stringContaining("The credits are used up") as string },
    });
    await until("the upstream is left", () => stream.gone);
    expect(await closed("poor")).toEqual({ credits, spent: credits, held: 0n });
    await expectCleanAudit(gateway, input + BigInt(pieces) * pieceCosts - credits);
    const id = answer.headers.get("x-request-id");
    const line = await until("its log line", () => gateway.logLines().find((entry) => entry["request_id"] === id));
    expect(line).toMatchObject({ outcome: "interrupted", error: "insufficient_credits" });
  });
});
