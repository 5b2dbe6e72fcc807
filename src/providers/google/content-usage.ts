import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import { countOf } from "../shared/json.ts";

/** The tokens of one answer of the native API, as it nests them. */
export interface ContentUsage {
  /** All that went in, the cached part of it included. */
  prompt: number;
  promptImages: number;
  cached: number;
  cachedImages: number;
  /** All that came out, but for thoughts. */
  candidates: number;
  images: number;
  thoughts: number;
}

/** What `usageMetadata` counts; zeros are left out there. Undefined where there is none. */
export function countContent(answer: JsonObject): ContentUsage | undefined {
  const usage = objectOf(answer["usageMetadata"]);
  if (usage === undefined) return undefined;
  const prompt = countOf(usage["promptTokenCount"]) + countOf(usage["toolUsePromptTokenCount"]);
  const promptImages = Math.min(imagesIn(usage["promptTokensDetails"]) ?? 0, prompt);
  const cached = Math.min(countOf(usage["cachedContentTokenCount"]), prompt);
  const cachedImages = Math.min(imagesIn(usage["cacheTokensDetails"]) ?? 0, cached, promptImages);
  const candidates = countOf(usage["candidatesTokenCount"]);
  // Where it takes nothing apart, what comes out of an image model is an image.
  const images = Math.min(imagesIn(usage["candidatesTokensDetails"]) ?? candidates, candidates);
  return {
    prompt,
    promptImages,
    cached,
    cachedImages,
    candidates,
    images,
    thoughts: countOf(usage["thoughtsTokenCount"]),
  };
}

/** The same in buckets that lie side by side. */
export function readContentUsage(answer: JsonObject): ObservedUsage | undefined {
  const counted = countContent(answer);
  if (counted === undefined) return undefined;
  const { prompt, promptImages, cached, cachedImages, candidates, images, thoughts } = counted;
  const cacheRead = cached - cachedImages;
  const inputImage = Math.min(promptImages - cachedImages, prompt - cached);
  return {
    usage: {
      input: prompt - cached - inputImage,
      cacheRead,
      inputImage,
      cacheImageRead: cachedImages,
      output: candidates - images,
      outputImage: images,
      reasoning: thoughts,
      requests: 1,
    },
  };
}

/** Tokens of images in a list by kind; undefined where there is no list. */
function imagesIn(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const images = listOf(details).map((detail) => objectOf(detail) ?? {});
  return images
    .filter(({ modality }) => modality === "IMAGE")
    .reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0);
}
