import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamOperation, UpstreamRequests } from "../provider.ts";
import { countOf, textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";

/** One part of OpenAI's and others' multimodal embeddings as Google's. */
function partOf(part: unknown): JsonObject {
  const { type, text, image_url } = objectOf(part) ?? {};
  if (type === "text" && typeof text === "string") return { text };
  const url = textOf(objectOf(image_url)?.["url"]);
  if (url === undefined) throw refusal("input", "must be texts, or parts of the types text and image_url.");
  const [, mimeType] = /^data:([\w.+/-]+);base64,/i.exec(url) ?? [];
  if (mimeType === undefined) return { fileData: { fileUri: url } };
  return { inlineData: { mimeType, data: url.slice(url.indexOf(",") + 1) } };
}

/** The contents to embed: one each for texts, one for a list of parts. */
function contentsOf(input: unknown): JsonObject[] {
  const entries: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (entries.every((entry) => typeof entry === "string")) return entries.map((text) => ({ parts: [{ text }] }));
  return [{ parts: entries.map(partOf) }];
}

function toUpstream({ body }: CallInput, model: string): UpstreamRequests {
  const name = model.replace(/^models\//, "");
  const { input, input_type: taskType, title, dimensions: outputDimensionality } = body;
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

function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const tokens = tokensOf(answer);
  return tokens === 0 ? undefined : { usage: { input: tokens, requests: 1 } };
}

/** Vectors by Google's own API, which alone knows purposes, titles and images (`docs/wire/gemini.md`). */
export const embedContents: UpstreamOperation = {
  path: "/v1beta/models/",
  edits: () => [],
  toUpstream,
  readUsage,
  isFailure: (answer) => !Array.isArray(answer["embeddings"]),
};
