import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../core/index.ts";
import { StoredBody, storedAnswerOf, replay } from "./stored-answer.ts";

const body = Buffer.from('{"model":"openai/m"}');

const sent = (pieces: readonly Uint8Array[], headers: Record<string, string> = {}) => ({
  headers,
  body: pieces.reduce((kept, piece) => kept.add(piece), new StoredBody()),
});

describe("an answer", () => {
  test("is stored byte by byte, however it was cut", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 10 });
    const property = fc.property(pieces, (cut) => {
      const { body: kept } = storedAnswerOf(200, sent(cut), "openai", "req_1");
      expect(Buffer.from(kept)).toEqual(Buffer.concat(cut));
    });
    fc.assert(property, { numRuns: 100 });
  });

  test("is stored with its headers, except for the remaining quota of its minute", () => {
    const headers = {
      "content-type": "application/json",
      "x-upstream-request-id": "up_1",
      "x-tollgate-credits": "0.5",
      "x-ratelimit-remaining-requests": "3",
    };
    expect(storedAnswerOf(201, sent([body], headers), "openai", "req_1")).toMatchObject({
      status: 201,
      headers: [
        ["content-type", "application/json"],
        ["x-upstream-request-id", "up_1"],
        ["x-tollgate-credits", "0.5"],
      ],
    });
  });

  test("is replayed unchanged, marked as the first one's, and free", () => {
    const answer = storedAnswerOf(
      201,
      sent([body], { "content-type": "text/x", "x-tollgate-credits": "0.5" }),
      "openai",
      "req_1",
    );
    const again = replay(answer, "req_1");
    expect(again.status).toBe(201);
    expect(again.headers).toEqual({
      "content-type": "text/x",
      "idempotent-replayed": "true",
      "x-tollgate-credits": "0",
      "x-tollgate-first-credits": "0.5",
      "x-tollgate-first-request-id": "req_1",
    });
    expect(again.body).toEqual(Uint8Array.from(body));
  });

  test("is stored up to the bound, and not a byte beyond", () => {
    const half = new Uint8Array(limits.retryAnswerBytesMax / 2);
    const full = sent([half, half]).body;
    expect(full.tooLarge).toBe(false);
    expect(full.bytes()).toHaveLength(limits.retryAnswerBytesMax);
    full.add(new Uint8Array(1));
    expect(full.tooLarge).toBe(true);
    // Answers that cannot be replayed take no memory.
    expect(full.add(half).bytes()).toHaveLength(0);
  });

  test("that is too large is remembered as a refusal, in the format of its surface", () => {
    const large = sent([new Uint8Array(limits.retryAnswerBytesMax + 1)], { "content-type": "text/event-stream" });
    const kept = storedAnswerOf(200, large, "openai", "req_1");
    expect(kept).toMatchObject({ status: 409, headers: [["content-type", "application/json"]] });
    expect(JSON.parse(Buffer.from(kept.body).toString())).toMatchObject({
      error: { code: "idempotency_answer_too_large", type: "invalid_request_error" },
    });
    const anthropic = storedAnswerOf(200, large, "anthropic", "req_1");
    expect(JSON.parse(Buffer.from(anthropic.body).toString())).toMatchObject({ type: "error", request_id: "req_1" });
  });
});
