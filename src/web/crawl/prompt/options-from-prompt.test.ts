import { expect, test } from "bun:test";
import type { ModelContext, ModelQuestion, WebModel } from "../../model.ts";
import { modelOfPrompt, optionsFromPrompt } from "./options-from-prompt.ts";

// The model's answers are what the test is about; none of it reads the context.
const context = {} as ModelContext;

function modelSaying(answer: object): WebModel & { asked: ModelQuestion[] } {
  const asked: ModelQuestion[] = [];
  return {
    asked,
    ask: (question) => {
      asked.push(question);
      return Promise.resolve({ text: JSON.stringify(answer), spent: 7n });
    },
  };
}

const read = (answer: object) =>
  optionsFromPrompt(modelSaying(answer), { url: "https://a.org/docs/", prompt: "Only the blog." }, context);

test("valid options stay, and those that ask for nothing are left out", async () => {
  const options = { includePaths: ["^/blog/"], limit: 20, sitemap: "skip" };
  expect(await read({ ...options, excludePaths: null })).toEqual({ options, warning: undefined, spent: 7n });
});

test.each([
  ["a pattern that is none", { includePaths: ["(["] }, "includePaths"],
  ["a pattern that is too slow", { excludePaths: ["(a{100}){100}"] }, "excludePaths"],
  ["a limit beyond the greatest", { limit: 10_000_000 }, "limit"],
  ["a value of another type", { crawlEntireDomain: "yes" }, "crawlEntireDomain"],
  ["a receiver of messages", { webhook: "https://evil.test/" }, "webhook"],
  ["headers", { scrapeOptions: { headers: { authorization: "x" } } }, "scrapeOptions"],
  ["another start", { url: "https://evil.test/" }, "url"],
])("%s is left out, and named", async (_, answer, name) => {
  const { options, warning } = await read({ limit: 3, ...answer });
  expect(warning).toContain(name);
  expect(Object.keys(options)).toEqual("limit" in answer ? [] : ["limit"]);
});

test("the model gets the wish as data", async () => {
  const model = modelSaying({});
  await optionsFromPrompt(model, { url: "https://a.org/", prompt: 'Say "so"' }, context);
  expect(model.asked[0]?.text).toBe(JSON.stringify({ url: "https://a.org/", prompt: 'Say "so"' }));
  expect(() => modelOfPrompt(undefined)).toThrow("web.model");
});
