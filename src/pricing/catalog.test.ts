import { expect, test } from "bun:test";
import { catalogRow } from "./catalog.ts";

const caps: [string, string, number | undefined][] = [
  ["openai", "gpt-4o", 16_384],
  ["openai", "gpt-4o-mini-2024-07-18", 16_384],
  ["openai", "gpt-4.1-nano", 32_768],
  ["openai", "gpt-4-turbo-2024-04-09", 4_096],
  ["openai", "gpt-4", 8_192],
  ["openai", "gpt-3.5-turbo", 4_096],
  ["openai", "gpt-5-mini", 128_000],
  ["openai", "gpt-5.1-chat-latest", 16_384],
  ["openai", "o3-mini", 100_000],
  ["anthropic", "claude-haiku-4-5", 64_000],
  ["anthropic", "claude-3-5-haiku-latest", 8_192],
  ["anthropic", "claude-opus-4-1-20250805", 32_000],
  ["anthropic", "claude-opus-4-20250514", 32_000],
  ["anthropic", "claude-opus-4-6", 128_000],
  ["anthropic", "claude-sonnet-4-6", 64_000],
  ["anthropic", "claude-sonnet-5", 128_000],
  ["google", "gemini-2.0-flash", 8_192],
  ["google", "gemini-2.5-pro", 65_536],
  ["deepseek", "deepseek-chat", 8_192],
  ["byteplus", "seed-1-8-251228", 64_000],
  ["byteplus", "seed-1-6-flash-250715", 32_000],
  ["deepseek", "deepseek-v4-pro", undefined],
  ["openai", "my-model", undefined],
  ["openai", "gpt-4o-mini-transcribe-2025-12-15", 2_000],
  ["openai", "gpt-image-1", 6_540],
  ["openai", "gpt-image-1.5", 6_540],
  ["openai", "gpt-image-2", undefined],
  ["google", "gemini-2.5-flash-image", 32_768],
  ["google", "gemini-3.1-flash-lite-image", 32_768],
  // A matching name is not enough: it must be in the list of the model's provider.
  ["mistral", "gpt-4o", undefined],
];

test.each(caps)("%s's %s writes at most %p tokens", (provider, model, cap) => {
  expect(catalogRow(provider, model)?.maxOutputTokens).toBe(cap);
});
