import type { CatalogRate } from "../../../src/pricing/index.ts";
import type { ProviderCorrections } from "./correction.ts";

const models = "https://platform.claude.com/docs/en/about-claude/models/overview";

const pricing = "https://platform.claude.com/docs/en/about-claude/pricing";

function above200k(base: number, price: number): CatalogRate {
  return { base, tiers: [{ start: 200_000, price }] };
}

export const anthropic: ProviderCorrections = {
  tools: { prices: { web_searches_kcount: 10 }, source: `${pricing} ("Web search tool")` },
  corrections: [
    { names: ["claude-sonnet-4-6"], source: `${models} (64K output tokens)`, maxOutputTokens: 64_000 },
    {
      names: ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-0", "claude-sonnet-4-20250514"],
      source: `${pricing} ("Long context": a prompt of more than 200K tokens costs more with these models)`,
      change: {
        input_mtok: above200k(3, 6),
        cache_read_mtok: above200k(0.3, 0.6),
        cache_write_mtok: above200k(3.75, 7.5),
        cache_write_1h_mtok: above200k(6, 12),
        output_mtok: above200k(15, 22.5),
      },
    },
    {
      names: ["claude-opus-4-6", "claude-opus-4-6-20260205"],
      source: "https://platform.claude.com/docs/en/build-with-claude/fast-mode (6 times the usual price)",
      change: { service_tiers: { fast: 6 } },
    },
    {
      names: ["claude-fable-5-2"],
      source:
        "https://docs.laozhang.ai/en/announcements/claude-fable-5-2-2026-11.md, which states Anthropic's list price",
      contextWindow: 1_000_000,
      maxOutputTokens: 128_000,
      reasoning: true,
      prices: {
        input_mtok: 8,
        cache_read_mtok: 0.2,
        cache_write_mtok: 10,
        cache_write_1h_mtok: 16,
        output_mtok: 40,
        web_searches_kcount: 10,
      },
    },
  ],
  families: [
    { family: "claude-3-5*", maxOutputTokens: 8_192, source: models },
    { family: "claude-3-7*", maxOutputTokens: 64_000, source: models },
    { family: "claude-3*", maxOutputTokens: 4_096, source: models },
    { family: "claude-2*", maxOutputTokens: 4_096, source: models },
    { family: "claude-opus-4-0*", maxOutputTokens: 32_000, source: models },
    { family: "claude-opus-4", maxOutputTokens: 32_000, source: models },
    { family: "claude-opus-4-1*", maxOutputTokens: 32_000, source: models },
    { family: "claude-opus-4-2*", maxOutputTokens: 32_000, source: models },
    { family: "claude-opus-4-5*", maxOutputTokens: 64_000, source: models },
    { family: "claude-sonnet-4*", maxOutputTokens: 64_000, source: models },
    { family: "claude-haiku-4*", maxOutputTokens: 64_000, source: models },
    { family: "claude-*", maxOutputTokens: 128_000, source: models },
  ],
};
