import {
  generatedImageTokens,
  type MediaVariant,
  type JsonObject,
  listOf,
  objectOf,
  type ObservedUsage,
  pixelsOf,
  type WorkBound,
} from "../../core/index.ts";
import { type ImagesBody, requestedVariant } from "./bound.ts";

/** Whether an entry of `data` contains an image: not an error in its place, nor a withheld one. */
export function isDelivered({ error, url, b64_json, respect_moderation }: JsonObject): boolean {
  const failed = (error !== undefined && error !== null) || respect_moderation === false;
  return !failed && (isText(url) || isText(b64_json));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The entries of an answer's `data`. */
export function entriesOf({ data }: JsonObject): JsonObject[] {
  return listOf(data).map((entry) => objectOf(entry) ?? {});
}

function isFailed({ error }: JsonObject): boolean {
  return error !== undefined && error !== null;
}

/** The answer with its images as `data`, and those that failed, with their places, as `failed`; as it is if none failed. */
export function withoutFailures(answer: JsonObject): JsonObject {
  const entries = entriesOf(answer);
  const failed = entries.flatMap((entry, index) => (isFailed(entry) ? [{ index, error: entry["error"] }] : []));
  return failed.length === 0 ? answer : { ...answer, data: entries.filter((entry) => !isFailed(entry)), failed };
}

/** The images of a whole answer, and their tokens if it should have reported them. */
export function countImages(body: ImagesBody, answer: JsonObject, bound: WorkBound): ObservedUsage {
  const delivered = entriesOf(answer).filter(isDelivered);
  const images = delivered.length;
  const image = variantOf(body, answer, delivered);
  // Models priced by tokens describe their images, mostly; the others report no tokens.
  const hasTokens = bound.outputImages?.each !== undefined || isText(answer["output_format"]);
  const outputTokens = objectOf(answer["usage"])?.["output_tokens"];
  const isUnreported = hasTokens && !(typeof outputTokens === "number" && outputTokens > 0);
  return {
    usage: { images, ...(isUnreported ? { outputImage: images * expectedImageTokens(image) } : {}) },
    variant: image,
    ...(isUnreported && images > 0 ? { estimated: ["output"] } : {}),
  };
}

/** OpenAI's defaults for models priced per image. */
const plain: MediaVariant = { size: "1024x1024", quality: "standard" };

/**
 * By the answer, else the request. Images of several sizes have no common variant: they are charged at the highest
 * price.
 */
function variantOf(body: ImagesBody, answer: JsonObject, delivered: readonly JsonObject[]): MediaVariant {
  const asked = { ...plain, ...requestedVariant(body) };
  const { quality = asked.quality } = variantIn(answer);
  const [size, ...others] = new Set(
    delivered.map((entry) => variantIn(entry).size ?? variantIn(answer).size ?? asked.size),
  );
  return { size: others.length === 0 ? size : undefined, quality };
}

/** Size and quality, if an answer or an event contains them. */
export function variantIn({ size, quality }: JsonObject): MediaVariant {
  return { size: isText(size) ? size : undefined, quality: isText(quality) ? quality : undefined };
}

/** The estimated tokens of an image without reported tokens: of the default quality, a medium one. */
export function expectedImageTokens({ size, quality = "auto" }: MediaVariant): number {
  const isDefault = quality === "standard" || quality === "auto";
  return generatedImageTokens(pixelsOf(size) ?? SQUARE_PIXELS, isDefault ? "medium" : quality);
}

const SQUARE_PIXELS = 1_024 * 1_024;
