/** The three formats of text generation: OpenAI Chat Completions, Anthropic Messages, OpenAI Responses. */
export type Dialect = "chat" | "messages" | "responses";

/** The kind of work that a chargeable route requests, independent of the provider. */
export type Operation =
  | Dialect
  | "count_tokens"
  | "count_response_tokens"
  | "completion"
  | "embeddings"
  | "moderation"
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
