import type { FieldRule, FieldTable } from "../conversation/index.ts";

/** In its own dialect a field is carried unchanged. */
const own = { messages: "carried" } as const;

const translated: FieldRule = {
  support: { ...own, gemini: "translated", chat: "translated", responses: "translated" },
};
const dropped: FieldRule = { support: { ...own, gemini: "dropped", chat: "dropped", responses: "dropped" } };
const refused: FieldRule = { support: { ...own, gemini: "refused", chat: "refused", responses: "refused" } };

/** The support for every field of a Messages request in the other dialects. */
export const messagesFields: FieldTable = {
  model: translated,
  max_tokens: translated,
  messages: translated,
  "messages.content.text": translated,
  "messages.content.text.citations": {
    ...dropped,
    note: "in earlier messages; in answers, those of web pages are kept",
  },
  "messages.content.image": {
    ...translated,
    note: "base64 or URL; one in an upstream's store is refused toward chat",
  },
  "messages.content.document": {
    ...translated,
    note: "toward chat a PDF is a file and a text is text; a document by URL is fetched",
  },
  "messages.content.document.citations": { ...dropped, note: "the answer comes without them" },
  "messages.content.document.context": dropped,
  "messages.content.search_result": refused,
  "messages.content.tool_use": translated,
  "messages.content.tool_result": {
    ...translated,
    note: "toward chat, images follow in the user's next message and is_error becomes text",
  },
  "messages.content.thinking": {
    ...translated,
    note: "signatures are sent to their maker only; the text to upstreams that demand or have shown it",
  },
  "messages.content.redacted_thinking": { ...translated, note: "likewise" },
  "messages.content.tool_reference": {
    ...translated,
    note: "as text; likewise tool_addition and tool_removal, whose tools are declared or left out",
  },
  "messages.content.compaction": { ...translated, note: "its summary, as the user's, for all that was before it" },
  "messages.content.server_tool_use": {
    ...translated,
    note: "the results as text; likewise all other blocks of tools that Anthropic runs",
  },
  "messages.content.cache_control": dropped,
  system: translated,
  stream: translated,
  stop_sequences: { support: { ...own, gemini: "translated", chat: "translated", responses: "refused" } },
  temperature: translated,
  top_p: translated,
  top_k: { support: { ...own, gemini: "translated", chat: "dropped", responses: "dropped" } },
  tools: {
    ...translated,
    note: "those with an input_schema; of Anthropic's own, bash, text_editor and memory as functions, those that it runs are left out",
  },
  tool_choice: { ...translated, note: "with disable_parallel_tool_use" },
  thinking: { ...translated, note: "a budget becomes the corresponding effort; adaptive leaves it to the model" },
  output_config: { ...translated, note: "effort and format" },
  cache_control: { ...dropped, note: "as all marks for the cache; upstreams of other dialects cache by themselves" },
  metadata: { ...translated, note: "user_id" },
  service_tier: translated,
  thread: { ...refused, note: "with 400 and the code at which Anthropic's SDKs send the whole history instead" },
  container: refused,
  mcp_servers: refused,
  inference_geo: {
    ...refused,
    noOpValues: ["global"],
    note: "a restriction on the place of processing must not be dropped",
  },
  context_management: dropped,
  speed: { ...dropped, note: "a hint" },
  diagnostics: dropped,
  user_profile_id: dropped,
  workspace_id: dropped,
};
