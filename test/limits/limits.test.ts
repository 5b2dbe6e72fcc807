/** Limits of a token: calls beyond them are refused, at once and free of charge; calls within them are not. */
import { describe, expect, test } from "bun:test";
import {
  type CallOptions,
  engines,
  EventReader,
  expectRefusal,
  gatedBody,
  gatedCosts,
  postChat,
  sharedGatedGateway,
  sharedPostgres,
  spentBy,
  storageOn,
  until,
} from "../kit/index.ts";

interface Limits {
  credits?: bigint;
  rpm?: number;
  tpm?: number;
  concurrency?: number;
}

const maxTokens = 100;

const bodyOf = (model: string, more: object = {}): object => gatedBody(model, { max_tokens: maxTokens, ...more });

const rateHeaders = (answer: Response) =>
  Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith("x-ratelimit-")));

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  const gated = sharedGatedGateway(() => storageOn(engine, postgres));
  let users = 0;

  /** A separate user, with a token with these limits. */
  async function callerWith(limits: Limits) {
    users += 1;
    const user = `user-${users}`;
    const token = await gated.gateway.token({ user, ...limits });
    const chat = (body: object, options?: CallOptions): Promise<Response> =>
      postChat(gated.gateway, token, body, options);
    return { user, token, chat };
  }

  /** Calls at once; ends the held ones as soon as all others have been refused. */
  async function callAtOnce(count: number, limits: Limits, model: string) {
    const { user, chat } = await callerWith(limits);
    let refused = 0;
    const calls = Array.from({ length: count }, async (_, index) => {
      const answer = await chat(bodyOf(model, { stream: index % 2 === 0 }));
      if (answer.status === 429) refused += 1;
      return { answer, text: await answer.text() };
    });
    await until("all calls are decided", () => gated.upstream.received(model).length + refused === count);
    gated.upstream.release(model);
    const answers = await Promise.all(calls);
    const spent = await spentBy(gated.gateway, user);
    return {
      admitted: answers.filter(({ answer }) => answer.status === 200),
      refused: answers.filter(({ answer }) => answer.status !== 200),
      spent,
    };
  }

  test("of 40 calls at once a token for 7 at the same time gets exactly 7", async () => {
    const { admitted, refused, spent } = await callAtOnce(40, { concurrency: 7 }, "held-concurrency");
    expect(admitted).toHaveLength(7);
    expect(gated.upstream.received("held-concurrency")).toHaveLength(7);
    expect(spent).toBe(7n * gatedCosts);
    for (const { answer, text } of refused) {
      expectRefusal(answer, text, {
        status: 429,
        code: "rate_limit_exceeded",
        type: "rate_limit_error",
        message: "This token is limited to 7 calls at the same time.",
      });
      expect(answer.headers.get("retry-after")).toBe("1");
      expect(rateHeaders(answer)).toEqual({});
    }
  });

  test("of 40 calls at once a token for 9 a minute gets exactly 9", async () => {
    const { admitted, refused, spent } = await callAtOnce(40, { rpm: 9 }, "held-rpm");
    expect(gated.upstream.received("held-rpm")).toHaveLength(9);
    expect(spent).toBe(9n * gatedCosts);
    // Each of them got another remaining number, whole answers and streams alike.
    const remaining = admitted.map(({ answer }) => Number(answer.headers.get("x-ratelimit-remaining-requests")));
    expect(remaining.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    for (const { answer, text } of refused) {
      expectRefusal(answer, text, {
        status: 429,
        code: "rate_limit_exceeded",
        type: "rate_limit_error",
        message: "This token is limited to 9 requests a minute.",
      });
      expect(Number(answer.headers.get("retry-after"))).toBeWithin(30, 61);
      const { "x-ratelimit-reset-requests": reset, ...others } = rateHeaders(answer);
      expect(reset).toMatch(/^\d+(\.\d+)?s$/);
      expect(others).toEqual({ "x-ratelimit-limit-requests": "9", "x-ratelimit-remaining-requests": "0" });
    }
  });

  test("of 40 simultaneous calls a token with a minute's tokens for 5 gets exactly 5", async () => {
    const { chat } = await callerWith({ tpm: 1_000_000 });
    const probe = await chat(bodyOf("held-tpm", { stream: true }));
    await probe.body?.cancel();
    const likely = 1_000_000 - Number(probe.headers.get("x-ratelimit-remaining-tokens"));
    expect(likely).toBeWithin(maxTokens + 1, maxTokens + 50);
    await until("the upstream is left", () => gated.upstream.left("held-tpm") === 1);

    // A streamed and a whole body differ in a byte.
    const tpm = 5 * likely + 50;
    const { admitted, refused } = await callAtOnce(40, { tpm }, "held-tpm-2");
    expect(admitted).toHaveLength(5);
    expect(gated.upstream.received("held-tpm-2")).toHaveLength(5);
    for (const { answer, text } of refused) {
      expectRefusal(answer, text, {
        status: 429,
        code: "rate_limit_exceeded",
        type: "rate_limit_error",
        message: new RegExp(
          String.raw`^This token is limited to ${tpm} tokens a minute\. This call may use about \d+\.$`,
        ),
      });
      expect(answer.headers.get("x-ratelimit-limit-tokens")).toBe(String(tpm));
    }
  });

  test("tokens that a call did not use are given back to the minute when it has ended", async () => {
    const { chat } = await callerWith({ tpm: 10_000, rpm: 100 });
    const left = async (body: object): Promise<number> => {
      const answer = await chat(body);
      await answer.text();
      return Number(answer.headers.get("x-ratelimit-remaining-tokens"));
    };
    const first = await left(bodyOf("quick"));
    expect(await left(bodyOf("quick"))).toBe(first - 5);
    // A call that failed has used none.
    expect(await left(bodyOf("fails"))).toBeLessThan(first - 5);
    expect(await left(bodyOf("quick", { stream: true }))).toBeWithin(first - 15, first - 9);
  });

  test("a call that has ended makes room for another: well, with an error, or left by its client", async () => {
    const { chat } = await callerWith({ concurrency: 1 });
    const statusOf = async (body: object): Promise<number> => {
      const answer = await chat(body);
      await answer.text();
      return answer.status;
    };
    expect(await statusOf(bodyOf("quick"))).toBe(200);
    expect(await statusOf(bodyOf("fails"))).toBe(400);
    expect(await statusOf(bodyOf("quick", { stream: true }))).toBe(200);
    expect(await statusOf(bodyOf("breaks", { stream: true }))).toBe(200);
    expect(await statusOf({ model: "openai/quick" })).toBe(422);

    const stream = await chat(bodyOf("held-left", { stream: true }));
    const reader = new EventReader(stream);
    expect(await reader.next()).toContain("hello");
    expect(await statusOf(bodyOf("quick"))).toBe(429);
    await reader.cancel();
    await until("the next one is admitted", async () => (await statusOf(bodyOf("quick"))) === 200);

    const leaving = new AbortController();
    const waiting = chat(bodyOf("held-left"), { signal: leaving.signal });
    await until("the upstream has it", () => gated.upstream.received("held-left").length === 2);
    leaving.abort();
    await waiting.catch(() => undefined);
    expect(await statusOf(bodyOf("quick"))).toBe(429);
    gated.upstream.release("held-left");
    await until("the next one is admitted", async () => (await statusOf(bodyOf("quick"))) === 200);
  });

  test("a token's limits are its own, and a token without limits gets no headers", async () => {
    const { user, chat } = await callerWith({ rpm: 1 });
    const other = await gated.gateway.token({ user, credits: undefined });
    await (await chat(bodyOf("quick"))).text();
    expect((await chat(bodyOf("quick"))).status).toBe(429);
    for (let times = 0; times < 3; times += 1) {
      const answer = await postChat(gated.gateway, other, bodyOf("quick"));
      expect(answer.status).toBe(200);
      expect(rateHeaders(answer)).toEqual({});
      await answer.text();
    }
  });

  test("a call that is refused for another reason is not counted", async () => {
    const { chat } = await callerWith({ rpm: 1, credits: 10_000_000n });
    for (const body of [
      { model: "openai/quick" },
      bodyOf("quick", { max_tokens: 0 }),
      { ...bodyOf("x"), model: "no/x" },
    ])
      expect((await chat(body)).status).toBeOneOf([404, 422]);
    const unaffordable = await chat(bodyOf("quick", { messages: [{ role: "user", content: "x".repeat(1_000_000) }] }));
    expect(unaffordable.status).toBe(402);
    expect((await chat(bodyOf("quick"))).status).toBe(200);
  });
});
