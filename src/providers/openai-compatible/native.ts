import type { PresetName, ProviderDialect } from "../../config/index.ts";
import { type JsonObject, objectOf, objectsOf, type ObservedUsage } from "../../core/index.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { Provider, UpstreamOperation } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { tierExtras } from "../shared/chat-operation.ts";
import { isMessagesFailure, readMessagesUsage } from "../shared/messages-usage.ts";
import { responsesOperation } from "../shared/responses-operation.ts";
import { refuseUnknownPurchases } from "../shared/tools/chat-purchases.ts";
import { counted, free, isSearchItem, toolReader } from "../shared/tools/hosted-tools.ts";
import { besideVersion, type Preset, presets } from "./presets.ts";

/** The path of Messages below the address, as OpenRouter, vLLM and llama.cpp have it. */
const MESSAGES_PATH = "/messages";

/** The version of Messages that such upstreams speak. */
const VERSION = "2023-06-01";

/** What the other operations need to know of their provider. */
interface NativeContext {
  baseUrl: string;
  chat: UpstreamOperation;
}

/** The operations in these dialects, besides chat. */
export function nativeOf(
  name: PresetName,
  dialects: readonly ProviderDialect[],
  context: NativeContext,
): Provider["operations"] {
  return {
    ...(dialects.includes("responses") ? { responses: responsesOf(name, context) } : {}),
    ...(dialects.includes("messages") ? { messages: messagesOf(name) } : {}),
  };
}

/** The key in the header of each dialect. */
export function headersOf(key: string, path: string): Record<string, string> {
  if (path !== MESSAGES_PATH) return bearer(key);
  return { ...bearer(key), "x-api-key": key, "anthropic-version": VERSION };
}

/** The further purchases of a request, which are the same as in chat. Throws 422 for one without a price. */
function extrasOf({ purchases: { buys = [], extras } }: Preset): NonNullable<UpstreamOperation["extras"]> {
  return (body, model) => {
    refuseUnknownPurchases(body, buys);
    return extras === undefined ? tierExtras(body) : extras(body, model);
  };
}

/** The cost of tools of its own is not known. Most such upstreams store no response: the gateway does. */
function responsesOf(name: PresetName, { baseUrl, chat: { forPrefill } }: NativeContext): UpstreamOperation {
  const preset: Preset = presets[name];
  const { usage, hidesThought, responsesBase } = preset;
  const operation = responsesOperation({
    path: "/responses",
    outputFromTotal: false,
    reportedCost: usage.reportedCost,
    hidesThought: () => hidesThought,
    hasSocket: false,
    isStateless: true,
    hasForeignTools: true,
    readTool: toolReader([[/^(?:function|custom)$/, free]]),
    readTools: responsesBase === undefined ? () => ({ usage: {} }) : countSearches,
    facts: factsFrom(factRows[name], "responses"),
  });
  const own = { ...operation, extras: extrasOf(preset) };
  if (responsesBase === undefined) return own;
  return {
    ...own,
    baseUrl: besideVersion(baseUrl, responsesBase),
    // Clients of Responses return thoughts as summaries, and refer to items by ids, which no upstream without a store knows.
    needsTranslation: () => true,
    ignores: () => ["format"],
    ...(forPrefill === undefined ? {} : { forPrefill }),
  };
}

/** The searches of an answer, of which its upstream reports no cost. */
function countSearches({ output }: JsonObject): Pick<ObservedUsage, "usage"> {
  return { usage: counted({ webSearches: objectsOf(output).filter(isSearchItem).length }) };
}

function messagesOf(name: PresetName): UpstreamOperation {
  const preset: Preset = presets[name];
  const { usage, hidesThought } = preset;
  return {
    dialect: "messages",
    path: MESSAGES_PATH,
    forwardedHeaders: ["anthropic-version", "anthropic-beta"],
    facts: factsFrom(factRows[name], "messages"),
    edits: () => [],
    extras: extrasOf(preset),
    readTool: toolReader([[/^(?:custom)?$/, free]]),
    outputLimit: { field: "max_tokens", replaces: [], min: 1, hidesThought: () => hidesThought },
    readUsage(answer) {
      const read = readMessagesUsage(answer);
      if (read === undefined) return undefined;
      // The upstream's own name of the model need not be one that has a price.
      const { answeredBy: _, ...observed } = read;
      const reportedCost = usage.reportedCost(objectOf(answer["usage"]) ?? {});
      return reportedCost === undefined ? observed : { ...observed, reportedCost };
    },
    isFailure: isMessagesFailure,
  };
}
