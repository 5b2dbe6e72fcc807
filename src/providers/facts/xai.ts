import { effortAlone, type FactRow, toolNames } from "./row.ts";

/** The limits of xAI's models. */
export const xaiRows: readonly FactRow[] = [
  {
    fact: "thoughts",
    dialects: ["chat"],
    takes: { reasoningField: "reasoning_content" },
    rule: "earlier thoughts in `reasoning_content`",
    source: "xai.md",
  },
  {
    fact: "efforts",
    models: ["grok-4.6*", "grok-4.7*", "grok-latest"],
    takes: { efforts: ["low", "medium", "high", "xhigh"] },
    rule: "efforts low to xhigh; they always think",
    source: "xai.md",
  },
  {
    fact: "efforts",
    models: ["grok-4.5*"],
    takes: { efforts: ["low", "medium", "high"] },
    rule: "efforts low to high; they always think",
    source: "xai.md",
  },
  {
    fact: "efforts",
    models: ["grok-3-mini*"],
    takes: { efforts: ["low", "high"] },
    rule: "efforts low and high",
    source: "xai.md",
  },
  {
    fact: "efforts",
    models: ["grok-4.20-multi-agent*"],
    takes: { efforts: ["none", "low", "medium", "high", "xhigh"] },
    rule: "efforts none, low to xhigh",
    source: "xai.md",
  },
  {
    fact: "efforts",
    models: ["grok-2*", "grok-3*", "grok-4", "grok-4-*", "grok-4.20*", "grok-code*", "grok-beta", "grok-vision*"],
    takes: { efforts: [] },
    rule: "no effort",
    source: "xai.md",
  },
  {
    fact: "efforts",
    takes: { efforts: ["none", "low", "medium", "high"] },
    rule: "efforts none, low to high",
    source: "xai.md",
  },
  {
    fact: "sampling",
    models: ["*-non-reasoning*"],
    dialects: ["chat"],
    takes: {},
    rule: "penalties: they don't think",
    source: "xai.md",
  },
  {
    fact: "sampling",
    models: ["grok-4*", "grok-code*", "grok-3-mini*"],
    dialects: ["chat"],
    takes: { refusedSampling: ["presence_penalty", "frequency_penalty"] },
    rule: "no penalties",
    source: "xai.md",
  },
  effortAlone("xai.md"),
  toolNames(64, "xai.md"),
];
