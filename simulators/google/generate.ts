import { encodePicture, pictureOf } from "../shared/images/picture.ts";
import { asArray, asObject, isObject, type JsonObject } from "../shared/json.ts";
import { type PromptMessage, readContent } from "../shared/prompt.ts";
import { readScenario } from "../shared/scenario.ts";
import { sealOf } from "../shared/seal.ts";
import { type Frame, jsonFrame } from "../shared/sse.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, jsonAnswer, type Route } from "../shared/types.ts";
import { countWords, textPieces } from "../shared/words.ts";
import { nativeErrors } from "./errors.ts";
import { inCamelCase } from "./native-body.ts";
import { textAnswer } from "./text-answer.ts";
import {
  askedSize,
  checkGenerate,
  inlineImages,
  isFirstImageModel,
  isImageModel,
  pictureTokens,
} from "./generate-rules.ts";

const seal = sealOf("google drawing");
const thoughtTokens = 128;
const tokensPerSource = 258;
const thought = "I plan the picture first and then draw it.";
const spoken = "Here is the picture.";

interface GenerateTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  /** Text of the last user's content. */
  readonly prompt: string;
}

/** The checked request in the documented spelling, or the answer that refuses it. */
function read(call: Call): { readonly body: JsonObject; readonly model: string } | Answer {
  const model = call.parameters["model"] ?? "";
  if (!isObject(call.body)) return errorAnswer(nativeErrors.forProblem({ kind: "not-json" }));
  const body = inCamelCase(call.body);
  const problem = checkGenerate(body, model);
  if (problem !== null) return errorAnswer(nativeErrors.forProblem(problem));
  return isMissingModel(model) ? errorAnswer(nativeErrors.modelNotFound(model)) : { body, model };
}

function answer(call: Call, streamed: boolean): Answer {
  const asked = read(call);
  if ("kind" in asked) return asked;
  const { body, model } = asked;
  const modalities = asArray(asObject(body["generationConfig"])["responseModalities"]);
  const isDrawn = isImageModel(model) && (modalities.length === 0 || modalities.includes("IMAGE"));
  const talk = { call, body, model, prompt: lastMessage(body).text };
  const [one, several] = isDrawn ? [whole(talk), chunksOf(talk)] : textAnswer({ call, body, model });
  if (!streamed) return jsonAnswer(one);
  // Without `alt=sse` a stream is one JSON list.
  if (call.query.get("alt") !== "sse") return jsonAnswer([...several]);
  return { kind: "stream", frames: framesOf(several) };
}

function* framesOf(chunks: Iterable<JsonObject>): Generator<Frame> {
  for (const chunk of chunks) yield jsonFrame(chunk);
}

/** The outcome of an answer: its parts and its end, or that the prompt is blocked. */
type Outcome =
  | { readonly blocked: string }
  | { readonly parts: readonly JsonObject[]; readonly finishReason: string; readonly drawn: boolean };

/**
 * `refuse:prompt` blocks the prompt, `refuse:CATEGORY` the picture, and `textonly` gets none: all three are a 200.
 */
function outcomeOf(talk: GenerateTalk): Outcome {
  const { body, prompt } = talk;
  const { refusal } = readScenario(prompt);
  if (refusal === "prompt") return { blocked: "PROHIBITED_CONTENT" };
  const modalities = asArray(asObject(body["generationConfig"])["responseModalities"]);
  if (refusal !== null) return { parts: [], finishReason: "IMAGE_SAFETY", drawn: false };
  if (/\btextonly\b/i.test(prompt)) return { parts: [{ text: spoken }], finishReason: "STOP", drawn: false };
  const talking = modalities.length === 0 || modalities.includes("TEXT");
  const parts = [...thoughtParts(talk), ...(talking ? [{ text: spoken }] : []), drawnPart(talk)];
  return { parts, finishReason: "STOP", drawn: true };
}

function lastMessage(body: JsonObject): PromptMessage {
  const content = asArray(body["contents"])
    .map(asObject)
    .findLast(({ role }) => role !== "model");
  return readContent("user", asArray(content?.["parts"]), (part) => {
    const text = asObject(part)["text"];
    return typeof text === "string" ? { text } : {};
  });
}

/** With `includeThoughts` there is a draft among the thoughts, which is not the picture that was asked for. */
function thoughtParts(talk: GenerateTalk): JsonObject[] {
  const config = asObject(asObject(talk.body["generationConfig"])["thinkingConfig"]);
  if (config["includeThoughts"] !== true || isFirstImageModel(talk.model)) return [];
  const draft = encodePicture(pictureOf(talk.call.identity, "draft", askedSize(talk.body)), "png");
  const inlineData = { mimeType: "image/png", data: draft.toString("base64") };
  return [
    { text: thought, thought: true },
    { inlineData, thought: true },
  ];
}

function drawnPart({ call, body, model }: GenerateTalk): JsonObject {
  const data = encodePicture(pictureOf(call.identity, "image", askedSize(body)), "png").toString("base64");
  const inlineData = { mimeType: "image/png", data };
  return isFirstImageModel(model) ? { inlineData } : { inlineData, thoughtSignature: seal.close([model]) };
}

function whole(talk: GenerateTalk): JsonObject {
  const outcome = outcomeOf(talk);
  if ("blocked" in outcome) return { promptFeedback: { blockReason: outcome.blocked }, ...envelope(talk, outcome) };
  const { parts, finishReason } = outcome;
  const content = parts.length === 0 ? { role: "model" } : { role: "model", parts };
  return { candidates: [{ content, finishReason, index: 0 }], ...envelope(talk, outcome) };
}

/** Each part in pieces; the last chunk contains the finish reason. */
function* chunksOf(talk: GenerateTalk): Generator<JsonObject> {
  const outcome = outcomeOf(talk);
  if ("blocked" in outcome || outcome.parts.length === 0) {
    yield whole(talk);
    return;
  }
  const pieces = outcome.parts.flatMap((part) => {
    const { text } = part;
    return typeof text === "string" ? textPieces(text).map((piece) => ({ ...part, text: piece })) : [part];
  });
  for (const [index, part] of pieces.entries()) {
    const last = index === pieces.length - 1;
    const candidate = {
      content: { role: "model", parts: [part] },
      ...(last ? { finishReason: "STOP" } : {}),
      index: 0,
    };
    yield { candidates: [candidate], ...envelope(talk, last ? outcome : { ...outcome, parts: [], drawn: false }) };
  }
}

function envelope(talk: GenerateTalk, outcome: Outcome): JsonObject {
  const { call, model } = talk;
  const usage = call.faults.noUsage ? {} : { usageMetadata: usageOf(talk, outcome) };
  return { ...usage, modelVersion: model, responseId: call.identity.token("response", 22) };
}

/** Zero counts are left out, as everywhere in this API. */
function usageOf({ body, model, prompt }: GenerateTalk, outcome: Outcome): JsonObject {
  const sources = inlineImages(body).length;
  const promptText = Math.max(1, Math.ceil(prompt.length / 4));
  const promptTokenCount = promptText + sources * tokensPerSource;
  const told = "blocked" in outcome ? [] : outcome.parts.filter((part) => part["thought"] !== true);
  const text = told.reduce(
    (total, part) => total + (typeof part["text"] === "string" ? countWords(part["text"]) : 0),
    0,
  );
  const image = "drawn" in outcome && outcome.drawn ? pictureTokens(body, model) : 0;
  const thoughts = image > 0 && !isFirstImageModel(model) ? thoughtTokens : 0;
  const candidates = text + image;
  return {
    promptTokenCount,
    ...given("candidatesTokenCount", candidates),
    totalTokenCount: promptTokenCount + candidates + thoughts,
    promptTokensDetails: [...modality("TEXT", promptText), ...modality("IMAGE", sources * tokensPerSource)],
    ...(candidates === 0 ? {} : { candidatesTokensDetails: [...modality("TEXT", text), ...modality("IMAGE", image)] }),
    ...given("thoughtsTokenCount", thoughts),
  };
}

function given(name: string, count: number): JsonObject {
  return count === 0 ? {} : { [name]: count };
}

function modality(name: string, tokenCount: number): JsonObject[] {
  return tokenCount === 0 ? [] : [{ modality: name, tokenCount }];
}

const errors = nativeErrors;
const models = "/google/v1beta/models";

/** The native content generation: pictures by the models that draw, plain text by the others. */
export const generateRoutes: readonly Route[] = [
  { method: "POST", path: `${models}/:model:generateContent`, errors, handle: (call) => answer(call, false) },
  { method: "POST", path: `${models}/:model:streamGenerateContent`, errors, handle: (call) => answer(call, true) },
];
