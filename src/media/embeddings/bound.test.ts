import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { IMAGE_TOKENS_MAX, UNKNOWN_PART_TOKENS } from "../../core/index.ts";
import { boundEmbeddings } from "./bound.ts";
import { embeddingsRequest } from "./request.ts";

const parse = (more: object) => embeddingsRequest.safeParse({ model: "openai/text-embedding-3-small", ...more });
const bound = (input: unknown) => boundEmbeddings(embeddingsRequest.parse({ model: "openai/x", input }), decodedSizeOf);

/** Tokens that a model may add around each entry. */
const around = 8;
const picture = { type: "image_url", image_url: { url: "https://pictures.example/cat.png" } };
const film = { type: "video_url", video_url: { url: "https://films.example/cat.mp4" } };

describe("the bound", () => {
  test.each<[string, unknown, { inputTokens: number; inputs: number; expectedInput: { input: number } }]>([
    ["a text: its bytes", "größer", { inputTokens: 8 + around, inputs: 1, expectedInput: { input: 2 } }],
    [
      "texts: all their bytes",
      ["abcd", "efghi"],
      { inputTokens: 9 + 2 * around, inputs: 2, expectedInput: { input: 3 } },
    ],
    ["an empty text", "", { inputTokens: around, inputs: 1, expectedInput: { input: 0 } }],
    ["token ids: their number", [70_000, 2, 3], { inputTokens: 3 + around, inputs: 1, expectedInput: { input: 3 } }],
    [
      "lists of token ids: the number of all",
      [[1, 2, 3], [], [4]],
      { inputTokens: 4 + 3 * around, inputs: 3, expectedInput: { input: 4 } },
    ],
    [
      "a text as a part, and a picture",
      [{ type: "text", text: "abcd" }, picture],
      { inputTokens: 4 + IMAGE_TOKENS_MAX + 2 * around, inputs: 2, expectedInput: { input: 1 + IMAGE_TOKENS_MAX / 4 } },
    ],
    [
      "what nothing tells the size of",
      [film],
      { inputTokens: UNKNOWN_PART_TOKENS + around, inputs: 1, expectedInput: { input: UNKNOWN_PART_TOKENS / 4 } },
    ],
  ])("of %s", (_title, input, expected) => {
    expect(bound(input)).toEqual({ ...expected, inputBuckets: ["inputImage"], outputTokens: 0, choices: 1 });
  });
});

describe("the body", () => {
  test.each<[object]>([
    [{ input: "x" }],
    [{ input: ["x", "y"], dimensions: 256, encoding_format: "base64", user: "u" }],
    [{ input: [1, 2], dimensions: null, encoding_format: null, stream: false }],
    [{ input: [[1], [2]] }],
    [{ input: [{ type: "text", text: "x" }] }],
  ])("may be %j", (body) => {
    expect(parse(body).success).toBe(true);
  });

  test.each<[object, string]>([
    [{}, "input"],
    [{ input: null }, "input"],
    [{ input: 7 }, "input"],
    [{ input: [] }, "input"],
    [{ input: { type: "text" } }, "input"],
    [{ input: ["x", null] }, "input"],
    [{ input: [1.5] }, "input"],
    [{ input: [-1] }, "input"],
    [{ input: [[1, "x"]] }, "input"],
    [{ input: [[[1]]] }, "input"],
    [{ input: "x", dimensions: 0 }, "dimensions"],
    [{ input: "x", encoding_format: 7 }, "encoding_format"],
    [{ input: "x", stream: true }, "stream"],
  ])("may not be %j: %s", (body, field) => {
    expect(parse(body).error?.issues.map(({ path }) => path.join("."))).toEqual([field]);
  });

  test("notes one issue for a list, however many of its entries are wrong", () => {
    const { error } = parse({ input: Array.from({ length: 200_000 }, () => true) });
    expect(error?.issues).toHaveLength(1);
  });
});
