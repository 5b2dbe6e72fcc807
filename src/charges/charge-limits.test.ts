/** Charges of tokens with limits, and of calls with a retry key. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { StoredAnswer } from "../ledger/index.ts";
import { WorkScene, failed, heldByOrder, orderOf, record, refusalOf, settled } from "./__fixtures__/work-scene.ts";
import { openWork } from "./open-work.ts";
import { Work } from "./work.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

const used = { input: 10, output: 5 };
const recorded = (overrides: Parameters<typeof record>[0]) =>
  record({ parent: undefined, milliseconds: expect.any(Number) as number, ...overrides });
const minute = 60_000;

describe("a token with limits", () => {
  const rates = { requestsPerMinute: 2, tokensPerMinute: 1_000, concurrentCalls: 2 };

  test("reports the remaining quota of its minute", async () => {
    // 100 bytes count as 25 tokens, and the output as 50.
    const first = await scene.open({ rates });
    expect(first.rateHeaders).toEqual({
      "x-ratelimit-limit-requests": "2",
      "x-ratelimit-remaining-requests": "1",
      "x-ratelimit-reset-requests": "60s",
      "x-ratelimit-limit-tokens": "1000",
      "x-ratelimit-remaining-tokens": "925",
      "x-ratelimit-reset-tokens": "60s",
    });
    scene.now += 1_500;
    const second = await scene.open({ rates, id: "req_2" });
    expect(second.rateHeaders).toMatchObject({
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-remaining-tokens": "850",
      "x-ratelimit-reset-requests": "58.5s",
    });
  });

  test("without limits reports no quota", async () => {
    expect((await scene.open()).rateHeaders).toBeUndefined();
  });

  test("is refused with 429 when its requests are used up, until the minute has ended", async () => {
    const asked = { rates: { requestsPerMinute: 1 } };
    const first = await scene.open(asked);
    await first.end(settled({ usage: used }));
    scene.now += minute - 1;
    const error = await refusalOf(scene.open({ ...asked, id: "req_2" }));
    expect(error).toMatchObject({ code: "rate_limit_exceeded", status: 429, retryAfterSeconds: 1 });
    expect(error.headers).toMatchObject({ "x-ratelimit-remaining-requests": "0" });
    expect(await scene.balances()).toEqual({ charged: 20_000n, held: 0n });
    scene.now += 1;
    await scene.open({ ...asked, id: "req_3" });
  });

  test("is refused while too many of its calls are open", async () => {
    const asked = { rates: { concurrentCalls: 1 } };
    const first = await scene.open(asked);
    expect(await refusalOf(scene.open({ ...asked, id: "req_2" }))).toMatchObject({
      code: "rate_limit_exceeded",
      retryAfterSeconds: 1,
      headers: {},
    });
    await first.end(failed);
    await scene.open({ ...asked, id: "req_3" });
  });

  test("counts expected tokens first, and reported ones once the call has ended", async () => {
    const asked = { rates: { tokensPerMinute: 100 } };
    const first = await scene.open(asked);
    const error = await refusalOf(scene.open({ ...asked, id: "req_2" }));
    expect(error).toMatchObject({ code: "rate_limit_exceeded" });
    expect(error.message).toEndWith("This call may use about 75.");
    await first.end(settled({ usage: used }));
    const third = await scene.open({ ...asked, id: "req_3" });
    expect(third.rateHeaders).toMatchObject({ "x-ratelimit-remaining-tokens": "10" });
  });
});

describe("a call with a retry key", () => {
  const retry = { key: "k", fingerprint: "f" };
  const answer: StoredAnswer = { status: 200, headers: [["content-type", "text/x"]], body: Buffer.from("said") };

  test("gets the stored answer without a hold, once the first call has ended", async () => {
    const first = await scene.open({ retry });
    await first.end(settled({ usage: used }, { answer }));
    const again = await openWork(scene.deps, orderOf({ id: "req_2", retry }));
    expect(again).not.toBeInstanceOf(Work);
    expect(again).toEqual({ firstId: "req_1", answer: { ...answer, body: new Uint8Array(Buffer.from("said")) } });
    expect(await scene.balances()).toEqual({ charged: 20_000n, held: 0n });
  });

  test("is refused with 409 while the first one runs", async () => {
    await scene.open({ retry });
    const error = await refusalOf(scene.open({ id: "req_2", retry }));
    expect(error).toMatchObject({ code: "idempotency_key_in_use", status: 409, retryAfterSeconds: 1 });
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
  });

  test("is refused with 409 if it differs, whether the first one runs or has ended", async () => {
    const other = { id: "req_2", retry: { key: "k", fingerprint: "other" } };
    const first = await scene.open({ retry });
    expect(await refusalOf(scene.open(other))).toMatchObject({ code: "idempotency_key_reused", status: 409 });
    await first.end(settled({ usage: used }, { answer }));
    expect(await refusalOf(scene.open(other))).toMatchObject({ code: "idempotency_key_reused", status: 409 });
  });

  test("is a new call if the first was released, or charged without an answer", async () => {
    const first = await scene.open({ retry });
    await first.end({ ...failed, outcome: "interrupted" });
    const second = await scene.open({ id: "req_2", retry });
    await second.end(settled({ usage: used }));
    await scene.open({ id: "req_3", retry });
  });

  test("gets the stored answer even if a limit or the balance would refuse a new call", async () => {
    const first = await scene.open({ retry, rates: { requestsPerMinute: 1 } });
    await first.end(settled({ usage: { input: 1_000 } }, { answer }));
    expect(await scene.balances()).toEqual({ charged: 1_000_000n, held: 0n });
    const again = await openWork(scene.deps, orderOf({ id: "req_2", retry, rates: { requestsPerMinute: 1 } }));
    expect(again).toMatchObject({ firstId: "req_1" });
  });
});

describe("the ledger receives", () => {
  test("with a settlement: the record, the answer, and tokens if a minute counts them", async () => {
    const answer: StoredAnswer = { status: 200, headers: [], body: Buffer.from("said") };
    const charge = await scene.open({ rates: { tokensPerMinute: 1_000 } });
    scene.now += 5;
    await charge.end(settled({ usage: used }, { answer }));
    expect(scene.store.taken.at(-1)).toEqual({
      kind: "settle",
      id: "req_1",
      amount: 20_000n,
      at: scene.now,
      tokens: 15,
      record: recorded({ usage: used, listCredits: 20_000 }),
      answer,
    });
  });

  test("with a settlement of a token without limits: no tokens", async () => {
    const charge = await scene.open();
    await charge.end(settled({ usage: used }));
    expect(scene.store.taken.at(-1)).toEqual({
      kind: "settle",
      id: "req_1",
      amount: 20_000n,
      at: scene.now,
      record: recorded({ usage: used, listCredits: 20_000 }),
    });
  });

  test("with a release: the record", async () => {
    const charge = await scene.open();
    await charge.end(failed);
    const { status, outcome } = failed;
    expect(scene.store.taken.at(-1)).toEqual({
      kind: "release",
      id: "req_1",
      at: scene.now,
      record: recorded({ status, outcome, listCredits: 0 }),
    });
  });
});
