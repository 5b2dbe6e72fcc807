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
