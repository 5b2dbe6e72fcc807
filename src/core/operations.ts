import { type JsonObject, listOf, objectOf } from "./json.ts";
/** The formats of text generation: OpenAI Chat Completions, Anthropic Messages, OpenAI Responses, Google's generateContent. */
export type Dialect = "chat" | "messages" | "responses" | "gemini";

/** The kind of work that a chargeable route requests of a model, independent of the provider. */
export type ModelOperation =
  | Dialect
  | "count_tokens"
  | "count_response_tokens"
  | "count_gemini_tokens"
  | "completion"
  | "embeddings"
  | "moderation"
  | "rerank"
  | "image_generation"
  | "image_edit"
  | "speech"
  | "transcription"
  | "translation"
  | "realtime"
  | "realtime_transcription"
  | VideoOperation;

/** The kinds of work that create a video job. */
export type VideoOperation = "video_generation" | "video_edit" | "video_extension";

/** The kinds of work on the web, for which no model is needed. */
export type WebOperation = "scrape" | "map" | "crawl" | "search";

/** A call of a tool of another server. */
type ToolOperation = "tool";

/** The kind of any paid work. */
export type Operation = ModelOperation | WebOperation | ToolOperation;

/**
 * What a request for text may need and some endpoints lack: a format of the answer, thought, documents (PDF, sound and video among
 * them), a search as its only tool, pictures in the answer, a signature of the provider's other API.
 */
export type RequestFeature = "format" | "effort" | "documents" | "search" | "pictures" | "signature";

/** Whether a Responses body asks for a summary of its conversation instead of an answer: its last item is the trigger. */
export function asksForCompaction(body: JsonObject): boolean {
  return objectOf(listOf(body["input"]).at(-1))?.["type"] === "compaction_trigger";
}
