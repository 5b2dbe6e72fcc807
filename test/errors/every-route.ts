/** A request for every route that asks a provider, with which a failure of the provider is shown on all of them. */

const said = [{ role: "user", content: "hi" }];
const chat = "openai/gpt-4o-mini";
const claude = "anthropic/claude-haiku-4-5";
const gemini = { contents: [{ parts: [{ text: "hi" }] }], generationConfig: { maxOutputTokens: 9 } };

/** Bodies of JSON, for providers `openai` and `anthropic` of these kinds, and `chats`, which is openai-compatible. */
export const posts: readonly [path: string, body: object][] = [
  ["/v1/chat/completions", { model: chat, messages: said }],
  ["/v1/chat/completions", { model: chat, messages: said, stream: true }],
  ["/v1/chat/completions", { model: claude, messages: said, max_tokens: 9 }],
  ["/v1/chat/completions", { model: claude, messages: said, max_tokens: 9, stream: true }],
  ["/v1/chat/completions", { model: "chats/model", messages: said, stream: true }],
  ["/v1/messages", { model: chat, messages: said, max_tokens: 9 }],
  ["/v1/messages", { model: chat, messages: said, max_tokens: 9, stream: true }],
  ["/v1/messages", { model: claude, messages: said, max_tokens: 9 }],
  ["/v1/messages", { model: claude, messages: said, max_tokens: 9, stream: true }],
  ["/v1/messages/count_tokens", { model: claude, messages: said }],
  [`/v1beta/models/${chat}:generateContent`, gemini],
  [`/v1beta/models/${chat}:streamGenerateContent?alt=sse`, gemini],
  [`/v1beta/models/${claude}:generateContent`, gemini],
  ["/v1/responses", { model: chat, input: "hi" }],
  ["/v1/responses", { model: chat, input: "hi", stream: true }],
  ["/v1/responses", { model: claude, input: "hi" }],
  ["/v1/responses", { model: claude, input: "hi", stream: true }],
  ["/v1/responses/compact", { model: chat, input: "hi" }],
  ["/v1/responses/input_tokens", { model: chat, input: "hi" }],
  ["/v1/completions", { model: "openai/gpt-3.5-turbo-instruct", prompt: "hi" }],
  ["/v1/embeddings", { model: "openai/text-embedding-3-small", input: "hi" }],
  ["/v1/moderations", { model: "openai/omni-moderation-latest", input: "hi" }],
  ["/v1/audio/speech", { model: "openai/gpt-4o-mini-tts", input: "hi", voice: "alloy" }],
  ["/v1/images/generations", { model: "openai/gpt-image-1", prompt: "a cat" }],
  ["/v1/videos", { model: "openai/sora-2", prompt: "a cat" }],
  ["/v1/videos/generations", { model: "openai/sora-2", prompt: "a cat" }],
];

/** Forms, by their path. */
export const forms: readonly [path: string, fields: Readonly<Record<string, string | Blob>>][] = [
  ["/v1/files", { purpose: "user_data", file: new File(["hi"], "a.txt") }],
  ["/v1/images/edits", { model: "openai/gpt-image-1", prompt: "a cat", image: new File(["hi"], "a.png") }],
];

/** A handshake of a WebSocket. */
export const handshake = {
  connection: "upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
};
