import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { TokenRequest } from "../../src/accounts/index.ts";
import { chatPath, expectRefusal, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;

/** A call costs its price, independent of its text: the sums below are exact. */
const perCall = { requests_kcount: 1000 };

beforeAll(async () => {
  rig = await startRig({
    config: { pricing: { models: { "openai/*": perCall, "xai/*": { input_mtok: 1, output_mtok: 2 } } } },
  });
});

afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const ONE = 1_000_000_000n;

async function client(request: Partial<TokenRequest>) {
  const token = await rig.gateway.token(request);
  const headers = { authorization: `Bearer ${token}` };
  return {
    call: async (body: object = {}): Promise<{ answer: Response; text: string }> => {
      const whole = { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "hi" }], ...body };
      const answer = await fetch(rig.gateway.url + chatPath, { method: "POST", headers, body: JSON.stringify(whole) });
      return { answer, text: await answer.text() };
    },
    info: async (): Promise<Record<string, unknown>> =>
      (await (await fetch(`${rig.gateway.url}/v1/user/info`, { headers })).json()) as Record<string, unknown>,
  };
}

type Client = Awaited<ReturnType<typeof client>>;

const settled = (caller: Client, spend: number) =>
  until(`${spend} credits are spent`, async () => (await caller.info())["spend"] === spend);

async function expectPaid(caller: Client): Promise<void> {
  const { answer } = await caller.call();
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-tollgate-credits")).toBe("1");
}

async function expectUnpaid(caller: Client, message: string, body: object = {}): Promise<void> {
  const before = rig.simulators.total();
  const { answer, text } = await caller.call(body);
  expectRefusal(answer, text, { status: 402, code: "insufficient_credits", type: "insufficient_credits", message });
  expect(rig.simulators.total()).toBe(before);
}

describe("out of credits", () => {
  test("from the start", async () => {
    await expectUnpaid(await client({ user: "penniless", credits: undefined }), "needs 1, 0 are left");
  });

  test("after the last of them was spent", async () => {
    const caller = await client({ user: "spender", credits: 2n * ONE });
    await expectPaid(caller);
    await expectPaid(caller);
    await settled(caller, 2);
    await expectUnpaid(caller, "needs 1, 0 are left");
  });

  test("by the smallest coin", async () => {
    const caller = await client({ user: "nearly", credits: ONE - 1n });
    await expectUnpaid(caller, "needs 1, 0.999999999 are left");
    expect(await caller.info()).toMatchObject({ spend: 0, held: 0, available: 0.999999999 });
  });

  test("another grant fixes it", async () => {
    const caller = await client({ user: "lender", credits: ONE - 1n });
    await expectUnpaid(caller, "0.999999999 are left");
    expect((await rig.gateway.cli("credits", "grant", "--user", "lender", "--amount", "0.000000001")).code).toBe(0);
    await expectPaid(caller);
  });

  test("says what the least answer needs, and what a limited one does", async () => {
    const caller = await client({ user: "talker", credits: 1000n });
    await expectUnpaid(caller, "for its input and 256 tokens of output, 0.000001 are left", { model: "xai/grok-4" });
    // 16 tokens around the message, 2 in it, 10 out.
    const { answer, text } = await caller.call({ model: "xai/grok-4", max_tokens: 10 });
    const message = expectRefusal(answer, text, {
      status: 402,
      code: "insufficient_credits",
      type: "insufficient_credits",
    });
    expect(message).toBe(
      "Not enough credits: this call needs 0.000038 for its input and 10 tokens of output, 0.000001 are left.",
    );
  });

  test("holds for calls under way count, and come back", async () => {
    const caller = await client({ user: "patient", credits: ONE });
    const slow = caller.call({ model: "openai/gpt-4o-mini+slow-400" });
    await until("the first call holds", async () => (await caller.info())["held"] === 1);
    await until("the upstream has it", () => rig.received("gpt-4o-mini+slow-400").length === 1);
    await expectUnpaid(caller, "needs 1, 0 are left");
    expect((await slow).answer.status).toBe(200);
    await settled(caller, 1);
  });
});

describe("a token's own budget", () => {
  test("is spent although the user has more", async () => {
    const caller = await client({ user: "rich", credits: 100n * ONE, maxBudget: ONE });
    await expectPaid(caller);
    await settled(caller, 1);
    await expectUnpaid(caller, "needs 1, 0 are left");
    expect(await caller.info()).toMatchObject({ max_budget: 1, spend: 1, available: 0, balance: 99, period: null });
  });

  test("of one day includes the time of its restart", async () => {
    const caller = await client({ user: "daily", credits: 100n * ONE, maxBudget: ONE, period: "daily" });
    await expectPaid(caller);
    await settled(caller, 1);
    await expectUnpaid(caller, "needs 1, 0 are left");
    const { period_reset_at: reset } = await caller.info();
    expect(String(reset)).toMatch(/T00:00:00\.000Z$/);
    expect(Date.parse(String(reset)) - Date.now()).toBeWithin(0, 24 * 3_600_000 + 1);
  });

  test("of zero allows nothing", async () => {
    await expectUnpaid(await client({ user: "observer", credits: 100n * ONE, maxBudget: 0n }), "0 are left");
  });

  test("another token of the same user is not bound by it", async () => {
    const bound = await client({ user: "pair", credits: 2n * ONE, maxBudget: ONE });
    const free = await client({ user: "pair", credits: undefined });
    await expectPaid(bound);
    await settled(bound, 1);
    await expectUnpaid(bound, "0 are left");
    await expectPaid(free);
    await settled(free, 2);
    await expectUnpaid(free, "0 are left");
  });
});

test("a service's token needs no balance", async () => {
  const caller = await client({ user: "service", service: true, credits: undefined });
  await expectPaid(caller);
  await settled(caller, 1);
  expect(await caller.info()).toMatchObject({ service_bypass: true, spend: 1 });
});
