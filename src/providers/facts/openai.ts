import { effortAlone, type FactRow, toolNames } from "./row.ts";

const refusedSampling = ["temperature", "top_p", "presence_penalty", "frequency_penalty"];

/** Models whose sampling can be chosen while they don't think. */
const samplesWithoutThought = ["gpt-5.*", "gpt-6-sol*", "gpt-6-luna*", "gpt-6.1-terra*"];

/** The limits of OpenAI's models. */
export const openaiRows: readonly FactRow[] = [
  {
    fact: "roles",
    takes: { developerRole: true },
    rule: "`developer` beside `system`",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["o1*", "o3*", "o4*"],
    takes: { efforts: ["low", "medium", "high"] },
    rule: "efforts low to high",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-20*", "gpt-5-mini-20*", "gpt-5-nano-20*"],
    takes: { efforts: ["minimal", "low", "medium", "high"] },
    rule: "efforts minimal to high",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["gpt-5.1", "gpt-5.1-*"],
    takes: { efforts: ["none", "low", "medium", "high"] },
    rule: "efforts none, low to high",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["gpt-5.*"],
    takes: { efforts: ["none", "low", "medium", "high", "xhigh"] },
    rule: "efforts none, low to xhigh",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["gpt-6-astra*", "gpt-6.1-sol*"],
    takes: { efforts: ["low", "medium", "high", "xhigh", "max"] },
    rule: "efforts low to max; they always think",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["gpt-6-sol*", "gpt-6-luna*", "gpt-6.1-terra*"],
    takes: { efforts: ["none", "low", "medium", "high", "xhigh", "max"] },
    rule: "efforts none, low to max",
    source: "openai.md",
  },
  {
    fact: "efforts",
    models: ["gpt-3.5*", "gpt-4*", "chatgpt-4o*", "gpt-audio*"],
    dialects: ["responses"],
    takes: { efforts: [] },
    rule: "no effort: they don't think",
    source: "openai.md",
  },
  {
    fact: "thoughts",
    models: ["gpt-3.5*", "gpt-4*", "chatgpt-4o*", "gpt-audio*"],
    dialects: ["responses"],
    takes: {},
    rule: "no thoughts",
    source: "openai.md",
  },
  {
    fact: "thoughts",
    dialects: ["responses"],
    takes: { summarizesThoughts: true },
    rule: "a summary of thoughts on demand",
    source: "openai.md",
  },
  {
    fact: "sampling",
    models: ["*-chat", "*-chat-*", "*-search", "*-search-*"],
    takes: {},
    rule: "sampling parameters: they don't think",
    source: "openai.md",
  },
  {
    fact: "sampling",
    models: samplesWithoutThought,
    takes: { refusedSampling, samplesWithoutThought: true },
    rule: "sampling parameters with the effort none alone",
    source: "openai.md",
  },
  {
    fact: "sampling",
    models: ["o1*", "o3*", "o4*", "gpt-5*", "gpt-6*", "codex*"],
    takes: { refusedSampling },
    rule: "no sampling parameters but the defaults",
    source: "openai.md",
  },
  {
    fact: "chat-tools",
    models: ["*-chat", "*-chat-*", "*-search", "*-search-*"],
    dialects: ["chat"],
    takes: {},
    rule: "functions: they don't think",
    source: "openai.md",
  },
  {
    fact: "chat-tools",
    models: ["gpt-5.4*", "gpt-5.5*", "gpt-5.6*", "gpt-6*"],
    dialects: ["chat"],
    takes: { toolsWithoutThought: true },
    rule: "functions with the effort none alone; otherwise they are sent to Responses, with `store: false`",
    source: "openai.md",
  },
  {
    fact: "output-limit",
    models: ["*-chat", "*-chat-*", "*-search", "*-search-*"],
    takes: {},
    rule: "both names of the limit: they don't think",
    source: "openai.md",
  },
  {
    fact: "output-limit",
    models: ["o1*", "o3*", "o4*", "gpt-5*", "gpt-6*", "codex*"],
    dialects: ["chat"],
    takes: { newLimitName: true },
    rule: "`max_completion_tokens`, not `max_tokens`",
    source: "openai.md",
  },
  effortAlone("openai.md"),
  toolNames(64, "openai.md"),
];
