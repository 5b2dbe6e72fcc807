/** The three shapes of text generation: OpenAI Chat Completions, Anthropic Messages, OpenAI Responses. */
export type Dialect = "chat" | "messages" | "responses";

/** What a chargeable route does, whichever provider does it. */
export type Operation =
  | Dialect
  | "count_tokens"
  | "embeddings"
  | "image_generation"
  | "image_edit"
  | "speech"
  | "transcription"
  | "translation";
