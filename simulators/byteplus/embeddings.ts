import { answerJson } from "../shared/answer-json.ts";
import { attachmentUrl } from "../shared/attachments.ts";
import { isOneOf, isText } from "../shared/check.ts";
import { base64Of, floatsOf, unitVector } from "../shared/embeddings/vector.ts";
import { answerEmbeddings, dimensionsOr, type EmbeddingWire, textTokens } from "../shared/embeddings/wire.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { list, record, type Shape, tagged, value } from "../shared/shape.ts";
import { type Answer, type Call, jsonAnswer, type Route } from "../shared/types.ts";
import { byteplusErrors } from "./errors.ts";

const ownDimensions = 2_048;
/** Tokens of an image or a frame of a video. */
const tokensPerImage = 312;

const isDimension = (given: unknown): string | null => {
  return given === 1_024 || given === ownDimensions ? null : "1024 or 2048";
};
const encodingFormat = isOneOf("float", "base64");

const textWire: EmbeddingWire = {
  fields: { dimensions: isDimension, encoding_format: encodingFormat },
  strict: false,
  takesTokens: false,
  inputsMax: 256,
  errors: byteplusErrors,
  dimensions: ({ body }) => dimensionsOr(body["dimensions"], ownDimensions),
  envelope: ({ call }) => ({ id: callId(call), created: call.identity.created }),
  usage: ({ tokens }) => ({ prompt_tokens: tokens, total_tokens: tokens }),
};

function callId(call: Call): string {
  return `0217672256${call.identity.hex("embeddings", 41)}`;
}

const address = record({ url: attachmentUrl }, { required: ["url"], open: true });
const switched: Shape = record({ type: value(isOneOf("enabled", "disabled")) }, { required: ["type"] });

const multimodalShape = record(
  {
    model: value(isText),
    input: list(
      tagged({
        text: record({ type: value(isText), text: value(isText) }, { required: ["text"] }),
        image_url: record({ type: value(isText), image_url: address }, { required: ["image_url"] }),
        video_url: record({ type: value(isText), video_url: address }, { required: ["video_url"] }),
      }),
      1,
    ),
    encoding_format: value(encodingFormat),
    dimensions: value(isDimension),
    sparse_embedding: switched,
    multi_embedding: switched,
  },
  { required: ["model", "input"], open: true },
);

function answerMultimodal(call: Call): Answer {
  return answerJson(call, {
    errors: byteplusErrors,
    check: multimodalShape,
    answer: (body, model) => fused(call, body, model),
  });
}

/** All inputs together become one vector: `data` is an object, not a list. */
function fused(call: Call, body: JsonObject, model: string): Answer {
  const parts = asArray(body["input"]).map(asObject);
  const vectors = parts.map((part) => write(unitVector(told(part), dimensionsOf(body)), body));
  const data = {
    object: "embedding",
    embedding: write(unitVector(parts.map(told).join("\n"), dimensionsOf(body)), body),
    ...(isEnabled(body["sparse_embedding"]) ? { sparse_embedding: sparse(parts) } : {}),
    ...(isEnabled(body["multi_embedding"]) ? { multi_embedding: vectors } : {}),
  };
  const plain = { id: callId(call), model, created: call.identity.created, object: "list", data };
  return jsonAnswer(call.faults.noUsage ? plain : { ...plain, usage: usage(parts) });
}

function dimensionsOf(body: JsonObject): number {
  return dimensionsOr(body["dimensions"], ownDimensions);
}

function isEnabled(option: unknown): boolean {
  return asObject(option)["type"] === "enabled";
}

function write(vector: Float32Array, body: JsonObject): unknown {
  return body["encoding_format"] === "base64" ? base64Of(vector) : floatsOf(vector);
}

/** A part as text: its own, or its address. */
function told(part: JsonObject): string {
  if (typeof part["text"] === "string") return part["text"];
  return String(asObject(part["image_url"] ?? part["video_url"])["url"]);
}

/** A weight for each of the first words. */
function sparse(parts: readonly JsonObject[]): JsonObject[] {
  const words = parts.flatMap((part) => (typeof part["text"] === "string" ? part["text"].split(/\s+/) : []));
  return words.slice(0, 16).map((word, index) => ({ index: word.length * 1_000 + index, value: 1 / (index + 1) }));
}

function usage(parts: readonly JsonObject[]): JsonObject {
  const texts = parts.flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []));
  const text_tokens = texts.reduce((total, text) => total + textTokens(text), 0);
  const image_tokens = (parts.length - texts.length) * tokensPerImage;
  const prompt_tokens = text_tokens + image_tokens;
  return { prompt_tokens, total_tokens: prompt_tokens, prompt_tokens_details: { text_tokens, image_tokens } };
}

/** Embeddings of ModelArk: a list for texts, one fused vector for texts, images and videos. */
export const embeddingRoutes: readonly Route[] = [
  { method: "POST", path: "/byteplus/api/v3/embeddings", handle: (call) => answerEmbeddings(call, textWire) },
  { method: "POST", path: "/byteplus/api/v3/embeddings/multimodal", handle: answerMultimodal },
];
