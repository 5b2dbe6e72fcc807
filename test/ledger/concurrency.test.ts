import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import { chatPath, expectCleanAudit, type Rig, sendChat, startRig, until } from "../kit/index.ts";

const ONE = 1_000_000_000n;

let rig: Rig;

beforeAll(async () => {
  // Every call costs exactly one credit, so its hold equals its charge.
  rig = await startRig({
    config: {
      pricing: { models: { "openai/*": { requests_kcount: 1000 }, "xai/*": { input_mtok: 1000, output_mtok: 2000 } } },
    },
  });
});

afterAll(async () => {
  await rig.stop();
});

const body = (model: string, more: object = {}): string =>
  JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hi" }], ...more });

async function call(token: string, text: string): Promise<{ status: number; credits: string | null; body: string }> {
  const answer = await sendChat(rig.gateway.url, token, text);
  return { status: answer.status, credits: answer.headers.get("x-tollgate-credits"), body: answer.body };
}

const manyCalls = (count: number, token: string, text: string) =>
  Promise.all(Array.from({ length: count }, () => call(token, text)));

function countBy(statuses: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function account(kind: "user" | "token", name: string) {
  const [found] = await openLedgerStore(rig.gateway.storage).chain(accountId(kind, name), Date.now());
  if (found === undefined) throw new Error(`no account ${kind} ${name}`);
  return found;
}

async function expectCleanBooks(): Promise<void> {
  await rig.expectBalancedBooks();
  await expectCleanAudit(rig.gateway);
}

describe("a balance for exactly ten calls", () => {
  test("pays for ten streams", async () => {
    const token = await rig.gateway.token({ user: "streams", credits: 10n * ONE });
    const headers = { authorization: `Bearer ${token}` };
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const answer = await fetch(rig.gateway.url + chatPath, {
          method: "POST",
          headers,
          body: body("openai/s", { stream: true }),
        });
        return { status: answer.status, text: await answer.text() };
      }),
    );
    expect(countBy(answers.map(({ status }) => status))).toEqual({ "200": 10, "402": 90 });
    expect(answers.filter(({ text }) => text.includes("data: [DONE]")).length).toBe(10);
    await until("all is spent", async () => (await account("user", "streams")).debitsPosted === 10n * ONE);
    await expectCleanBooks();
  });
});

describe("several limits in one chain", () => {
  test("each holds, in any order", async () => {
    const bound = await rig.gateway.token({ user: "chain", credits: 10n * ONE, maxBudget: 3n * ONE });
    const other = await rig.gateway.token({ user: "chain", credits: undefined, maxBudget: 20n * ONE });
    const [ofBound, ofOther] = await Promise.all([
      manyCalls(100, bound, body("openai/b")),
      manyCalls(100, other, body("openai/o")),
    ]);
    const paid = (answers: { status: number }[]) => answers.filter(({ status }) => status === 200).length;
    expect(paid(ofBound)).toBeLessThanOrEqual(3);
    expect(paid(ofBound) + paid(ofOther)).toBe(10);
    await until("all is spent", async () => (await account("user", "chain")).debitsPosted === 10n * ONE);
    expect((await account("token", bound.slice(3, 15))).debitsPosted).toBe(BigInt(paid(ofBound)) * ONE);
    expect((await account("token", other.slice(3, 15))).debitsPosted).toBe(BigInt(paid(ofOther)) * ONE);
    await expectCleanBooks();
  });

  test("the part of a hold beyond the cost returns completely", async () => {
    const token = await rig.gateway.token({ user: "returns", credits: ONE });
    const answers = await manyCalls(150, token, body("xai/grok-4"));
    const paid = answers.filter(({ status }) => status === 200);
    expect(countBy(answers.map(({ status }) => status))).toEqual({ "200": paid.length, "402": 150 - paid.length });
    // A call holds 18 + 2 × 10 thousandths and costs less: more calls are paid for than could hold at once.
    expect(paid.length).toBeGreaterThanOrEqual(Math.floor(1000 / 38));
    await until("nothing is held", async () => (await account("user", "returns")).debitsPending === 0n);
    const charged = paid.reduce((sum, { credits }) => sum + BigInt(Math.round(Number(credits) * 1e9)), 0n);
    const { debitsPosted } = await account("user", "returns");
    expect(debitsPosted).toBe(charged);
    expect(debitsPosted).toBeLessThanOrEqual(ONE);
    await expectCleanBooks();
  });

  test("a service's calls are all answered and all recorded", async () => {
    const token = await rig.gateway.token({ user: "service", service: true, credits: undefined });
    const answers = await manyCalls(200, token, body("openai/svc"));
    expect(countBy(answers.map(({ status }) => status))).toEqual({ "200": 200 });
    await until(
      "all is recorded",
      async () => (await account("token", token.slice(3, 15))).debitsPosted === 200n * ONE,
    );
    await expectCleanBooks();
  });
});

test("credits granted by the command line under load are spent once each", async () => {
  const token = await rig.gateway.token({ user: "granted", credits: undefined });
  const granted = { count: 0, done: false };
  let paid = 0;
  let refused = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const { done } = granted;
      const { status } = await call(token, body("openai/g"));
      if (status === 200) paid += 1;
      else if (status === 402) refused += 1;
      else throw new Error(`answered with ${status}`);
      // Refused although the last grant was in before it was asked: all is spent.
      if (status === 402 && done) return;
    }
  };
  const grants = async (): Promise<void> => {
    for (let round = 0; round < 4; round += 1) {
      const { code, stderr } = await rig.gateway.cli("credits", "grant", "--user", "granted", "--amount", "5");
      expect([code, stderr]).toEqual([0, ""]);
      granted.count += 5;
    }
    granted.done = true;
  };
  await Promise.all([grants(), ...Array.from({ length: 4 }, worker)]);
  expect([granted.count, paid]).toEqual([20, 20]);
  expect(refused).toBeGreaterThan(0);
  await until("nothing is held", async () => (await account("user", "granted")).debitsPending === 0n);
  expect(await account("user", "granted")).toMatchObject({ creditsPosted: 20n * ONE, debitsPosted: 20n * ONE });
  await expectCleanBooks();
});
