import type { JsonEdit } from "../../bodies/index.ts";
import { efforts, type JsonObject, listOf, type ModelFacts, nearestEffort, objectOf } from "../../core/index.ts";
import type { OutputLimit, RequestedExtras, UpstreamOperation } from "../provider.ts";
import { type ChatUsageRules, readChatUsage } from "./chat-usage.ts";
import { dropAndRename, type FieldRules } from "./field-rules.ts";
import { askedTier } from "./terms.ts";

/** The differences between a chat completions endpoint and OpenAI's. */
export interface ChatEndpoint extends FieldRules {
  path: string;
  /** Whether a stream's usage must be requested with `stream_options`, or is sent automatically (or never). */
  streamUsage: "on-request" | "automatic";
  usage: ChatUsageRules;
  outputLimit: OutputLimit;
  /** What else is billed; by default the service tier. */
  extras?: UpstreamOperation["extras"];
  facts?: (model: string) => ModelFacts;
  /** Whether a body with a success status is an error. */
  isFailure?: (answer: JsonObject) => boolean;
  ignores?: UpstreamOperation["ignores"];
  hasIrregularStream?: boolean;
  /** Further edits, for single models. */
  modelEdits?: (body: JsonObject, model: string) => JsonEdit[];
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

/** An effort that the upstream refuses becomes the nearest one that it accepts. */
function effortEdits({ reasoning_effort: asked }: JsonObject, offered: ModelFacts["efforts"]): JsonEdit[] {
  const effort = efforts.find((one) => one === asked);
  if (effort === undefined || offered === undefined || offered.includes(effort)) return [];
  const nearest = nearestEffort(effort, offered);
  const field = "reasoning_effort";
  return [nearest === undefined ? { remove: field } : { set: field, value: JSON.stringify(nearest) }];
}

/** A role or a format that the upstream refuses is expressed in the prompt. */
function needsTranslation({ messages, response_format: format }: JsonObject, facts: ModelFacts): boolean {
  if (facts.formats === "json" && objectOf(format)?.["type"] === "json_schema") return true;
  return (
    facts.developerRole !== true && listOf(messages).some((message) => objectOf(message)?.["role"] === "developer")
  );
}

const noExtras = (): undefined => undefined;

/** Reads the requested service tier. */
export function tierExtras({ service_tier }: JsonObject): RequestedExtras | undefined {
  const terms = askedTier(service_tier);
  return terms && { terms };
}

/** The chat operation of an upstream that uses the chat dialect. */
export function chatOperation(endpoint: ChatEndpoint): UpstreamOperation {
  const {
    path,
    streamUsage,
    drops,
    renames,
    usage,
    outputLimit,
    facts,
    ignores,
    hasIrregularStream = false,
    modelEdits,
  } = endpoint;
  return {
    dialect: "chat",
    ...(ignores === undefined ? {} : { ignores }),
    hasIrregularStream,
    needsTranslation: (body, model) => needsTranslation(body, facts?.(model) ?? {}),
    ...(facts === undefined ? {} : { facts }),
    path,
    outputLimit,
    extras: endpoint.extras ?? (drops.includes("service_tier") ? noExtras : tierExtras),
    edits(body, model) {
      const edits = [
        ...dropAndRename(body, { drops, renames }),
        ...effortEdits(body, facts?.(model).efforts),
        ...(modelEdits?.(body, model) ?? []),
      ];
      return streamUsage === "on-request" ? [...edits, ...requestUsage(body)] : edits;
    },
    readUsage: (answer) => readChatUsage(answer, usage),
    isFailure:
      endpoint.isFailure ??
      ((answer) => answer["error"] !== undefined && answer["error"] !== null && answer["choices"] === undefined),
  };
}
