import { describe, expect, test } from "bun:test";
import type { ModelContext, ModelQuestion, WebModel } from "../model.ts";
import { askModel, requireModel } from "./ask-model.ts";
import { readFormats } from "./formats.ts";

// The model's answers are what the test is about; none of it reads the context.
const context = {} as ModelContext;

function modelSaying(text: string): WebModel & { asked: ModelQuestion[] } {
  const asked: ModelQuestion[] = [];
  return {
    asked,
    ask: (question) => {
      asked.push(question);
      return Promise.resolve({ text, spent: 5n });
    },
  };
}

const formats = readFormats([{ type: "json", schema: { type: "object" } }]);

describe("the format json", () => {
  test.each([
    ["plain", '{"a":1}'],
    ["fenced", 'Here it is:\n```json\n{"a":1}\n```\n'],
    ["among words", 'The answer is {"a":1}.'],
  ])("is read from an answer that is %s", async (_, text) => {
    expect(await askModel(modelSaying(text), formats, "page", context)).toEqual({
      made: { json: { a: 1 } },
      spent: 5n,
    });
  });

  test("is an error if the answer is none", async () => {
    const answer = askModel(modelSaying("I cannot"), formats, "page", context);
    expect(answer).rejects.toMatchObject({ code: "upstream_invalid_answer" });
    await answer.catch(() => undefined);
  });
});

test("summary and json are two questions, and their costs add up", async () => {
  const model = modelSaying('{"a":1}');
  const both = readFormats(["summary", { type: "json", prompt: "a" }]);
  const { spent } = await askModel(model, both, "page", context);
  expect(spent).toBe(10n);
  expect(model.asked.map(({ schema }) => schema !== undefined)).toEqual([false, true]);
});

test("a very long page is cut", async () => {
  const model = modelSaying("short");
  await askModel(model, readFormats(["summary"]), "x".repeat(1_000_000), context);
  expect(model.asked[0]?.text.length).toBe(240_000);
});

test("without a model, the formats that need one are refused", () => {
  expect(() => requireModel(readFormats(["summary"]), undefined)).toThrow("web.model");
  expect(() => requireModel(readFormats(["markdown"]), undefined)).not.toThrow();
});
