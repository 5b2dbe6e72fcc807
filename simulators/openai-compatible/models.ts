import { jsonAnswer, type Route } from "../shared/types.ts";

const models = [
  { id: "groq-llama-3.3-70b", owned_by: "groq", context_window: 131_072 },
  { id: "kimi-k2.6", owned_by: "moonshot", context_length: 262_144 },
  { id: "groq-whisper-large-v3", owned_by: "groq" },
  { id: "local-small", owned_by: "library" },
  { id: "local-embed", owned_by: "library" },
  { id: "local-speech", owned_by: "library" },
  { id: "sonar", owned_by: "perplexity" },
].map((model) => ({ ...model, object: "model", created: 1_767_225_600 }));

/** A plain OpenAI list; some models bring the context length under the names that hosts use. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/openai-compatible/v1/models", handle: () => jsonAnswer({ object: "list", data: models }) },
];
