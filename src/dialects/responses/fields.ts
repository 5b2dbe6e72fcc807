import type { FieldRule, FieldTable } from "../conversation/index.ts";

/** In its own dialect a field is carried unchanged. */
const own = { responses: "carried" } as const;

const translated: FieldRule = { support: { ...own, gemini: "translated", chat: "translated", messages: "translated" } };
const dropped: FieldRule = { support: { ...own, gemini: "dropped", chat: "dropped", messages: "dropped" } };
const refused: FieldRule = { support: { ...own, gemini: "refused", chat: "refused", messages: "refused" } };

/** Stored and returned by the gateway itself, for any provider. */
const handledByGateway: FieldRule = {
  ...dropped,
  note: "handled by the gateway: part of the answer and of the stored response",
};

/** The value of `include` for token probabilities. */
export const logprobsInclude = "message.output_text.logprobs";

const wantsLogprobs = (value: unknown): boolean => Array.isArray(value) && value.includes(logprobsInclude);

/** The support for every field of a Responses request in the other dialects. */
export const responsesFields: FieldTable = {
  model: translated,
  input: { ...translated, note: "a string or items" },
  "input.message": { ...translated, note: "its phase is dropped" },
  "input.message.input_text": translated,
  "input.message.input_text.prompt_cache_breakpoint": {
    support: { ...own, gemini: "dropped", chat: "dropped", messages: "translated" },
  },
  "input.message.input_image": { ...translated, note: "as a URL or data; toward chat a stored one is refused" },
  "input.message.input_file": { ...translated, note: "toward chat one by URL is fetched; detail is dropped" },
  "input.message.input_audio": { support: { ...own, gemini: "translated", chat: "translated", messages: "refused" } },
  "input.message.output_text.annotations": { ...dropped, note: "in earlier messages; in answers they are kept" },
  "input.function_call": {
    ...translated,
    note: "toward Messages arguments that are no JSON object stand as a text in one",
  },
  "input.function_call_output": {
    ...translated,
    note: "a string or parts; toward chat, images follow in the user's next message",
  },
  "input.custom_tool_call": {
    ...translated,
    note: "as a call of a function of one string, if the upstream lacks such tools",
  },
  "input.shell_call": {
    ...translated,
    note: "as a call of a function; likewise local_shell_call, apply_patch_call and their outputs",
  },
  "input.reasoning": { ...translated, note: "encrypted_content is sent to its maker only" },
  "input.image_generation_call": { ...translated, note: "its image follows in the user's next message" },
  "input.item_reference": { ...translated, note: "the referenced item, which must be stored" },
  "input.web_search_call": {
    ...translated,
    note: "its results as text; likewise all other items of tools that OpenAI runs",
  },
  "input.compaction": {
    ...refused,
    note: "one that only its maker can read; left out if the answers that it sums up stand before it",
  },
  instructions: { ...translated, note: "a system message before everything" },
  stream: translated,
  stream_options: { ...dropped, note: "nothing is obfuscated" },
  max_output_tokens: translated,
  tools: {
    ...translated,
    note: "functions, also those in namespaces; those that take free text, shell, local_shell and apply_patch as functions; hosted ones are left out",
  },
  tool_choice: {
    ...translated,
    note: "of allowed tools, Messages gets no others; one that demands a hosted tool is refused",
  },
  parallel_tool_calls: translated,
  max_tool_calls: { ...dropped, note: "limits hosted tools" },
  text: {
    ...translated,
    note: "format and verbosity; toward Messages json_object is part of the prompt, verbosity dropped",
  },
  reasoning: { ...translated, note: "effort, toward Messages as a budget of tokens; thoughts are always included" },
  include: {
    support: { ...own, gemini: "refused", chat: "translated", messages: "refused" },
    note: "logprobs, which are refused toward Messages; encrypted_content is always included; the others are dropped",
    isRequested: wantsLogprobs,
  },
  temperature: { ...translated, note: "toward Messages at most 1; dropped if the model refuses it or thinks" },
  top_p: { ...translated, note: "dropped if the model refuses it or thinks" },
  top_logprobs: { support: { ...own, gemini: "refused", chat: "translated", messages: "refused" }, noOpValues: [0] },
  service_tier: { ...translated, note: "toward Messages auto, or standard_only for everything else" },
  user: translated,
  store: handledByGateway,
  metadata: handledByGateway,
  previous_response_id: { ...translated, note: "its items, before the others" },
  truncation: { ...dropped, note: "an input that is too long is refused by the upstream" },
  safety_identifier: dropped,
  prompt_cache_key: { ...dropped, note: "a hint" },
  prompt_cache_options: { ...dropped, note: "likewise" },
  prompt_cache_retention: { ...dropped, note: "likewise" },
  context_management: dropped,
  background: handledByGateway,
  conversation: { ...refused, note: "one of the gateway's own is replaced by its items" },
  prompt: refused,
  moderation: refused,
  thinking: { ...dropped, note: "not OpenAI's; for providers that speak Responses themselves" },
};
