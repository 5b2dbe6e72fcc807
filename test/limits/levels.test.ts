/** Limits of a user and of an organisation: all tokens below them share them, on both stores. */
import { describe, expect, test } from "bun:test";
import {
  engines,
  expectCleanAudit,
  gatedBody,
  postChat,
  sharedGatedGateway,
  sharedPostgres,
  storageOn,
  until,
} from "../kit/index.ts";

const CALLS = 20;

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  const gated = sharedGatedGateway(() => storageOn(engine, postgres));

  test("of calls at once with two tokens of an organisation's users, exactly as many run as it permits", async () => {
    const { gateway, upstream } = gated;
    const tokens = await Promise.all(
      ["ann", "bob"].map((user) => gateway.token({ user, organisation: "acme", credits: 0n })),
    );
    await gateway.cli("credits", "grant", "--organisation", "acme", "--amount", "1000");
    expect((await gateway.cli("organisation", "set", "acme", "--concurrency", "7", "--tpm", "1000000")).code).toBe(0);
    const model = `held-${engine}-levels`;
    let refused = 0;
    const calls = Array.from({ length: CALLS }, async (_, index) => {
      const answer = await postChat(gateway, tokens[index % 2] ?? "", gatedBody(model, { max_tokens: 10 }));
      if (answer.status === 429) refused += 1;
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    });
    await until("all calls are decided", () => upstream.received(model).length + refused === CALLS);
    upstream.release(model);
    const answers = await Promise.all(calls);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    for (const { status, text, headers } of answers) {
      expect(headers.get("x-ratelimit-limit-tokens")).toBe("1000000");
      if (status !== 200) expect(text).toContain("This token's organisation is limited to 7 calls at the same time.");
    }
    await until("nothing is held", async () => {
      const info = await fetch(`${gateway.url}/v1/user/info`, { headers: { authorization: `Bearer ${tokens[0]}` } });
      const { held, limits } = (await info.json()) as { held: number; limits: object };
      expect(limits).toMatchObject({ concurrent_calls: 7, tokens_per_minute: 1_000_000, requests_per_minute: null });
      return held === 0;
    });
    await expectCleanAudit(gateway);
  });

  test("a user's requests a minute are those of all their tokens, and the headers tell the tightest", async () => {
    const { gateway, upstream } = gated;
    const first = await gateway.token({ user: "carol", rpm: 50 });
    const second = await gateway.token({ user: "carol" });
    await gateway.cli("user", "set", "carol", "--rpm", "3", "--models", "openai/*");
    const model = `open-${engine}`;
    upstream.release(model);
    const remaining: (string | null)[] = [];
    for (const token of [first, second, first, second]) {
      const answer = await postChat(gateway, token, gatedBody(model, { max_tokens: 10 }));
      await answer.text();
      expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("3");
      remaining.push(`${answer.status} ${answer.headers.get("x-ratelimit-remaining-requests")}`);
    }
    expect(remaining).toEqual(["200 2", "200 1", "200 0", "429 0"]);
    const other = await postChat(gateway, first, { ...gatedBody(model), model: "elsewhere/x" });
    expect(other.status).toBe(404);
  });
});
