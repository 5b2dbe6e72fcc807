/** Google's requests for vectors in OpenAI's terms, and the vectors back. */
import { GatewayError, type JsonObject, listOf, objectOf } from "../../core/index.ts";
import { camelMember, inCamel } from "../../dialects/index.ts";

/** A call of embeddings. */
export interface AskedVectors {
  /** A text, several, or the parts of one content that is more than text. */
  input: string | string[] | JsonObject[];
  dimensions?: number;
  /** Google's name of the purpose, such as RETRIEVAL_QUERY. */
  taskType?: string;
  title?: string;
}

/** The body of `embedContent`. Throws 422 naming the field. */
export function readEmbedding(body: JsonObject): AskedVectors {
  return { input: inputOf(partsOf(body, "content.parts")), ...settingsOf(body) };
}

/** The body of `batchEmbedContents`, whose requests differ in their texts only. Throws 422 naming the field. */
export function readEmbeddings(body: JsonObject): AskedVectors {
  const requests = listOf(body["requests"]).map((request) => objectOf(request) ?? {});
  const [first = {}] = requests;
  const settings = JSON.stringify(settingsOf(first));
  if (requests.length === 1) return readEmbedding(first);
  const input = requests.map((request, index) => {
    const field = `requests.${index}`;
    if (JSON.stringify(settingsOf(request)) !== settings) {
      throw invalid(field, "must have the taskType, title and outputDimensionality of the first request");
    }
    const own = inputOf(partsOf(request, `${field}.content.parts`));
    if (typeof own === "string") return own;
    throw invalid(`${field}.content.parts`, "must be texts: send other parts alone, by embedContent");
  });
  return { input, ...settingsOf(first) };
}

/** The answer, from OpenAI's. */
export function writeVectors({ data, usage }: JsonObject, isBatch: boolean): JsonObject {
  const embeddings = listOf(data).map((item) => ({ values: objectOf(item)?.["embedding"] ?? [] }));
  const tokens = objectOf(usage)?.["prompt_tokens"];
  return {
    ...(isBatch ? { embeddings } : { embedding: embeddings[0] ?? { values: [] } }),
    ...(typeof tokens === "number" &&
      tokens > 0 && { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }),
  };
}

function settingsOf(request: JsonObject): Omit<AskedVectors, "input"> {
  // Newer SDKs have them in an object of their own.
  const own = { ...inCamel(request), ...camelMember(request, "embedContentConfig") };
  const { taskType, title, outputDimensionality: dimensions } = own;
  return {
    ...(typeof taskType === "string" && { taskType }),
    ...(typeof title === "string" && { title }),
    ...(typeof dimensions === "number" && { dimensions }),
  };
}

function partsOf(request: JsonObject, field: string): JsonObject[] {
  const parts = listOf(objectOf(request["content"])?.["parts"]).map((part) => inCamel(objectOf(part) ?? {}));
  if (parts.length === 0) throw invalid(field, "must have at least one part");
  return parts;
}

/** All texts are one text; anything else goes as the parts of one content. */
function inputOf(parts: readonly JsonObject[]): string | JsonObject[] {
  const texts = parts.map(({ text }) => text).filter((text) => typeof text === "string");
  return texts.length === parts.length ? texts.join("\n") : parts.map(partOf);
}

function partOf(part: JsonObject): JsonObject {
  const { text } = part;
  if (typeof text === "string") return { type: "text", text };
  const data = camelMember(part, "inlineData");
  const { mimeType, fileUri } = data ?? camelMember(part, "fileData") ?? {};
  if (typeof mimeType === "string" && !/^image\//i.test(mimeType)) {
    throw invalid("content.parts", "must be texts or images: this gateway takes no sound, video or document to embed");
  }
  const url = data === undefined ? fileUri : `data:${String(mimeType)};base64,${String(data["data"])}`;
  if (typeof url === "string") return { type: "image_url", image_url: { url } };
  throw invalid("content.parts", "must be text, inlineData or fileData");
}

function invalid(param: string, why: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${why}.`, { param });
}
