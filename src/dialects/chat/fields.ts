import type { FieldRule, FieldTable } from "../conversation/index.ts";

/** In its own dialect a field is carried unchanged. */
const own = { chat: "carried" } as const;

const translated: FieldRule = {
  support: { ...own, gemini: "translated", messages: "translated", responses: "translated" },
};
const shared: FieldRule = { support: { ...own, gemini: "dropped", messages: "dropped", responses: "carried" } };
const dropped: FieldRule = { support: { ...own, gemini: "dropped", messages: "dropped", responses: "dropped" } };
const refused: FieldRule = { support: { ...own, gemini: "refused", messages: "refused", responses: "refused" } };
const sampling: FieldRule = { support: { ...own, gemini: "translated", messages: "dropped", responses: "dropped" } };

/** The support for every field of a chat completion in the other dialects. */
export const chatFields: FieldTable = {
  model: translated,
  messages: { ...translated, note: "toward Messages one that begins with the assistant gets an opening" },
  "messages.system": { ...translated, note: "text; toward Messages all in `system`, before everything" },
  "messages.developer": { ...translated, note: "as system" },
  "messages.user.name": dropped,
  "messages.content.text": translated,
  "messages.content.text.cache_control": {
    support: { ...own, gemini: "dropped", messages: "translated", responses: "dropped" },
    note: "not OpenAI's",
  },
  "messages.content.image_url": { ...translated, note: "as a URL or data; `detail` is dropped toward Messages" },
  "messages.content.input_audio": {
    support: { ...own, gemini: "translated", messages: "refused", responses: "translated" },
  },
  "messages.content.file": { ...translated, note: "data or id; toward Messages PDF, text and images" },
  "messages.assistant.tool_calls": {
    ...translated,
    note: "toward Messages arguments that are no JSON object stand as a text in one",
  },
  "messages.assistant.refusal": { ...translated, note: "toward Messages as text" },
  "messages.assistant.content.thinking": { ...dropped, note: "Mistral's; as reasoning_content" },
  "messages.assistant.reasoning_content": {
    ...dropped,
    note: "without a signature it is dropped",
  },
  "messages.assistant.reasoning_details": {
    ...translated,
    note: "not OpenAI's: signatures of other dialects, which are sent to their maker only; an upstream's own are dropped",
  },
  "messages.assistant.extra_content": { ...dropped, note: "Google's signatures" },
  "messages.assistant.images": {
    ...translated,
    note: "not OpenAI's: images of an answer follow in the user's next message",
  },
  "messages.assistant.audio": refused,
  "messages.tool": { ...translated, note: "a result: text; its call must precede it" },
  "messages.function": { ...refused, note: "the former name of tool" },
  stream: translated,
  stream_options: { ...dropped, note: "whether the client gets the usage; it is always requested from the upstream" },
  max_completion_tokens: { ...translated, note: "Messages requires a limit: by default the model's own" },
  max_tokens: { ...translated, note: "as max_completion_tokens, which wins if both are given" },
  tools: {
    ...translated,
    note: "a tool that takes free text is a function of one string for upstreams that lack such tools",
  },
  tool_choice: { ...translated, note: "of allowed tools, Messages gets no others" },
  parallel_tool_calls: translated,
  response_format: { ...translated, note: "toward Messages json_object is part of the prompt" },
  reasoning_effort: { ...translated, note: "toward Messages a budget of tokens, or its effort; default is dropped" },
  thinking: { ...translated, note: "Anthropic's, as in Messages; of other content dropped" },
  reasoning: { ...translated, note: "OpenRouter's: as reasoning_effort, or a budget of tokens" },
  stop: { support: { ...own, gemini: "translated", messages: "translated", responses: "refused" } },
  temperature: { ...translated, note: "toward Messages at most 1; dropped if the model refuses it or thinks" },
  top_p: { ...translated, note: "dropped if the model refuses it or thinks" },
  top_k: {
    support: { ...own, gemini: "translated", messages: "translated", responses: "dropped" },
    note: "not OpenAI's; as in Messages",
  },
  frequency_penalty: sampling,
  presence_penalty: sampling,
  seed: sampling,
  logprobs: { support: { ...own, gemini: "refused", messages: "refused", responses: "translated" } },
  top_logprobs: {
    support: { ...own, gemini: "refused", messages: "refused", responses: "translated" },
    noOpValues: [0],
  },
  logit_bias: refused,
  n: { ...refused, noOpValues: [1] },
  verbosity: { support: { ...own, gemini: "dropped", messages: "dropped", responses: "translated" } },
  service_tier: { ...translated, note: "toward Messages auto, or standard_only for everything else" },
  user: translated,
  safety_identifier: shared,
  metadata: shared,
  store: shared,
  moderation: shared,
  prompt_cache_key: shared,
  prompt_cache_options: shared,
  prompt_cache_retention: shared,
  prediction: { ...dropped, note: "a hint for speed" },
  modalities: { ...refused, noOpValues: [["text"]] },
  audio: refused,
  web_search_options: refused,
  functions: { ...refused, note: "the former name of tools" },
  function_call: { ...refused, noOpValues: ["none", "auto"] },
};
