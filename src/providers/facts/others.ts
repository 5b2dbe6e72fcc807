import type { PresetName } from "../../config/index.ts";
import type { ModelFacts } from "../../core/index.ts";
import { clientTools, effortAlone, type FactRow, foreignItems, toolNames } from "./row.ts";

const source = "others.md";

/** Templates of open models raise an error for a `system` that is not the first message. */
const systemFirst: FactRow = {
  fact: "roles",
  takes: { systemFirst: true },
  rule: "`system` as the first message alone, no `developer`",
  source,
};

/** Any server of open models may show the thoughts of some of them in the content. */
function thoughts(reasoningField: ModelFacts["reasoningField"], rule: string): FactRow {
  return {
    fact: "thoughts",
    takes: { thinkTags: true, ...(reasoningField === undefined ? {} : { reasoningField }) },
    rule,
    source,
  };
}

const shown = thoughts("as-shown", "thoughts in the member in which they came, within a loop of tool calls");
const inReasoningContent = thoughts("reasoning_content", "earlier thoughts in `reasoning_content`");
const inReasoning = thoughts("reasoning", "earlier thoughts in `reasoning`");

const names = toolNames(64, source);

/** Servers with Responses of their own take free text there. */
const ofClients = [clientTools(["custom"], source, ["responses"]), clientTools([], source, ["chat"])];
const tools = [...ofClients, foreignItems(["openai", "xai", "others"], source)];

/** For any server of open models. */
const usual = [systemFirst, shown, ...tools];

/** The limits of the models of OpenAI-compatible upstreams. */
export const otherRows: Readonly<Record<PresetName, readonly FactRow[]>> = {
  generic: usual,
  deepseek: [
    {
      fact: "thoughts",
      dialects: ["responses"],
      takes: { plainThoughts: true },
      rule: "earlier thoughts as `reasoning_text`, those of others by their text alone",
      source,
    },
    inReasoningContent,
    { fact: "formats", takes: { formats: "json" }, rule: "JSON without a schema", source },
    {
      fact: "efforts",
      takes: { efforts: ["low", "high", "max"], hasThinkingSwitch: true },
      rule: "efforts low, high and max; `thinking` switches it off",
      source,
    },
    {
      fact: "thinking",
      models: ["deepseek-chat*"],
      takes: {},
      rule: "tools, whatever earlier answers have: it thinks on demand",
      source,
    },
    {
      fact: "thinking",
      takes: { needsThoughts: true },
      rule: "with tools, earlier answers with their `reasoning_content` (in Responses `reasoning_text`) alone, unless thinking is off",
      source,
    },
    {
      fact: "prefill",
      takes: { marksPrefill: true },
      rule: "an answer to continue with `prefix: true`, at the base `/beta`",
      source,
    },
    {
      fact: "call-order",
      dialects: ["responses"],
      takes: { callsLast: true },
      rule: "the calls of an answer behind its text, directly before their results",
      source,
    },
    ...ofClients,
    foreignItems(["openai", "xai", "others", "compactions"], source),
    names,
  ],
  mistral: [
    systemFirst,
    thoughts("part", "earlier thoughts as a part of the content, `thinking`"),
    {
      fact: "answer",
      models: ["magistral*"],
      takes: { showsThoughtParts: "always" },
      rule: "answers with their thoughts among the parts of the content: a text and `reasoning_content` for clients",
      source,
    },
    {
      fact: "answer",
      takes: { showsThoughtParts: "asked" },
      rule: "the same if they are asked to think",
      source,
    },
    { fact: "efforts", takes: { efforts: ["none", "high"] }, rule: "efforts none and high", source },
    { fact: "call-ids", takes: { shortCallIds: true }, rule: "ids of calls of nine letters and digits", source },
    {
      fact: "members",
      dialects: ["chat"],
      takes: { messageMembers: ["role", "content", "prefix", "tool_calls", "tool_call_id"] },
      rule: "messages of `role`, `content`, `prefix`, `tool_calls` and `tool_call_id` alone, a `name` with results of tools",
      source,
    },
    { fact: "prefill", takes: { marksPrefill: true }, rule: "an answer to continue with `prefix: true`", source },
    effortAlone(source),
    ...tools,
    names,
  ],
  groq: [
    inReasoning,
    effortAlone(source),
    { fact: "members", dialects: ["chat"], takes: { noMessageNames: true }, rule: "messages without a `name`", source },
    ...tools,
    names,
  ],
  moonshot: [
    inReasoningContent,
    {
      fact: "efforts",
      models: ["kimi-k3*"],
      takes: { efforts: ["low", "high", "max"] },
      rule: "efforts low, high and max",
      source,
    },
    {
      fact: "sampling",
      models: ["kimi-*"],
      takes: { refusedSampling: ["temperature", "top_p", "presence_penalty", "frequency_penalty"] },
      rule: "no sampling parameters but the defaults",
      source,
    },
    {
      fact: "images",
      takes: { inlineImages: true },
      rule: "images as data or `ms://`, not by their addresses",
      source,
    },
    ...tools,
    names,
  ],
  openrouter: [inReasoning, ...tools, names],
  perplexity: [systemFirst, thoughts(undefined, "no earlier thoughts"), ...tools],
  ollama: usual,
  vllm: usual,
};
