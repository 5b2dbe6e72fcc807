/** `Idempotency-Key`: a call that is sent again is answered as the first time, and charged once. */
import { describe, expect, test } from "bun:test";
import {
  type CallOptions,
  engines,
  EventReader,
  expectRefusal,
  gatedBody,
  gatedCosts,
  oneCredit,
  postChat,
  requestIdShape,
  sharedGatedGateway,
  sharedPostgres,
  spentBy,
  storageOn,
  until,
} from "../kit/index.ts";

const bodyOf = (model: string, more: object = {}): object => gatedBody(model, { max_tokens: 100, ...more });

/** An answer, read to its end. */
interface Read {
  answer: Response;
  text: string;
}

async function read(answering: Promise<Response>): Promise<Read> {
  const answer = await answering;
  return { answer, text: await answer.text() };
}

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  const gated = sharedGatedGateway(async () => ({
    ...(await storageOn(engine, postgres)),
    providers: { down: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" } },
  }));
  let users = 0;

  async function newCaller(credits?: bigint) {
    users += 1;
    const user = `user-${users}`;
    const token = await gated.gateway.token({ user, ...(credits === undefined ? {} : { credits }) });
    /** A call with a key of this name, by default to its own model. */
    const call = (key: string, body: object, options: CallOptions = {}): Promise<Response> =>
      postChat(gated.gateway, token, body, { ...options, headers: { "idempotency-key": key } });
    const spent = (): Promise<bigint> => spentBy(gated.gateway, user);
    return { user, token, call, spent };
  }

  /** A model of this test alone. */
  const modelFor = (name: string): string => `${name}-${users}`;

  function expectReplay(again: Read, first: Read): void {
    expect(again.text).toBe(first.text);
    expect(again.answer.status).toBe(first.answer.status);
    const { headers } = again.answer;
    expect(headers.get("idempotent-replayed")).toBe("true");
    expect(headers.get("x-tollgate-first-request-id")).toBe(first.answer.headers.get("x-request-id"));
    expect(headers.get("x-tollgate-credits")).toBe("0");
    expect(headers.get("content-type")).toBe(first.answer.headers.get("content-type"));
    expect(headers.get("x-request-id")).toMatch(requestIdShape);
    expect(headers.get("x-request-id")).not.toBe(first.answer.headers.get("x-request-id"));
    expect(first.answer.headers.has("idempotent-replayed")).toBe(false);
  }

  /** The answer once it is there: until then the key is in use. */
  function untilReplayed(calling: () => Promise<Response>): Promise<Read> {
    return until("the first call has ended", async () => {
      const again = await read(calling());
      if (again.answer.status !== 409) return again;
      expectRefusal(again.answer, again.text, {
        status: 409,
        code: "idempotency_key_in_use",
        param: "idempotency-key",
      });
      return undefined;
    });
  }

  test.each([
    ["a whole answer", false],
    ["a stream", true],
  ])("%s is given again byte for byte, from the storage, for nothing", async (_title, stream) => {
    const { call, spent } = await newCaller();
    const model = modelFor("quick");
    const body = bodyOf(model, { stream });
    const first = await read(call("key", body));
    expect(first.answer.status).toBe(200);
    expect(first.text).toContain("chatcmpl-gated-");
    for (let times = 0; times < 3; times += 1) expectReplay(await read(call("key", body)), first);
    expect(gated.upstream.received(model)).toHaveLength(1);
    expect(await spent()).toBe(gatedCosts);
    // Another key is another call, and so is none.
    expect((await read(call("other", body))).text).not.toBe(first.text);
    expect(await spent()).toBe(2n * gatedCosts);
  });

  test("a replay needs neither credits nor room within the limits", async () => {
    const { user, call, spent } = await newCaller(gatedCosts + 200_000n);
    const limited = await gated.gateway.token({ user, credits: undefined, rpm: 1 });
    const body = bodyOf("quick", { max_tokens: 90 });
    const headers = { "idempotency-key": "key" };
    const first = await read(postChat(gated.gateway, limited, body, { headers }));
    expect(first.answer.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect((await read(call("spend", bodyOf("quick", { max_tokens: 90 })))).answer.status).toBe(200);
    const again = await read(postChat(gated.gateway, limited, body, { headers }));
    expectReplay(again, first);
    expect(again.answer.headers.has("x-ratelimit-remaining-requests")).toBe(false);
    expect(await spent()).toBe(2n * gatedCosts);
  });

  test("another body with the same key gets 409, while the first call runs and after it", async () => {
    const { call, spent } = await newCaller();
    const model = modelFor("held-mismatch");
    const running = read(call("key", bodyOf(model)));
    await until("the upstream has it", () => gated.upstream.received(model).length === 1);
    const expectMismatch = async (): Promise<void> => {
      const { answer, text } = await read(call("key", bodyOf(model, { temperature: 1 })));
      expectRefusal(answer, text, { status: 409, code: "idempotency_key_reused", param: "idempotency-key" });
      expect(answer.headers.has("retry-after")).toBe(false);
    };
    await expectMismatch();
    gated.upstream.release(model);
    await running;
    await expectMismatch();
    expect(gated.upstream.received(model)).toHaveLength(1);
    expect(await spent()).toBe(gatedCosts);
  });

  test("the same call while the first one runs gets 409 with retry-after, and its answer afterwards", async () => {
    const { call, spent } = await newCaller();
    const model = modelFor("held-running");
    const body = bodyOf(model, { stream: true });
    const running = read(call("key", body));
    await until("the upstream has it", () => gated.upstream.received(model).length === 1);
    const { answer, text } = await read(call("key", body));
    expectRefusal(answer, text, { status: 409, code: "idempotency_key_in_use", param: "idempotency-key" });
    expect(answer.headers.get("retry-after")).toBe("1");
    gated.upstream.release(model);
    const first = await running;
    expectReplay(await read(call("key", body)), first);
    expect(await spent()).toBe(gatedCosts);
  });

  test("100 calls at once with one key are one call and one charge", async () => {
    const { call, spent } = await newCaller();
    const model = modelFor("held-hundred");
    const body = bodyOf(model);
    let refused = 0;
    const calls = Array.from({ length: 100 }, async () => {
      const answer = await read(call("key", body));
      if (answer.answer.status === 409) refused += 1;
      return answer;
    });
    await until("all others are refused", () => refused === 99);
    gated.upstream.release(model);
    const answers = await Promise.all(calls);
    const first = answers.find(({ answer }) => answer.status === 200);
    if (first === undefined) throw new Error("none was answered");
    for (const { answer, text } of answers)
      if (answer.status === 409) expect(text).toContain('"idempotency_key_in_use"');
    expectReplay(await read(call("key", body)), first);
    expect(gated.upstream.received(model)).toHaveLength(1);
    expect(await spent()).toBe(gatedCosts);
  });

  test("a key is its token's own, also among the tokens of one user", async () => {
    const { user, call, spent } = await newCaller();
    const other = await newCaller();
    const second = await gated.gateway.token({ user, credits: undefined });
    const model = modelFor("quick");
    const body = bodyOf(model);
    const headers = { "idempotency-key": "key" };
    const answers = [
      await read(call("key", body)),
      await read(postChat(gated.gateway, second, body, { headers })),
      await read(other.call("key", body)),
    ];
    expect(new Set(answers.map(({ text }) => text)).size).toBe(3);
    expect(answers.filter(({ answer }) => answer.headers.has("idempotent-replayed"))).toEqual([]);
    expect([await spent(), await other.spent()]).toEqual([2n * gatedCosts, gatedCosts]);
  });

  test.each([
    ["an upstream's error", "fails", false, 400],
    ["an upstream's error to a stream", "fails", true, 400],
    ["a stream that breaks off", "breaks", true, 200],
  ])("%s is not kept: the key is free again", async (_title, kind, stream, status) => {
    const { call } = await newCaller();
    const model = `held-${users}-${kind}`;
    gated.upstream.release(model);
    const body = bodyOf(model, { stream });
    for (let times = 1; times <= 3; times += 1) {
      const { answer } = await read(call("key", body));
      expect(answer.status).toBe(status);
      expect(answer.headers.has("idempotent-replayed")).toBe(false);
      expect(gated.upstream.received(model)).toHaveLength(times);
    }
    // With another body, too.
    expect((await read(call("key", bodyOf("quick")))).answer.status).toBe(200);
  });

  test("a call that the gateway refuses, or cannot send, leaves the key free", async () => {
    const { user, call, spent } = await newCaller(1n);
    const body = bodyOf("quick");
    const refusals = [
      [402, body],
      [422, { model: "openai/quick" }],
      [404, { ...bodyOf("x"), model: "nobody/x" }],
    ] as const;
    for (const [status, refused] of refusals) expect((await read(call("key", refused))).answer.status).toBe(status);
    await gated.gateway.token({ user, credits: oneCredit });
    expect((await read(call("key", { ...bodyOf("x"), model: "down/x" }))).answer.status).toBe(502);
    const first = await read(call("key", body));
    expect(first.answer.status).toBe(200);
    expectReplay(await read(call("key", body)), first);
    expect(await spent()).toBe(gatedCosts);
  });

  describe("a client that hangs up on a call with a key", () => {
    test("while a whole answer is awaited: the call goes on, and its answer is there", async () => {
      const { call, spent } = await newCaller();
      const model = modelFor("held-whole");
      const body = bodyOf(model);
      const leaving = new AbortController();
      const cut = call("key", body, { signal: leaving.signal });
      await until("the upstream has it", () => gated.upstream.received(model).length === 1);
      leaving.abort();
      expect(await cut.catch((reason: Error) => reason.name)).toBe("AbortError");
      expect((await read(call("key", body))).answer.status).toBe(409);
      gated.upstream.release(model);
      const replayed = await untilReplayed(() => call("key", body));
      expect(replayed.answer.headers.get("idempotent-replayed")).toBe("true");
      expect(JSON.parse(replayed.text)).toMatchObject({ choices: [{ message: { content: "hello there" } }] });
      expect(gated.upstream.received(model)).toHaveLength(1);
      expect(await spent()).toBe(gatedCosts);
    });

    test("before a stream has begun: it is read nevertheless, and replayed whole", async () => {
      const { call, spent } = await newCaller();
      const model = `held-${users}-late`;
      const body = bodyOf(model, { stream: true });
      const leaving = new AbortController();
      const cut = call("key", body, { signal: leaving.signal });
      await until("the upstream has it", () => gated.upstream.received(model).length === 1);
      leaving.abort();
      expect(await cut.catch((reason: Error) => reason.name)).toBe("AbortError");
      gated.upstream.release(model);
      const replayed = await untilReplayed(() => call("key", body));
      expect(replayed.text).toEndWith("data: [DONE]\n\n");
      expect(gated.upstream.received(model)).toHaveLength(1);
      expect(await spent()).toBe(gatedCosts);
    });

    test("in the middle of a stream: it is read to its end, and given again whole", async () => {
      const { call, spent } = await newCaller();
      const model = modelFor("held-stream");
      const body = bodyOf(model, { stream: true });
      const reader = new EventReader(await call("key", body));
      const beginning = await reader.next();
      expect(beginning).toContain("hello");
      await reader.cancel();
      // It has been noticed, and the call is still under way.
      const early = await read(call("key", body));
      expect(early.answer.status).toBe(409);
      gated.upstream.release(model);
      const replayed = await untilReplayed(() => call("key", body));
      expect(replayed.text).toStartWith(beginning ?? "");
      expect(replayed.text).toEndWith("data: [DONE]\n\n");
      expect(replayed.answer.headers.get("content-type")).toStartWith("text/event-stream");
      expect(gated.upstream.received(model)).toHaveLength(1);
      expect(gated.upstream.left(model)).toBe(0);
      expect(await spent()).toBe(gatedCosts);
    });

    test("on a stream that then breaks off: charged for the received part, and the key is free", async () => {
      const { call } = await newCaller();
      const model = `held-${users}-breaks`;
      const body = bodyOf(model, { stream: true });
      const reader = new EventReader(await call("key", body));
      await reader.next();
      await reader.cancel();
      gated.upstream.release(model);
      const again = await untilReplayed(() => call("key", body));
      expect(again.answer.headers.has("idempotent-replayed")).toBe(false);
      expect(gated.upstream.received(model)).toHaveLength(2);
    });

    test("at any moment: one call, one charge, and the answer is there", async () => {
      const { call, spent } = await newCaller();
      const before = gated.upstream.received("quick").length;
      const count = 60;
      const texts = Array.from({ length: count }, async (_, index) => {
        const body = bodyOf("quick", { stream: index % 2 === 0 });
        const leaving = new AbortController();
        const timer = setTimeout(() => leaving.abort(), index % 30);
        const calling = read(call(`key-${index}`, body, { signal: leaving.signal }));
        await calling.catch(() => undefined);
        clearTimeout(timer);
        return (await untilReplayed(() => call(`key-${index}`, body))).text;
      });
      expect(new Set(await Promise.all(texts)).size).toBe(count);
      expect(gated.upstream.received("quick").length - before).toBe(count);
      expect(await spent()).toBe(BigInt(count) * gatedCosts);
    });
  });

  test.each([
    ["too long", "x".repeat(256)],
    ["empty", ""],
    ["not ASCII", "cl\u00e9"],
  ])("a key that is %s is refused with 422", async (_title, key) => {
    const { call, spent } = await newCaller();
    const model = modelFor("quick");
    const { answer, text } = await read(call(key, bodyOf(model)));
    expectRefusal(answer, text, {
      status: 422,
      code: "validation_failed",
      param: "idempotency-key",
      message: "1 to 255 printable ASCII characters",
    });
    expect(gated.upstream.received(model)).toEqual([]);
    expect(await spent()).toBe(0n);
  });
});
