import type { FactRow } from "./row.ts";

/** The models before 4, and those that no name tells apart from them. */
const withoutThought = ["claude-1*", "claude-2*", "claude-v1*", "claude-instant*", "claude-3*"];

const refusedSampling = ["temperature", "top_p", "top_k"];

/** The limits of Claude. Of a row's globs `claude-*-4*` comes before `claude-*-5*`, which 4.5 would match too. */
export const anthropicRows: readonly FactRow[] = [
  {
    fact: "roles",
    dialects: ["chat"],
    takes: { developerRole: true },
    rule: "`developer` beside `system`",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: ["claude-3-7*"],
    dialects: ["messages"],
    takes: { thinking: "budget" },
    rule: "thinking by a budget",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: withoutThought,
    dialects: ["messages"],
    takes: { thinking: "none" },
    rule: "no thinking",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: ["claude-*-4-7*", "claude-*-4-8*"],
    dialects: ["messages"],
    takes: { thinking: "adaptive" },
    rule: "adaptive thinking, no budgets",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: ["claude-*-4*"],
    dialects: ["messages"],
    takes: { thinking: "budget" },
    rule: "thinking by a budget",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: ["claude-opus-5-5*", "claude-sonnet-5-5*"],
    dialects: ["messages"],
    takes: { thinking: "adaptive", alwaysThinks: "between-tools" },
    rule: "adaptive thinking, no budgets; it can be limited to `between_tools`, not switched off",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: ["claude-fable*"],
    dialects: ["messages"],
    takes: { thinking: "adaptive", alwaysThinks: "yes" },
    rule: "adaptive thinking, no budgets; it can't be switched off",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    models: ["claude-*"],
    dialects: ["messages"],
    takes: { thinking: "adaptive" },
    rule: "adaptive thinking, no budgets",
    source: "anthropic.md",
  },
  {
    fact: "thinking",
    dialects: ["messages"],
    takes: { thinking: "none" },
    rule: "no thinking",
    source: "anthropic.md",
  },
  {
    fact: "forced-tools",
    models: ["claude-opus-5-5*", "claude-sonnet-5-5*", "claude-fable-5-1*", "claude-fable-5-2*", "claude-mythos*"],
    takes: { freeToolChoice: true },
    rule: "no choice that forces a tool",
    source: "anthropic.md",
  },
  {
    fact: "sampling",
    models: ["claude-*-4-7*", "claude-*-4-8*"],
    takes: { refusedSampling },
    rule: "no sampling parameters but the defaults",
    source: "anthropic.md",
  },
  {
    fact: "sampling",
    models: [...withoutThought, "claude-*-4*"],
    takes: {},
    rule: "sampling parameters",
    source: "anthropic.md",
  },
  {
    fact: "sampling",
    models: ["claude-*"],
    takes: { refusedSampling },
    rule: "no sampling parameters but the defaults",
    source: "anthropic.md",
  },
  {
    fact: "formats",
    models: ["claude-opus-4-1*", "claude-*-4-5*", "claude-*-4-6*", "claude-*-4-7*", "claude-*-4-8*"],
    dialects: ["messages"],
    takes: {},
    rule: "answers by a schema",
    source: "anthropic.md",
  },
  {
    fact: "formats",
    models: [...withoutThought, "claude-*-4*"],
    dialects: ["messages"],
    takes: { formats: "none" },
    rule: "no formats of answers",
    source: "anthropic.md",
  },
  {
    fact: "formats",
    models: ["claude-*"],
    dialects: ["messages"],
    takes: {},
    rule: "answers by a schema",
    source: "anthropic.md",
  },
  {
    fact: "formats",
    dialects: ["messages"],
    takes: { formats: "none" },
    rule: "no formats of answers",
    source: "anthropic.md",
  },
];
