import type { FieldRule, FieldTable } from "../conversation/index.ts";

const translated: FieldRule = { fates: { chat: "translated", responses: "translated" } };
const dropped: FieldRule = { fates: { chat: "dropped", responses: "dropped" } };
const refused: FieldRule = { fates: { chat: "refused", responses: "refused" } };

/** Every field of a Messages request, and what becomes of it in the other dialects. */
export const messagesFields: FieldTable = {
  model: translated,
  max_tokens: translated,
  messages: translated,
  system: translated,
  stream: translated,
  stop_sequences: { fates: { chat: "translated", responses: "refused" } },
  temperature: translated,
  top_p: translated,
  top_k: dropped,
  tools: { ...translated, note: "those with an input_schema; a tool of Anthropic's own is refused" },
  tool_choice: { ...translated, note: "with disable_parallel_tool_use" },
  thinking: { ...translated, note: "a budget becomes the effort that stands for it; adaptive leaves it to the model" },
  output_config: { ...translated, note: "effort and format" },
  cache_control: { ...dropped, note: "as all marks for the cache; upstreams of other dialects cache by themselves" },
  metadata: { ...translated, note: "user_id" },
  service_tier: translated,
  container: refused,
  mcp_servers: refused,
  inference_geo: { ...refused, neutral: ["global"], note: "where data may be processed is not for us to forget" },
  context_management: dropped,
  speed: { ...dropped, note: "a hint" },
  diagnostics: dropped,
  user_profile_id: dropped,
  workspace_id: dropped,
};
