import { describe, expect, test } from "bun:test";
import { createProvider } from "../registry.ts";
import type { PresetName } from "../../config/index.ts";
import { choosePreset, presets } from "./presets.ts";

describe("the output limit", () => {
  test.each<[PresetName, boolean]>([
    ["deepseek", true],
    ["mistral", true],
    ["perplexity", true],
    ["groq", false],
    ["moonshot", false],
    ["vllm", false],
    ["generic", false],
  ])("is sent to %s under its old name: %p", (preset, renamed) => {
    const { chat } = createProvider({ kind: "openai-compatible", preset, baseUrl: "http://x.test" }).operations;
    const edits = chat?.edits({ model: "m", messages: [], max_completion_tokens: 5 }, "m");
    expect(edits).toEqual(renamed ? [{ rename: "max_completion_tokens", to: "max_tokens" }] : []);
  });
});

describe("the preset", () => {
  test.each<[string, PresetName]>([
    ["https://api.deepseek.com/v1", "deepseek"],
    ["https://api.mistral.ai/v1", "mistral"],
    ["https://api.groq.com/openai/v1", "groq"],
    ["https://api.moonshot.cn/v1", "moonshot"],
    ["https://api.perplexity.ai", "perplexity"],
    ["https://notdeepseek.com/v1", "generic"],
    ["https://deepseek.com.evil.test/v1", "generic"],
    ["http://127.0.0.1:11434/v1", "generic"],
  ])("of %s is %s", (baseUrl, preset) => {
    expect(choosePreset(undefined, baseUrl)).toBe(preset);
  });

  test("takes precedence over the URL if it is configured", () => {
    for (const name of Object.keys(presets) as PresetName[]) {
      expect(choosePreset(name, "https://api.mistral.ai/v1")).toBe(name);
    }
  });
});

describe("the dialects", () => {
  const operationsOf = (preset: PresetName, dialects?: ("chat" | "responses" | "messages")[]) =>
    createProvider({ kind: "openai-compatible", preset, baseUrl: "http://x.test", dialects }).operations;

  test.each<[PresetName, string[]]>([
    ["openrouter", ["chat", "responses"]],
    ["deepseek", ["chat", "responses"]],
    ["vllm", ["chat"]],
    ["generic", ["chat"]],
  ])("of %s are %p, unless others are configured", (preset, dialects) => {
    const kinds = (own?: ("chat" | "responses" | "messages")[]): unknown[] =>
      Object.values(operationsOf(preset, own)).flatMap(({ dialect }) => dialect ?? []);
    expect(kinds()).toEqual(dialects);
    expect(kinds(["messages"])).toContain("messages");
    expect(kinds(["messages"])).not.toContain("responses");
  });

  test("the cost that OpenRouter reports in Responses wins", () => {
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost: 0.0042, is_byok: false };
    const answer = { id: "resp_1", object: "response", model: "m", output: [], usage };
    expect(operationsOf("openrouter").responses?.readUsage(answer)).toMatchObject({
      usage: { input: 10, output: 5 },
      reportedCost: 4_200_000n,
    });
  });
});
