import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Generation } from "../../src/generations/index.ts";
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import { insertGeneration } from "../kit/generations.ts";
import { type Caller, chatPath, expectRefusal, type Rig, startRig } from "../kit/index.ts";

let rig: Rig;
let alice: Caller;
let bob: Caller;

beforeAll(async () => {
  rig = await startRig();
});

afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const hello = { model: "openai/gpt-4o-mini", max_tokens: 5, messages: [{ role: "user", content: "hi" }] };

async function info(token: string, path = "", headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(`${rig.gateway.url}/v1/user/info${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

describe("one user's token", () => {
  beforeAll(async () => {
    [alice, bob] = await Promise.all([rig.caller(), rig.caller()]);
  });

  test("spends its own user's credits only", async () => {
    expect((await alice.chat(hello)).status).toBe(200);
    const spent = await alice.closed();
    expect(spent).toBeGreaterThan(0n);
    expect(await bob.books()).toEqual({ spent: 0n, held: 0n });
    expect((await bob.chat(hello)).status).toBe(200);
    expect(await bob.closed()).toBe(spent);
    expect(await alice.books()).toEqual({ spent, held: 0n });
  });

  test("sees its own user's budget only", async () => {
    const seen = JSON.stringify(await info(alice.token));
    expect(seen).toContain(alice.user);
    expect(seen).not.toContain(bob.user);
    expect(seen).not.toContain(bob.token.slice(3, 15));
  });

  test.each<[string, (other: string) => [string, Record<string, string>]]>([
    ["a query", (other) => [`?user=${other}&user_id=${other}&account=user:${other}`, {}]],
    ["a path", (other) => [`/../info?user=${other}`, {}]],
    [
      "headers",
      (other) => ["", { "x-user": other, "x-user-id": other, "x-forwarded-user": other, "x-account": `user:${other}` }],
    ],
    ["a cookie", (other) => ["", { cookie: `user=${other}` }]],
  ])("cannot ask for another's by %s", async (_, of) => {
    const [path, headers] = of(bob.user);
    expect((await info(alice.token, path, headers))["user"]).toBe(alice.user);
  });

  test("cannot spend another's by naming them in the body", async () => {
    const before = await bob.books();
    const spent = await alice.closed();
    const body = { ...hello, user: bob.user, account: `user:${bob.user}`, metadata: { user: bob.user } };
    const answer = await alice.chat(body, { headers: { "x-user": bob.user, "openai-organization": bob.user } });
    await answer.text();
    await alice.chat({ ...hello, user: bob.user });
    expect(await alice.closed()).toBeGreaterThan(spent);
    expect(await bob.books()).toEqual(before);
  });

  test("with another's id before its own secret is nobody's", async () => {
    const forged = bob.token.slice(0, 16) + alice.token.slice(16);
    const answer = await fetch(`${rig.gateway.url}/v1/user/info`, { headers: { authorization: `Bearer ${forged}` } });
    expect(answer.status).toBe(401);
  });

  test("never gets another's answer, however many call at once", async () => {
    const callers = await Promise.all(Array.from({ length: 20 }, () => rig.caller()));
    const asked = callers.flatMap((caller) =>
      Array.from({ length: 5 }, (_, index) => ({ caller, mark: `${caller.user}-${index}` })),
    );
    const answers = await Promise.all(
      asked.map(async ({ caller, mark }, index) => {
        const messages = [{ role: "user", content: mark }];
        return (await caller.chat({ ...hello, max_tokens: 40, stream: index % 2 === 0, messages })).text();
      }),
    );
    for (const [index, answer] of answers.entries()) {
      // A streamed answer comes in pieces: its text is joined again.
      const said = [...answer.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).join("");
      const marks = [...new Set(said.match(/caller-\d+-\d/g))];
      expect(marks).toEqual([asked[index]?.mark ?? "?"]);
    }
    const spent = await Promise.all(callers.map((caller) => caller.closed()));
    expect(spent.every((amount) => amount > 0n)).toBe(true);
  });
});

describe("the cost of a call", () => {
  const call: Omit<Generation, "owner" | "accountId"> = {
    id: "req_0mdofalice000000000000001",
    tokenId: "gone",
    operation: "chat",
    dialect: "chat",
    provider: "openai",
    model: "secret-model",
    streamed: false,
    status: 200,
    outcome: "complete",
    usage: { input: 3 },
    inputTokens: 3,
    outputTokens: 0,
    credits: 7_000_000_000n,
    milliseconds: 1,
    millisecondsToFirstByte: undefined,
    startedAt: Date.now() - 60_000,
  };
  let mallory: Caller;

  beforeAll(async () => {
    [alice, mallory] = await Promise.all([rig.caller(), rig.caller()]);
    await insertGeneration(rig.gateway.storage, { ...call, owner: alice.user });
  });

  const get = (token: string, path: string, headers: Record<string, string> = {}) =>
    fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });

  test("is visible to its user, with any of their tokens", async () => {
    const second = await rig.gateway.token({ user: alice.user, credits: undefined });
    for (const token of [alice.token, second]) {
      const answer = await get(token, `/v1/generations/${call.id}`);
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { id: call.id, model: "openai/secret-model", credits: 7 },
      ]);
      expect(await (await get(token, "/v1/usage?group_by=model")).json()).toMatchObject({
        data: [{ model: "openai/secret-model", requests: 1, credits: 7 }],
      });
    }
  });

  test("is indistinguishable from a missing call for anybody else", async () => {
    const admin = await rig.gateway.token({ user: "root", role: "owner" });
    const service = await rig.gateway.token({ user: "robot", service: true, credits: undefined });
    for (const token of [mallory.token, admin, service]) {
      const messages = ["req_0mdofalice000000000000002", call.id, "nonsense", `%00${call.id}`].map(async (id) => {
        const answer = await get(token, `/v1/generations/${id}?user=${alice.user}`, { "x-user": alice.user });
        return expectRefusal(answer, await answer.text(), { status: 404, code: "generation_not_found" });
      });
      expect(new Set(await Promise.all(messages)).size).toBe(1);
      for (const groupBy of ["day", "model", "token"]) {
        const usage = await get(token, `/v1/usage?group_by=${groupBy}&user=${alice.user}&token_id=gone`);
        expect([usage.status, await usage.json()]).toMatchObject([200, { data: [], total: { requests: 0 } }]);
      }
    }
  });

  test("is invisible without a token", async () => {
    for (const path of [`/v1/generations/${call.id}`, "/v1/usage"]) {
      const answer = await fetch(rig.gateway.url + path);
      expectRefusal(answer, await answer.text(), { status: 401, code: "missing_token" });
    }
  });
});

describe("two tokens of one user", () => {
  test("share the balance and keep their own spend apart", async () => {
    const first = await rig.gateway.token({ user: "shared", credits: 1_000_000_000n });
    const second = await rig.gateway.token({ user: "shared", credits: undefined });
    const answer = await fetch(rig.gateway.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${first}` },
      body: JSON.stringify(hello),
    });
    expect(answer.status).toBe(200);
    await rig.expectBalancedBooks();
    const [ofFirst, ofSecond] = await Promise.all([info(first), info(second)]);
    expect(ofFirst["spend"]).toBeGreaterThan(0);
    expect(ofSecond["balance"]).toBe(ofFirst["balance"] ?? 0);
    const levels = (seen: Record<string, unknown>) =>
      seen["levels"] as { level: string; spend: number; name: string }[];
    expect(levels(ofFirst)[0]).toMatchObject({
      level: "token",
      name: first.slice(3, 15),
      spend: ofFirst["spend"] as number,
    });
    expect(levels(ofSecond)[0]).toMatchObject({ level: "token", name: second.slice(3, 15), spend: 0 });
  });

  test("a revoked one leaves the other as it is", async () => {
    const first = await rig.gateway.token({ user: "half", credits: 1_000_000_000n });
    const second = await rig.gateway.token({ user: "half", credits: undefined });
    await rig.gateway.cli("token", "revoke", first.slice(3, 15));
    expect((await info(second))["balance"]).toBe(1);
    const [account] = await openLedgerStore(rig.gateway.storage).chain(accountId("user", "half"), Date.now());
    expect(account?.creditsPosted).toBe(1_000_000_000n);
  });
});
