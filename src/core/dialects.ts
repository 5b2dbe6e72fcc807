/** The three shapes of text generation: OpenAI Chat Completions, Anthropic Messages, OpenAI Responses. */
export const dialects = ["chat", "messages", "responses"] as const;

export type Dialect = (typeof dialects)[number];

/** What a chargeable route does, whichever provider does it. */
export type Operation = "chat";
