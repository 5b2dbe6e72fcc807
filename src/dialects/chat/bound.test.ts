import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodedSizeOf } from "../../bodies/index.ts";
import { UNKNOWN_PART_TOKENS } from "../../core/index.ts";
import { boundChat } from "./bound.ts";
import { chatRequest } from "./request.ts";

const bound = (body: object) =>
  boundChat(
    chatRequest.parse({ model: "openai/x", messages: [{ role: "user", content: "" }], ...body }),
    decodedSizeOf,
  );
const inputOf = (...messages: object[]): number => bound({ messages }).inputTokens;

describe("output", () => {
  test.each<[object, number | undefined, number]>([
    [{}, undefined, 1],
    [{ max_tokens: 10 }, 10, 1],
    [{ max_completion_tokens: 10 }, 10, 1],
    [{ max_tokens: 10, max_completion_tokens: null }, 10, 1],
    [{ max_tokens: null, n: null }, undefined, 1],
    [{ max_tokens: 10, n: 4 }, 10, 4],
    // An upstream may go by either name.
    [{ max_tokens: 100_000, max_completion_tokens: 1 }, 100_000, 1],
    [{ max_tokens: 1, max_completion_tokens: 100_000 }, 100_000, 1],
  ])("of %j", (body, outputTokens, choices) => {
    expect(bound(body)).toMatchObject({ outputTokens, choices });
  });
});

describe("buckets", () => {
  const text = (cache_control?: object) => ({
    messages: [{ role: "user", content: [{ type: "text", text: "", cache_control }] }],
  });

  test.each<[object, object]>([
    [{}, { inputBuckets: ["cacheWrite5m"] }],
    [text({ type: "ephemeral" }), { inputBuckets: ["cacheWrite5m"] }],
    [text({ type: "ephemeral", ttl: "1h" }), { inputBuckets: ["cacheWrite5m", "cacheWrite1h"] }],
    [{ modalities: ["text"] }, {}],
    [{ modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }, { outputBuckets: ["outputAudio"] }],
    [{ modalities: ["image", "text"] }, { outputBuckets: ["outputImage"] }],
    [{ modalities: "audio" }, {}],
  ])("of %j", (body, buckets) => {
    expect(bound(body)).toMatchObject(buckets);
    if (!("outputBuckets" in buckets)) expect(bound(body).outputBuckets).toBeUndefined();
  });
});

describe("input", () => {
  const empty = inputOf({ role: "user", content: "" });

  test("of a text is at least its bytes: no token holds less than one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(inputOf({ role: "user", content: text })).toBe(empty + Buffer.byteLength(text));
      }),
    );
  });

  test("of a part of text is that of the text", () => {
    expect(inputOf({ role: "user", content: [{ type: "text", text: "héllo" }] })).toBe(empty + 6);
  });

  test("of every message includes the tokens that a template adds around it", () => {
    expect(empty).toBeGreaterThanOrEqual(10);
    expect(inputOf({ role: "user", content: "" }, { role: "assistant", content: "" })).toBe(2 * empty);
    expect(inputOf({ role: "assistant", content: null })).toBe(empty);
    expect(inputOf({ role: "assistant" })).toBe(empty);
  });

  test("of all other content of a message is at least its bytes", () => {
    const call = { id: "call_1", type: "function", function: { name: "f", arguments: "x".repeat(500) } };
    expect(inputOf({ role: "assistant", content: null, tool_calls: [call] })).toBeGreaterThanOrEqual(
      empty + JSON.stringify([call]).length,
    );
    expect(inputOf({ role: "user", name: "n".repeat(60), content: "" })).toBeGreaterThanOrEqual(empty + 60);
    expect(inputOf({ role: "assistant", content: "", reasoning_content: "r".repeat(70) })).toBeGreaterThanOrEqual(
      empty + 70,
    );
  });

  test.each(["tools", "functions", "response_format"])("of %s is at least its bytes", (key) => {
    const value = [{ description: "é".repeat(100) }];
    expect(bound({ [key]: value }).inputTokens - bound({}).inputTokens).toBeGreaterThanOrEqual(
      Buffer.byteLength(JSON.stringify(value)),
    );
  });

  test("of a picture does not follow from its length", () => {
    const picture = (url: string) => inputOf({ role: "user", content: [{ type: "image_url", image_url: { url } }] });
    expect(picture(`data:image/png;base64,${"A".repeat(1_000_000)}`)).toBe(picture("https://x.test/a.png"));
    expect(picture("https://x.test/a.png")).toBe(empty + 20_000);
  });

  test("of sound is a token for each 32 bytes, with a price of its own", () => {
    const data = "A".repeat(9_998);
    const messages = [{ role: "user", content: [{ type: "input_audio", input_audio: { data, format: "wav" } }] }];
    // With its quotes.
    const tokens = Math.ceil(10_000 / 32);
    expect(bound({ messages })).toMatchObject({
      inputTokens: empty + tokens,
      inputParts: { inputAudio: tokens, inputImage: 0 },
    });
  });

  test("of a file of text is at least its bytes; any other has at most as many tokens as are assumed", () => {
    const fileOf = (file_data: string) => inputOf({ role: "user", content: [{ type: "file", file: { file_data } }] });
    const long = "A".repeat(200_000);
    expect(fileOf("A".repeat(10_000))).toBeGreaterThan(10_000);
    expect(fileOf(`data:text/csv;base64,${long}`)).toBeGreaterThan(200_000);
    expect(fileOf(`data:application/pdf;base64,${long}`)).toBe(empty + UNKNOWN_PART_TOKENS);
  });

  test.each<[string, object]>([
    ["a stored file", { type: "file", file: { file_id: "file-1" } }],
    ["a stored file beside data", { type: "file", file: { file_id: "file-1", file_data: "AAAA" } }],
    ["a file by its address", { type: "file", file: { file_url: "https://x.test/a.pdf" } }],
    ["a file whose data is an address", { type: "file", file: { file_data: "https://x.test/a.pdf" } }],
    ["a file without anything", { type: "file" }],
    ["a document", { type: "document_url", document_url: "https://x.test/a.pdf" }],
    ["sound by its address", { type: "input_audio", input_audio: { url: "https://x.test/a.wav" } }],
    ["sound by its address alone", { type: "input_audio", input_audio: "https://x.test/a.wav" }],
    ["sound whose data is an address", { type: "input_audio", input_audio: { data: "https://x.test/a.wav" } }],
    ["a video", { type: "video_url", video_url: { url: "https://x.test/a.mp4" } }],
    ["what is yet to be invented", { type: "scent", scent: "rose" }],
  ])("of %s is unknown: as much as is assumed", (_title, part) => {
    expect(inputOf({ role: "user", content: [part] })).toBe(empty + UNKNOWN_PART_TOKENS);
  });

  test("of an unknown part is no less than its bytes", () => {
    const url = `data:video/mp4;base64,${"A".repeat(2_000_000)}`;
    expect(inputOf({ role: "user", content: [{ type: "video_url", video_url: { url } }] })).toBeGreaterThan(2_000_000);
  });

  test("of a refusal is at least its bytes, and of data in a URL too", () => {
    const parts = [
      { type: "refusal", refusal: "No." },
      { type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } },
    ];
    for (const part of parts) {
      expect(inputOf({ role: "assistant", content: [part] })).toBe(empty + JSON.stringify(part).length);
    }
  });

  test.each(["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", ""])(
    "of a part of type %p is a number",
    (type) => {
      expect(inputOf({ role: "user", content: [{ type, text: "abc" }] })).toBe(empty + UNKNOWN_PART_TOKENS);
    },
  );

  test("of any body is at least the bytes of its texts", () => {
    const content = fc.oneof(
      fc.string(),
      fc.array(fc.record({ type: fc.constant("text"), text: fc.string() })),
      fc.constant(null),
    );
    fc.assert(
      fc.property(
        fc.array(fc.record({ role: fc.constantFrom("user", "system"), content }), { minLength: 1, maxLength: 5 }),
        (messages) => {
          const texts = messages.flatMap((one) =>
            Array.isArray(one.content) ? one.content.map(({ text }) => text) : [one.content ?? ""],
          );
          expect(inputOf(...messages)).toBeGreaterThanOrEqual(
            texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
          );
        },
      ),
    );
  });
});
