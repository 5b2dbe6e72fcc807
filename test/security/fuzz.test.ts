/** Bounded runs of whatever chance brings; a failure prints the seed that brings it again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatPath, expectNoInside, openRaw } from "../kit/index.ts";
import { goodMessages, goodModel, type Hardened, startHardened } from "./hardened.ts";

let gateway: Hardened;
beforeAll(async () => {
  gateway = await startHardened();
});
afterEach(() => gateway.expectUnharmed());
afterAll(() => gateway.rig.stop());

describe("anything at all", () => {
  /** Neither an error of the gateway's own making nor a word about its inside. */
  async function expectSane(body: string | Uint8Array): Promise<void> {
    const { answer, body: text } = await gateway.post(body);
    expect({ sent: body, status: answer.status, sane: answer.status < 500 }).toMatchObject({ sane: true });
    expect(answer.headers.get("x-request-id")).not.toBeNull();
    if (answer.status >= 400) expectNoInside(text);
  }

  test("bytes", async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), expectSane), { numRuns: 60 });
  });

  test("a good body with some of it replaced", async () => {
    const good = `{${goodModel},${goodMessages},"max_tokens":5,"n":1,"stream":false,"stream_options":{"include_usage":true}}`;
    const piece = fc.oneof(
      fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "null", "1e9", "-", "\\u0000", "\u0000"),
      fc.string({ maxLength: 3 }),
    );
    const change = fc.record({ at: fc.nat(good.length), length: fc.nat(8), piece });
    await fc.assert(
      fc.asyncProperty(change, ({ at, length, piece: text }) =>
        expectSane(good.slice(0, at) + text + good.slice(at + length)),
      ),
      { numRuns: 150 },
    );
  });

  test("any JSON in each of the known members", async () => {
    const key = fc.constantFrom(
      "model",
      "messages",
      "stream",
      "stream_options",
      "max_tokens",
      "max_completion_tokens",
      "n",
      "tools",
      "response_format",
    );
    await fc.assert(
      fc.asyncProperty(key, fc.jsonValue({ maxDepth: 3 }), (member, value) =>
        expectSane(
          JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "hi" }], [member]: value }),
        ),
      ),
      { numRuns: 150 },
    );
  });

  test("messages of any shape", async () => {
    const content = fc.oneof(
      fc.string(),
      fc.constant(null),
      fc.array(fc.record({ type: fc.constantFrom("text", "image_url", "x"), text: fc.jsonValue() })),
    );
    const message = fc.record({
      role: fc.constantFrom("user", "assistant", "system", "tool", ""),
      content,
      extra: fc.jsonValue({ maxDepth: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 3 }), (list) =>
        expectSane(JSON.stringify({ model: "openai/gpt-4o-mini", messages: list })),
      ),
      { numRuns: 80 },
    );
  });

  test("on the wire", async () => {
    const piece = fc.constantFrom(
      "POST ",
      "GET ",
      chatPath,
      " HTTP/1.1",
      "\r\n",
      "\r\n\r\n",
      "host: x",
      "content-length: 5",
      "transfer-encoding: chunked",
      "{}",
      ":",
      "\u0000",
      "5",
      "%",
      "\n",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const connection = await openRaw(gateway.rig.gateway.url);
        connection.socket.end(pieces.join(""));
        await connection.closed;
        connection.socket.destroy();
        expect(connection.received()).not.toMatch(/HTTP\/1\.1 5(?!05)/);
      }),
      { numRuns: 60 },
    );
  });
});
test("after all of it the books balance and nothing failed within", () => gateway.expectNoFailure());
