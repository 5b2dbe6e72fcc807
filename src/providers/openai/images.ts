import {
  generatedImageTokens,
  type JsonObject,
  objectOf,
  type ObservedUsage,
  pixelsOf,
  type Usage,
} from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { countOf, textOf, toldCount, uncountedOf } from "../shared/json.ts";

/**
 * GPT Image models count tokens of text and of images, for input and output. Output tokens are image tokens unless they
 * are listed as text. DALL·E counts nothing and is priced per image.
 */
export function readImagesUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const told = toldCount(usage["input_tokens"]);
  const input = told ?? 0;
  const details = objectOf(usage["input_tokens_details"]) ?? {};
  const images = Math.min(countOf(details["image_tokens"]), input);
  const cached = readCached(details, input, images);
  const total = toldCount(usage["output_tokens"]) ?? 0;
  // `{}` or zeros count nothing: the usage is then estimated.
  if (input + total === 0) return undefined;
  const output = Math.min(countOf(objectOf(usage["output_tokens_details"])?.["text_tokens"]), total);
  return {
    usage: {
      input: input - images - cached.text,
      cacheRead: cached.text,
      inputImage: images - cached.images,
      cacheImageRead: cached.images,
      // Without a count, the images that were delivered count.
      ...(total === 0 ? {} : { output, outputImage: total - output }),
      requests: 1,
    },
    ...uncountedOf(told, total),
  };
}

/** Cached tokens by kind. Those without a kind count as text first, up to the number of text tokens. */
function readCached(details: JsonObject, input: number, images: number): { text: number; images: number } {
  const cached = Math.min(countOf(details["cached_tokens"]), input);
  const kinds = objectOf(details["cached_tokens_details"]);
  const ofImages = kinds === undefined ? cached - (input - images) : countOf(kinds["image_tokens"]);
  const cachedImages = Math.min(Math.max(ofImages, 0), images, cached);
  return { text: Math.min(cached - cachedImages, input - images), images: cachedImages };
}

/** The pixels of an image whose size the model chooses: the largest of the guide "Image generation". */
export const AUTO_PIXELS = 1_024 * 1_536;

/** Tokens of each preview of a streamed image, from the same guide. */
export const PREVIEW_TOKENS = 100;

/** DALL·E is priced by the image. */
export function imageUsageMax({ size, quality, partial_images }: JsonObject, model: string): Usage | undefined {
  if (model.startsWith("dall-e")) return undefined;
  const pixels = pixelsOf(textOf(size)) ?? AUTO_PIXELS;
  return {
    outputImage: generatedImageTokens(pixels, textOf(quality) ?? "high") + countOf(partial_images) * PREVIEW_TOKENS,
  };
}

function operation(path: string): UpstreamOperation {
  return {
    path,
    edits: () => [],
    imageUsageMax,
    readUsage: readImagesUsage,
    isFailure: ({ data }) => data === undefined || data === null,
  };
}

export const imageGeneration = operation("/images/generations");

/** Accepts JSON or a form, whichever the client sends. */
export const imageEdit = operation("/images/edits");
