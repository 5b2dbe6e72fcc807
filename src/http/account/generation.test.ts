import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Principal } from "../../auth/index.ts";
import { openGenerationStore } from "../../generations/index.ts";
import { openLedgerStore } from "../../ledger/index.ts";
import type { SqliteStorage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { askRoute } from "../__fixtures__/ask-route.ts";
import { generationAnswer, generationRoute } from "./generation.ts";

const id = "req_0mdabcdefghijklmnopqrstuv";

let storage: SqliteStorage;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  storage.handle.run(
    "INSERT INTO accounts (id, kind, name, prepaid, debits_posted, period_debits, created_at) VALUES ('token:a1', 'token', 'a1', 0, 123456789, 123456789, 0)",
  );
  storage.handle
    .query(
      `INSERT INTO entries (id, owner, debit_account, operation, dialect, provider, model, streamed, status, outcome,
         usage, input_tokens, output_tokens, amount, ms, first_byte_ms, started_at, kind, credit_account, held, shortfall, created_at)
       VALUES (?, 'alice', 'token:a1', 'chat', 'chat', 'openai', 'small', 1, 200, 'abandoned', ?, 130, 50, ?, ?, ?, ?,
         'settle', 'revenue', 0, 0, 0)`,
    )
    .run(
      id,
      JSON.stringify({ input: 30, cacheRead: 100, output: 20, reasoning: 30 }),
      123_456_789n,
      1234.5678,
      9.96,
      Date.parse("2026-11-21T08:30:15.123Z"),
    );
});
afterEach(() => storage.close());

const ask = (asked: string, principal: Partial<Principal> = {}) =>
  askRoute(
    generationRoute,
    { generations: openGenerationStore(storage) },
    { parameters: { request_id: asked }, principal },
  );

describe("a generation", () => {
  test("is returned with everything recorded about the call", async () => {
    const answer = await ask(id);
    expect(answer).toEqual({
      object: "generation",
      id,
      parent_id: null,
      session: null,
      token_id: "a1",
      model: "openai/small",
      provider: "openai",
      dialect: "chat",
      operation: "chat",
      streamed: true,
      status: 200,
      outcome: "abandoned",
      usage: {
        input: 30,
        cache_read: 100,
        cache_write_5m: 0,
        cache_write_1h: 0,
        input_audio: 0,
        cache_audio_read: 0,
        output: 20,
        reasoning: 30,
        output_audio: 0,
        input_image: 0,
        cache_image_read: 0,
        output_image: 0,
        images: 0,
        input_images: 0,
        input_characters: 0,
        input_audio_ms: 0,
        requests: 0,
      },
      input_tokens: 130,
      output_tokens: 50,
      credits: 0.123456789,
      list_credits: null,
      latency_ms: 1234.6,
      time_to_first_token_ms: 10,
      created_at: "2026-11-21T08:30:15.123Z",
    });
    expect(generationAnswer.parse(answer) as unknown).toEqual(answer);
  });

  test("has its list price, and what was given back", async () => {
    storage.handle.run("UPDATE entries SET list_credits = 100000000");
    expect(await ask(id)).toMatchObject({ credits: 0.123456789, list_credits: 0.1 });
    expect(await ask(id)).not.toHaveProperty("refunded_credits");
    const { outcome } =
      (await openLedgerStore(storage).commit([{ kind: "refund", id, at: 1, reason: "a test" }]))[0] ?? {};
    expect(outcome).toBe("refunded");
    const refunded = await ask(id);
    expect(refunded).toMatchObject({ credits: 0, list_credits: 0.1, refunded_credits: 0.123456789 });
    expect(generationAnswer.parse(refunded) as unknown).toEqual(refunded);
  });

  test("whose process died has null for unknown values", async () => {
    storage.handle.run("UPDATE entries SET dialect = NULL, first_byte_ms = NULL, outcome = 'expired', status = 0");
    const answer = await ask(id);
    expect(answer).toMatchObject({ dialect: null, time_to_first_token_ms: null, status: null, outcome: "expired" });
    expect(generationAnswer.parse(answer) as unknown).toEqual(answer);
  });

  test("of a dialect that only a newer version knows has null for it", async () => {
    storage.handle.run("UPDATE entries SET dialect = 'constructor'");
    const answer = await ask(id);
    expect(answer).toMatchObject({ dialect: null, operation: "chat", credits: 0.123456789 });
    expect(generationAnswer.parse(answer) as unknown).toEqual(answer);
  });

  test("is visible to every token of its user", async () => {
    expect(await ask(id, { tokenId: "a2", accountId: "token:a2" })).toHaveProperty("id", id);
  });
});

describe("a 404 that reveals nothing", () => {
  const refusal = {
    code: "generation_not_found",
    status: 404,
    message: "There is no generation with this id. A call is found here by its x-request-id, once it has ended.",
  };

  test.each<[string, string, Partial<Principal>]>([
    ["another's", id, { user: "bob", accountId: "token:b1", tokenId: "b1" }],
    ["another's, even for who administers", id, { user: "root", role: "owner" }],
    ["another's, though the token is called the same", id, { user: "Alice" }],
    ["one that never was or runs", "req_0mdabcdefghijklmnopqrstuw", {}],
    ["nothing", "", {}],
    ["part of an id", id.slice(0, -1), {}],
    ["an id in capitals", id.toUpperCase(), {}],
    ["a pattern", "req_%", {}],
    ["SQL", "' OR 1=1 --", {}],
    ["a NUL", `${id}\0`, {}],
    ["a very long text", "x".repeat(100_000), {}],
  ])("answers %s", async (_, asked, principal) => {
    expect(await ask(asked, principal).catch((reason: unknown) => reason)).toMatchObject(refusal);
  });
});
