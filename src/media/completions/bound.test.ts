import { describe, expect, test } from "bun:test";
import { decodedSizeOf } from "../../bodies/index.ts";
import { boundCompletion } from "./bound.ts";
import { completionRequest } from "./request.ts";

const bound = (body: object) => boundCompletion(completionRequest.parse({ model: "up/m", ...body }), decodedSizeOf);

/** Tokens that a model may add around each prompt. */
const around = 8;

describe("the bound", () => {
  test.each<[string, object, object]>([
    ["a prompt: its bytes", { prompt: "größer" }, { inputTokens: 8 + around, choices: 1, outputTokens: undefined }],
    ["no prompt: one token", {}, { inputTokens: 1, choices: 1 }],
    ["a prompt that is null", { prompt: null, suffix: null, n: null }, { inputTokens: 1, choices: 1 }],
    [
      "the suffix too",
      { prompt: "abcd", suffix: "12345678" },
      { inputTokens: 12 + around, expectedInput: { input: 3 } },
    ],
    ["the ids of a prompt's tokens", { prompt: [7, 8, 9] }, { inputTokens: 3 + around, inputs: 1, choices: 1 }],
    ["choices of each prompt", { prompt: ["a", "b", "c"], n: 2 }, { inputs: 3, choices: 6 }],
    ["all that are generated", { prompt: ["a", "b"], n: 2, best_of: 5 }, { inputs: 2, choices: 10 }],
    ["the limit", { prompt: "a", max_tokens: 0 }, { outputTokens: 0 }],
  ])("of %s", (_title, body, expected) => {
    expect(bound(body)).toMatchObject(expected);
  });
});
