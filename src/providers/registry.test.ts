import { expect, test } from "bun:test";
import { createProvider } from "./registry.ts";

const answer = { usage: { input_tokens: 100, cache_read_input_tokens: 60, output_tokens: 5 } };
const inputOf = (baseUrl: string, usageIncludesCache?: boolean) =>
  createProvider({ kind: "anthropic", baseUrl, usageIncludesCache }).operations.messages?.readUsage(answer)?.usage
    .input;

test.each([
  ["https://api.anthropic.com", 100],
  ["https://api.moonshot.ai/anthropic", 40],
  ["https://api.moonshot.cn/anthropic", 40],
  ["https://api.kimi.com/coding", 40],
  ["https://dashscope-intl.aliyuncs.com/apps/anthropic", 40],
  ["https://dashscope.aliyuncs.com.example.com", 100],
])("whether the input of %s contains the cache", (baseUrl, input) => {
  expect(inputOf(baseUrl)).toBe(input);
  expect(inputOf(baseUrl, true)).toBe(40);
  expect(inputOf(baseUrl, false)).toBe(100);
});
