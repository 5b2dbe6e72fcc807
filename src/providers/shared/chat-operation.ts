import { type JsonEdit, type JsonObject, objectOf } from "../../core/index.ts";
import type { ModelFacts, UpstreamOperation } from "../provider.ts";
import { type ChatUsageRules, readChatUsage } from "./chat-usage.ts";

/** What sets one chat completions endpoint apart from OpenAI's. */
export interface ChatEndpoint {
  path: string;
  /** Whether a stream's usage must be asked for with `stream_options`, or comes (or fails to) by itself. */
  streamUsage: "on-request" | "unasked";
  /** OpenAI's fields that this upstream refuses and that change nothing by their absence. */
  drops: readonly string[];
  /** Fields that it knows by another name. */
  renames: Readonly<Record<string, string>>;
  usage: ChatUsageRules;
  facts?: (model: string) => ModelFacts;
  /** Whether a body with a success status is an error. */
  isFailure?: (answer: JsonObject) => boolean;
}

/** `stream_options` as the client sent it, with usage switched on. */
function askForUsage(body: JsonObject): JsonEdit[] {
  if (body["stream"] !== true) return [];
  const options = objectOf(body["stream_options"]) ?? {};
  if (options["include_usage"] === true) return [];
  return [{ set: "stream_options", value: JSON.stringify({ ...options, include_usage: true }) }];
}

/** Where both names are there, OpenAI's has the say: it is the one that the cost was bounded by. */
function rename(body: JsonObject, key: string, to: string): JsonEdit[] {
  if (!(key in body)) return [];
  return to in body ? [{ remove: to }, { rename: key, to }] : [{ rename: key, to }];
}

/** The chat operation of an upstream that speaks the chat dialect itself. */
export function chatOperation(endpoint: ChatEndpoint): UpstreamOperation {
  const { path, streamUsage, drops, renames, usage, facts } = endpoint;
  return {
    dialect: "chat",
    ...(facts === undefined ? {} : { facts }),
    path,
    edits(body) {
      const dropped = drops.filter((key) => key in body).map((key): JsonEdit => ({ remove: key }));
      const renamed = Object.entries(renames).flatMap(([key, to]) => rename(body, key, to));
      return [...dropped, ...renamed, ...(streamUsage === "on-request" ? askForUsage(body) : [])];
    },
    readUsage: (answer) => readChatUsage(answer, usage),
    isFailure:
      endpoint.isFailure ??
      ((answer) => answer["error"] !== undefined && answer["error"] !== null && answer["choices"] === undefined),
  };
}
