import { answerPrompt, type ModelAnswer, type Turn } from "../shared/answer.ts";
import type { Attachment } from "../shared/attachments.ts";
import { tokensPerAttachment } from "../shared/attachments.ts";
import { asObject, type JsonObject, parseJson } from "../shared/json.ts";
import { lastText, type Prompt } from "../shared/prompt.ts";
import type { Call } from "../shared/types.ts";
import { textPieces } from "../shared/words.ts";
import { listIn } from "./native-body.ts";
import { isOlder } from "./native-options.ts";
import { readNativePrompt } from "./native-prompt.ts";
import { callId, signature, textSignature } from "./signatures.ts";

interface TextTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly prompt: Prompt;
  readonly answer: ModelAnswer;
}

/** The answer of a model that writes, and the chunks of its stream. */
export function textAnswer(asked: Pick<TextTalk, "call" | "body" | "model">): [JsonObject, JsonObject[]] {
  const { call, body } = asked;
  const prompt = readNativePrompt(body);
  const talk = { ...asked, prompt, answer: answerPrompt(prompt, call.identity, call.faults.hugeMebibytes) };
  const whole = wholeAnswer(talk);
  return [whole, chunksOf(talk, whole)];
}

/** The text of the prompt blocks it: `refuse:prompt`. */
function wholeAnswer(talk: TextTalk): JsonObject {
  const { answer } = talk;
  if (answer.scenario.refusal === "prompt") {
    return { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...envelope(talk, promptUsage(talk)) };
  }
  const candidates = answer.turns.map((turn, index) => candidateOf(talk, turn, index));
  return { candidates, ...envelope(talk, usageOf(talk)) };
}

function candidateOf(talk: TextTalk, turn: Turn, index: number): JsonObject {
  const parts = talk.call.faults.failed ? [] : partsOf(talk, turn);
  return {
    content: parts.length === 0 ? { role: "model" } : { role: "model", parts },
    finishReason: finishReason(talk, turn),
    index,
    ...groundingOf(talk),
  };
}

function finishReason({ call }: TextTalk, { finish }: Turn): string {
  if (call.faults.failed) return "MALFORMED_FUNCTION_CALL";
  if (finish === "refusal") return "SAFETY";
  return finish === "length" ? "MAX_TOKENS" : "STOP";
}

/** Thoughts if they are asked for; the first call has the signature, or the text of a model that thinks. */
function partsOf(talk: TextTalk, turn: Turn): JsonObject[] {
  const { body, model, call } = talk;
  const config = asObject(asObject(body["generationConfig"])["thinkingConfig"]);
  const isShown = config["includeThoughts"] === true && turn.reasoning !== "";
  const signed = turn.toolCalls.length === 0 && turn.reasoning !== "" && !isOlder(model);
  const calls = turn.toolCalls.map((one, index) => ({
    functionCall: {
      // Older models have no ids.
      ...(isOlder(model) ? {} : { id: callId(one, call.identity) }),
      name: one.name,
      args: asObject(parseJson(one.arguments)),
    },
    ...(index === 0 ? { thoughtSignature: signature(turn) } : {}),
  }));
  return [
    ...(isShown ? [{ text: turn.reasoning, thought: true }] : []),
    ...(turn.text === ""
      ? []
      : [{ text: turn.text, ...(signed ? { thoughtSignature: textSignature(turn.text) } : {}) }]),
    ...calls,
  ];
}

/** An answer that rests on searches: two queries, with the pages that they found. */
function groundingOf({ body, prompt }: TextTalk): JsonObject {
  const searches = listIn(body["tools"]).some((tool) => "googleSearch" in asObject(tool));
  if (!searches) return {};
  const query = lastText(prompt.messages, "user").slice(0, 40);
  return {
    groundingMetadata: {
      webSearchQueries: [query, `${query} news`],
      searchEntryPoint: { renderedContent: "<div></div>" },
      groundingChunks: [{ web: { uri: "https://vertexaisearch.example/page", title: "page.example" } }],
      groundingSupports: [{ segment: { endIndex: 3, text: "You" }, groundingChunkIndices: [0] }],
    },
  };
}

/** Pieces of texts, whole calls, a signature alone at the end; figures in every chunk, of what has come so far. */
function chunksOf(talk: TextTalk, whole: JsonObject): JsonObject[] {
  const { answer } = talk;
  const candidates = listIn(whole["candidates"]).map(asObject);
  const pieces = candidates.flatMap((candidate) => {
    const parts = listIn(asObject(candidate["content"])["parts"]).map(asObject).flatMap(piecesOf);
    return parts.map((part) => ({ content: { role: "model", parts: [part] }, index: candidate["index"] }));
  });
  if (pieces.length === 0) return [whole];
  const running = { ...talk, answer: { ...answer, tokens: { ...answer.tokens, answer: 1 } } };
  const chunks = pieces.map((candidate) => ({ candidates: [candidate], ...envelope(running, usageOf(running)) }));
  const ends = candidates.map((candidate) => ({ ...candidate, content: { role: "model", parts: [{ text: "" }] } }));
  const last = { candidates: ends, ...envelope(talk, usageOf(talk)) };
  const signed = chunks.at(-1);
  // A signature behind the text comes with the end, on a text that is empty.
  if (candidates.length !== 1 || signed === undefined) return [...chunks, last];
  return [...chunks.slice(0, -1), ...closing(signed, last)];
}

function closing(signed: JsonObject, last: JsonObject): JsonObject[] {
  const [candidate] = listIn(signed["candidates"]).map(asObject);
  const [part] = listIn(asObject(candidate?.["content"])["parts"]).map(asObject);
  const [end] = listIn(last["candidates"]).map(asObject);
  const isSignature = part?.["text"] === "" && "thoughtSignature" in part;
  if (!isSignature) return [signed, last];
  return [{ ...last, candidates: [{ ...end, content: { role: "model", parts: [part] } }] }];
}

function piecesOf(part: JsonObject): JsonObject[] {
  const { text, thoughtSignature, ...rest } = part;
  if (typeof text !== "string") return [part];
  const pieces = textPieces(text).map((piece) => ({ ...rest, text: piece }));
  return thoughtSignature === undefined ? pieces : [...pieces, { text: "", thoughtSignature }];
}

function envelope({ call, model }: TextTalk, usageMetadata: JsonObject): JsonObject {
  const usage = call.faults.noUsage ? {} : { usageMetadata };
  return { ...usage, modelVersion: model, responseId: call.identity.token("response", 22) };
}

/** Tokens of the pages that a tool reads at Google. */
const tokensOfPages = 40;

/** Zeros are left out. */
function usageOf(talk: TextTalk): JsonObject {
  const { answer, reasoning } = talk.answer.tokens;
  const { promptTokenCount, totalTokenCount, ...prompt } = promptUsage(talk);
  return {
    promptTokenCount,
    ...given("candidatesTokenCount", answer),
    ...given("thoughtsTokenCount", reasoning),
    totalTokenCount: Number(totalTokenCount) + answer + reasoning,
    ...prompt,
  };
}

function promptUsage({ answer, prompt, body }: TextTalk): JsonObject {
  const { prompt: tokens, cached } = answer.tokens;
  const attachments = prompt.messages.flatMap((message) => message.attachments);
  const reads = listIn(body["tools"]).some((tool) => "urlContext" in asObject(tool)) ? tokensOfPages : 0;
  const details = [
    ...modality("TEXT", tokens - attachments.length * tokensPerAttachment),
    ...(["image", "audio", "video", "file"] as const).flatMap((kind) => detailsOf(kind, attachments)),
  ];
  const tier = body["serviceTier"];
  return {
    promptTokenCount: tokens,
    ...given("cachedContentTokenCount", cached),
    ...given("toolUsePromptTokenCount", reads),
    totalTokenCount: tokens + reads,
    promptTokensDetails: details,
    ...(cached === 0 ? {} : { cacheTokensDetails: modality("TEXT", cached) }),
    ...(reads === 0 ? {} : { toolUsePromptTokensDetails: modality("TEXT", reads) }),
    ...(typeof tier === "string" ? { serviceTier: tier } : {}),
  };
}

const modalities = { image: "IMAGE", audio: "AUDIO", video: "VIDEO", file: "DOCUMENT" } as const;

function detailsOf(kind: keyof typeof modalities, attachments: readonly Attachment[]): JsonObject[] {
  const count = attachments.filter((attachment) => attachment.kind === kind).length;
  return modality(modalities[kind], count * tokensPerAttachment);
}

function modality(name: string, tokenCount: number): JsonObject[] {
  return tokenCount === 0 ? [] : [{ modality: name, tokenCount }];
}

function given(name: string, count: number): JsonObject {
  return count === 0 ? {} : { [name]: count };
}
