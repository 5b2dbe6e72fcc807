import { listOf } from "../../core/index.ts";
import type { FieldRule, FieldTable } from "../conversation/index.ts";

/** In its own dialect a field is carried unchanged. */
const own = { gemini: "carried" } as const;

const translated: FieldRule = {
  support: { ...own, chat: "translated", messages: "translated", responses: "translated" },
};
const dropped: FieldRule = { support: { ...own, chat: "dropped", messages: "dropped", responses: "dropped" } };
const refused: FieldRule = { support: { ...own, chat: "refused", messages: "refused", responses: "refused" } };

/** Another modality than text, or a number, which may stand for any. */
const asksMedia = (value: unknown): boolean =>
  (Array.isArray(value) ? listOf(value) : [value]).some(
    (one) => typeof one !== "string" || !/^(?:text|modality_unspecified)$/i.test(one),
  );

/** The support for every field of Gemini's generateContent in the other dialects. Those of an inner object by their path. */
export const geminiFields: FieldTable = {
  contents: { ...translated, note: "a list, or one content; roles user, model, function and system" },
  "contents.parts.text": translated,
  "contents.parts.thought": { ...translated, note: "its text; its signature is sent to its maker only" },
  "contents.parts.thoughtSignature": { ...translated, note: "sent to its maker only" },
  "contents.parts.inlineData": {
    ...translated,
    note: "images, PDF, text, sound: what the dialect of the upstream has",
  },
  "contents.parts.fileData": {
    ...translated,
    note: "an image or a document by its address; toward chat a document is fetched",
  },
  "contents.parts.functionCall": { ...translated, note: "one without an id gets one" },
  "contents.parts.functionResponse": {
    ...translated,
    note: "matched by its id, else by its name and the order; output, error, or the whole object as text",
  },
  "contents.parts.executableCode": { ...translated, note: "as text; likewise codeExecutionResult" },
  "contents.parts.toolCall": { ...dropped, note: "a tool that Google has run; likewise toolResponse" },
  "contents.parts.videoMetadata": { ...dropped, note: "likewise mediaResolution, mediaProcessing, partMetadata" },
  systemInstruction: { ...translated, note: "text" },
  tools: {
    ...translated,
    note: "functionDeclarations; those that Google runs (googleSearch, codeExecution, urlContext …) are left out",
  },
  "toolConfig.functionCallingConfig": { ...translated, note: "VALIDATED as AUTO; with the allowed names" },
  "toolConfig.retrievalConfig": dropped,
  "toolConfig.includeServerSideToolInvocations": dropped,
  "generationConfig.maxOutputTokens": translated,
  "generationConfig.temperature": {
    ...translated,
    note: "toward Messages at most 1; dropped if the model refuses it or thinks",
  },
  "generationConfig.topP": { ...translated, note: "dropped if the model refuses it or thinks" },
  "generationConfig.topK": {
    support: { ...own, chat: "dropped", messages: "translated", responses: "dropped" },
  },
  "generationConfig.presencePenalty": {
    support: { ...own, chat: "translated", messages: "dropped", responses: "dropped" },
  },
  "generationConfig.frequencyPenalty": {
    support: { ...own, chat: "translated", messages: "dropped", responses: "dropped" },
  },
  "generationConfig.seed": { support: { ...own, chat: "translated", messages: "dropped", responses: "dropped" } },
  "generationConfig.stopSequences": {
    support: { ...own, chat: "translated", messages: "translated", responses: "refused" },
  },
  "generationConfig.candidateCount": { ...refused, noOpValues: [1] },
  "generationConfig.responseMimeType": { ...translated, note: "JSON; text/x.enum is refused" },
  "generationConfig.responseSchema": {
    ...translated,
    note: "also as responseJsonSchema; of another type than object, the prompt asks for it",
  },
  "generationConfig.thinkingConfig": {
    ...translated,
    note: "a level as an effort; a budget as an effort, or of tokens; thoughts are shown with includeThoughts, or if functions are offered",
  },
  "generationConfig.responseModalities": { ...refused, isRequested: asksMedia, note: "other than TEXT" },
  "generationConfig.responseLogprobs": refused,
  "generationConfig.logprobs": { ...refused, noOpValues: [0] },
  "generationConfig.speechConfig": dropped,
  "generationConfig.imageConfig": dropped,
  "generationConfig.mediaResolution": dropped,
  "generationConfig.audioTimestamp": dropped,
  "generationConfig.enableEnhancedCivicAnswers": dropped,
  safetySettings: { ...dropped, note: "agents send them with every request" },
  cachedContent: { ...refused, note: "a prompt that Google stores" },
  serviceTier: translated,
  continuationToken: { ...refused, note: "only its maker can read it" },
  store: dropped,
  labels: dropped,
};
