import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import { countOf, uncountedOf } from "../shared/json.ts";

/** The token counts of one answer of the native API, nested as in the API. */
export interface ContentUsage {
  /** All input tokens, including cached ones. */
  prompt: number;
  promptImages: number;
  cached: number;
  cachedImages: number;
  /** All output tokens except reasoning. */
  candidates: number;
  images: number;
  thoughts: number;
}

/** Reads the counts of `usageMetadata`, which omits zeros. Undefined if it is absent. */
export function countContent(answer: JsonObject): ContentUsage | undefined {
  const usage = objectOf(answer["usageMetadata"]);
  if (usage === undefined) return undefined;
  const prompt = countOf(usage["promptTokenCount"]) + countOf(usage["toolUsePromptTokenCount"]);
  const promptImages = Math.min(imagesIn(usage["promptTokensDetails"]) ?? 0, prompt);
  const cached = Math.min(countOf(usage["cachedContentTokenCount"]), prompt);
  const cachedImages = Math.min(imagesIn(usage["cacheTokensDetails"]) ?? 0, cached, promptImages);
  const candidates = countOf(usage["candidatesTokenCount"]);
  // Without details, all output of an image model counts as image tokens.
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

/** Reads the same counts into disjoint buckets. */
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
      // Without a count, the images that were delivered count.
      ...(candidates === 0 ? {} : { output: candidates - images, outputImage: images }),
      reasoning: thoughts,
      requests: 1,
    },
    ...uncountedOf(prompt === 0 ? undefined : prompt, candidates),
  };
}

/** Image tokens in a list of counts by modality; undefined if the list is absent. */
export function imagesIn(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const images = listOf(details).map((detail) => objectOf(detail) ?? {});
  return images
    .filter(({ modality }) => modality === "IMAGE")
    .reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0);
}
