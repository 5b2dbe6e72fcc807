import { type JsonObject, listOf, objectOf, type UsageBucket } from "../../core/index.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { RequestedExtras } from "../provider.ts";
import { chatLimit, chatOperation, tierExtras } from "../shared/chat-operation.ts";
import { openaiUsageRules } from "../shared/chat-usage.ts";
import { tierNames } from "./tiers.ts";
import { hidesThought } from "./thought.ts";

/** Models that search the web in each call, which no usage counts (OpenAI's guide "Web search"). */
const searches = /-search(?:-|$)/;

/** A search, and sound in either direction, whose tokens cost many times those of text. */
function extras(body: JsonObject, model: string): RequestedExtras | undefined {
  const tier = tierExtras(body, tierNames);
  const ownPrices = soundIn(body);
  const isSearch = searches.test(model) || objectOf(body["web_search_options"]) !== undefined;
  if (ownPrices === undefined && !isSearch) return tier;
  return {
    ...tier,
    ...(isSearch ? { fixedUnits: { webSearches: 1 } } : {}),
    ...(ownPrices === undefined ? {} : { ownPrices }),
  };
}

function soundIn({ modalities, audio, messages }: JsonObject): UsageBucket[] | undefined {
  const speaks = listOf(modalities).includes("audio") || objectOf(audio) !== undefined;
  const hears = listOf(messages).some((message) => {
    const content = objectOf(message)?.["content"];
    return Array.isArray(content) && content.some((part) => objectOf(part)?.["type"] === "input_audio");
  });
  if (!speaks && !hears) return undefined;
  return [...(speaks ? (["outputAudio"] as const) : []), ...(hears ? (["inputAudio"] as const) : [])];
}

export const chat = chatOperation({
  path: "/chat/completions",
  streamUsage: "on-request",
  drops: [],
  renames: {},
  usage: { ...openaiUsageRules, tierNames },
  outputLimit: chatLimit("max_completion_tokens", hidesThought),
  extras,
  buys: ["web_search_options"],
  facts: factsFrom(factRows.openai, "chat"),
});
