import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamOperation, UpstreamRequests } from "../provider.ts";
import { countOf, textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { tokensOf as tokensByModality } from "./modalities.ts";

/** Google's names of the purposes that a text may have. */
export const purposes = [
  "RETRIEVAL_QUERY",
  "RETRIEVAL_DOCUMENT",
  "SEMANTIC_SIMILARITY",
  "CLASSIFICATION",
  "CLUSTERING",
  "QUESTION_ANSWERING",
  "FACT_VERIFICATION",
  "CODE_RETRIEVAL_QUERY",
];

/** The contents of one request, by Google's own API. Each is sent with the purpose and the title. */
const CONTENTS_MAX = 100;
const TITLE_BYTES_MAX = 1024;

/** The address or the data of a part. */
function imageIn(part: JsonObject): string | undefined {
  return textOf(objectOf(part["image_url"])?.["url"]);
}

/** One part of OpenAI's and others' multimodal embeddings as Google's. */
function partOf(value: unknown): JsonObject {
  const part = objectOf(value) ?? {};
  const { type, text } = part;
  if (type === "text" && typeof text === "string") return { text };
  const url = imageIn(part);
  if (url === undefined) throw refusal("input", "must be texts, or parts of the types text and image_url.");
  const [, mimeType] = /^data:(image\/[\w.+-]+);base64,/i.exec(url) ?? [];
  if (mimeType !== undefined) return { inlineData: { mimeType, data: url.slice(url.indexOf(",") + 1) } };
  if (isPublicAddress(url)) return { fileData: { fileUri: url } };
  throw refusal("input", "an image is its data in base64 (data:image/…), or its address outside of Google's stores.");
}

/** Google reads its own stores with the operator's key: for anybody who knows a name in them. */
function isPublicAddress(address: string): boolean {
  const { protocol, hostname = "" } = URL.parse(address) ?? {};
  return (protocol === "https:" || protocol === "http:") && !/(?:^|\.)googleapis\.com\.?$/.test(hostname);
}

/** The contents to embed: one each for texts, one for a list of parts. */
function contentsOf(input: unknown): JsonObject[] {
  const entries: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (entries.every((entry) => typeof entry === "string")) return entries.map((text) => ({ parts: [{ text }] }));
  return [{ parts: entries.map(partOf) }];
}

/** A batch repeats them in each of its requests. */
function checkSettings({ input, input_type: purpose, title }: JsonObject): void {
  if (listOf(input).length > CONTENTS_MAX) {
    throw refusal("input", `has at most ${CONTENTS_MAX} entries with a purpose or an image.`);
  }
  if (typeof purpose === "string" && !purposes.includes(purpose)) {
    throw refusal("input_type", `must be one of ${purposes.join(", ")}.`);
  }
  if (typeof title === "string" && Buffer.byteLength(title) > TITLE_BYTES_MAX) {
    throw refusal("title", `has at most ${TITLE_BYTES_MAX} bytes.`);
  }
}

function toUpstream({ body }: CallInput, model: string): UpstreamRequests {
  const name = model.replace(/^models\//, "");
  const { input, input_type: taskType, title, dimensions: outputDimensionality } = body;
  checkSettings(body);
  const settings = Object.entries({ taskType, title, outputDimensionality });
  const given = Object.fromEntries(settings.filter(([, value]) => value !== undefined && value !== null));
  const requests = contentsOf(input).map((content) => ({ model: `models/${name}`, content, ...given }));
  return {
    requests: [{ subpath: `${encodeURIComponent(name)}:batchEmbedContents`, json: { requests } }],
    answer: ([answer = {}]) => answerOf(answer, name),
  };
}

function tokensOf(answer: JsonObject): number {
  return countOf(objectOf(answer["usageMetadata"])?.["promptTokenCount"]);
}

function answerOf(answer: JsonObject, model: string): JsonObject {
  const data = listOf(answer["embeddings"]).map((embedding, index) => ({
    object: "embedding",
    index,
    embedding: objectOf(embedding)?.["values"] ?? [],
  }));
  const tokens = tokensOf(answer);
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** `countsImages`: whether tokens without a modality are those of an image. */
function usageIn(answer: JsonObject, countsImages: boolean): ObservedUsage | undefined {
  const tokens = tokensOf(answer);
  if (tokens === 0) return undefined;
  const counted = tokensByModality("IMAGE", objectOf(answer["usageMetadata"])?.["promptTokensDetails"]);
  const inputImage = Math.min(counted ?? (countsImages ? tokens : 0), tokens);
  return { usage: { input: tokens - inputImage, inputImage, requests: 1 } };
}

/** Vectors of texts by Google's own API, which alone knows purposes and titles (`docs/wire/gemini.md`). */
const embedTexts: UpstreamOperation = {
  path: "/v1beta/models/",
  edits: () => [],
  toUpstream,
  readUsage: (answer) => usageIn(answer, false),
  isFailure: (answer) => !Array.isArray(answer["embeddings"]),
};

/** The same of a content with images, which it alone knows too. */
const embedImages: UpstreamOperation = { ...embedTexts, readUsage: (answer) => usageIn(answer, true) };

/** The operation of Google's own API for a body that the compatible layer would refuse or ignore in part; undefined for any other. */
export function embedContentsFor({ input, input_type: purpose }: JsonObject): UpstreamOperation | undefined {
  const parts = listOf(input).map(objectOf);
  if (parts.some((part) => part !== undefined && imageIn(part) !== undefined)) return embedImages;
  return typeof purpose === "string" || parts.some((part) => part !== undefined) ? embedTexts : undefined;
}
