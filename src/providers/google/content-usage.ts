import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import { countOf, uncountedOf } from "../shared/json.ts";
import { tokensOf } from "./modalities.ts";

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
  const promptImages = Math.min(tokensOf("IMAGE", usage["promptTokensDetails"]) ?? 0, prompt);
  const cached = Math.min(countOf(usage["cachedContentTokenCount"]), prompt);
  const cachedImages = Math.min(tokensOf("IMAGE", usage["cacheTokensDetails"]) ?? 0, cached, promptImages);
  const candidates = countOf(usage["candidatesTokenCount"]);
  // Without details, all output of an image model counts as image tokens.
  const images = Math.min(tokensOf("IMAGE", usage["candidatesTokensDetails"]) ?? candidates, candidates);
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
