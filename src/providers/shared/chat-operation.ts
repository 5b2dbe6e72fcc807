import type { JsonEdit } from "../../bodies/index.ts";
import { type JsonObject, listOf, type ModelFacts, objectOf } from "../../core/index.ts";
import { fitBody } from "../facts/fit-body.ts";
import type { OutputLimit, RequestedExtras, UpstreamOperation } from "../provider.ts";
import type { ToolReader } from "../tool-purchase.ts";
import { type BuyingMember, readChatTool, refuseUnknownPurchases } from "./tools/chat-purchases.ts";
import { type ChatUsageRules, readChatUsage } from "./chat-usage.ts";
import { dropAndRename, type FieldRules } from "./field-rules.ts";
import { fitsName } from "./tools/hosted-tools.ts";
import { askedTier, type TierNames } from "./terms.ts";

/** The differences between a chat completions endpoint and OpenAI's. */
export interface ChatEndpoint extends FieldRules {
  path: string;
  /** Whether a stream's usage must be requested with `stream_options`, or is sent automatically (or never). */
  streamUsage: "on-request" | "automatic";
  usage: ChatUsageRules;
  outputLimit: OutputLimit;
  /** What else is billed; by default the service tier. */
  extras?: UpstreamOperation["extras"];
  /** The members of a body that buy something, and that `extras` reads. */
  buys?: readonly BuyingMember[];
  /** Reads the purchases of a tool; by default only the client's own tools are known, which buy nothing. */
  readTool?: ToolReader;
  facts?: (model: string) => ModelFacts;
  /** Whether a body with a success status is an error. */
  isFailure?: (answer: JsonObject) => boolean;
  ignores?: UpstreamOperation["ignores"];
  hasIrregularStream?: boolean;
  repeatsRole?: boolean;
}

const limitNames = ["max_completion_tokens", "max_tokens"] as const;

/** The limit of a chat upstream, by the name that it knows. */
export function chatLimit(
  field: (typeof limitNames)[number],
  hidesThought: OutputLimit["hidesThought"] = () => true,
): OutputLimit {
  return { field, replaces: limitNames.filter((name) => name !== field), min: 1, hidesThought };
}

/** Sets `include_usage` in the client's `stream_options`. */
export function requestUsage(body: JsonObject): JsonEdit[] {
  if (body["stream"] !== true) return [];
  const options = objectOf(body["stream_options"]) ?? {};
  if (options["include_usage"] === true) return [];
  return [{ set: "stream_options", value: JSON.stringify({ ...options, include_usage: true }) }];
}

/** A tool with free text, or with a name that the model refuses, changes the answer too. */
function hasForeignTools({ tools, messages }: JsonObject, facts: ModelFacts): boolean {
  for (const tool of listOf(tools)) if (isForeign(tool, facts)) return true;
  for (const message of listOf(messages)) {
    for (const call of listOf(objectOf(message)?.["tool_calls"])) if (isForeign(call, facts)) return true;
  }
  return false;
}

function isForeign(one: unknown, facts: ModelFacts): boolean {
  const tool = objectOf(one) ?? {};
  const isText = tool["type"] === "custom";
  if (isText && facts.clientTools?.includes("custom") !== true) return true;
  return !fitsName(objectOf(tool[isText ? "custom" : "function"]), facts);
}

/** Stop sequences at a model that has none: its answer must be cut. */
function hasStop({ stop }: JsonObject): boolean {
  return stop !== undefined && stop !== null;
}

const noExtras = (): undefined => undefined;

/** Reads the requested service tier. */
export function tierExtras({ service_tier }: JsonObject, names?: TierNames): RequestedExtras | undefined {
  const terms = askedTier(service_tier, names);
  return terms && { terms };
}

/** The chat operation of an upstream that uses the chat dialect. */
export function chatOperation(endpoint: ChatEndpoint): UpstreamOperation {
  const {
    path,
    streamUsage,
    drops,
    usage,
    outputLimit,
    facts,
    ignores,
    hasIrregularStream = false,
    repeatsRole,
  } = endpoint;
  const { buys = [], readTool = readChatTool } = endpoint;
  const isAdapted = drops.length > 0 || Object.keys(endpoint.renames).length > 0;
  const factsOf = (model: string): ModelFacts => facts?.(model) ?? {};
  const extras =
    endpoint.extras ?? (drops.includes("service_tier") ? noExtras : (body: JsonObject) => tierExtras(body));
  return {
    dialect: "chat",
    ...(ignores === undefined ? {} : { ignores }),
    hasIrregularStream,
    ...(buys.includes("models") ? { triesModels: true } : {}),
    ...(repeatsRole === true ? { repeatsRole } : {}),
    needsTranslation(body, model) {
      const known = factsOf(model);
      return hasForeignTools(body, known) || (known.refusesStop === true && hasStop(body));
    },
    ...(facts === undefined ? {} : { facts }),
    path,
    outputLimit,
    readTool,
    extras(body, model) {
      refuseUnknownPurchases(body, buys);
      return extras(body, model);
    },
    edits: (body, model) => [
      ...(isAdapted ? dropAndRename(body, endpoint) : []),
      ...fitBody(body, factsOf(model)),
      ...(streamUsage === "on-request" ? requestUsage(body) : []),
    ],
    readUsage: (answer) => readChatUsage(answer, usage),
    isFailure:
      endpoint.isFailure ??
      ((answer) => answer["error"] !== undefined && answer["error"] !== null && answer["choices"] === undefined),
  };
}
