import type { JsonEdit } from "../../bodies/index.ts";
import { type JsonObject, type ModelFacts, objectOf } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { type ChatUsageRules, readChatUsage } from "./chat-usage.ts";
import { dropAndRename, type FieldRules } from "./field-rules.ts";

/** What sets one chat completions endpoint apart from OpenAI's. */
export interface ChatEndpoint extends FieldRules {
  path: string;
  /** Whether a stream's usage must be asked for with `stream_options`, or comes (or fails to) by itself. */
  streamUsage: "on-request" | "unasked";
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

/** The chat operation of an upstream that speaks the chat dialect itself. */
export function chatOperation(endpoint: ChatEndpoint): UpstreamOperation {
  const { path, streamUsage, drops, renames, usage, facts } = endpoint;
  return {
    dialect: "chat",
    ...(facts === undefined ? {} : { facts }),
    path,
    edits(body) {
      const fit = dropAndRename(body, { drops, renames });
      return streamUsage === "on-request" ? [...fit, ...askForUsage(body)] : fit;
    },
    readUsage: (answer) => readChatUsage(answer, usage),
    isFailure:
      endpoint.isFailure ??
      ((answer) => answer["error"] !== undefined && answer["error"] !== null && answer["choices"] === undefined),
  };
}
