import { type JsonObject, listOf, objectOf, type ObservedUsage, type Usage } from "../../core/index.ts";
import { countOf, textOf, toldCount, uncountedOf } from "../shared/json.ts";
import { withTier } from "../shared/terms.ts";
import { mediaOf, tokensOf } from "./modalities.ts";

/**
 * The usage in an answer of generateContent, or in a stream so far: tokens by `usageMetadata`, which leaves out zeros, and the
 * searches that ground it. Undefined if it has neither.
 */
export function readGenerateUsage(answer: JsonObject): ObservedUsage | undefined {
  const metadata = objectOf(answer["usageMetadata"]);
  const model = textOf(answer["modelVersion"]) ?? "";
  const webSearches = searchesIn(answer, model);
  const read = metadata === undefined ? undefined : readTokens(metadata, model);
  if (read === undefined && webSearches === 0) return isBlocked(answer) ? { usage: { requests: 1 } } : undefined;
  const tokens = read ?? { usage: {}, ...uncountedOf(undefined, undefined) };
  const usage = webSearches === 0 ? tokens.usage : { ...tokens.usage, webSearches };
  return withTier({ ...tokens, usage }, textOf(metadata?.["serviceTier"])?.toLowerCase());
}

/** A prompt that was stopped before the model, whose tokens Google then counts or does not. */
function isBlocked(answer: JsonObject): boolean {
  return objectOf(answer["promptFeedback"])?.["blockReason"] !== undefined && answer["candidates"] === undefined;
}

function readTokens(metadata: JsonObject, model: string): ObservedUsage | undefined {
  const told = toldCount(metadata["promptTokenCount"]);
  const ofTools = countOf(metadata["toolUsePromptTokenCount"]);
  const prompt = (told ?? 0) + ofTools;
  const thoughts = countOf(metadata["thoughtsTokenCount"]);
  const total = toldCount(metadata["totalTokenCount"]);
  const rest = total === undefined ? undefined : Math.max(total - prompt - thoughts, 0);
  const candidates = toldCount(metadata["candidatesTokenCount"]) ?? (told === undefined ? undefined : rest);
  if (prompt + thoughts + (candidates ?? 0) === 0) return undefined;
  return {
    usage: {
      ...inputOf(metadata, prompt),
      ...outputOf(metadata, candidates ?? 0, model),
      reasoning: thoughts,
      requests: 1,
    },
    ...uncountedOf(prompt === 0 ? undefined : prompt, candidates),
  };
}

/** Cached tokens are a part of the prompt, and those of a modality are a part of either. */
function inputOf(metadata: JsonObject, prompt: number): Usage {
  const cached = Math.min(countOf(metadata["cachedContentTokenCount"]), prompt);
  const inPrompt = (modality: string): number =>
    (tokensOf(modality, metadata["promptTokensDetails"]) ?? 0) +
    (tokensOf(modality, metadata["toolUsePromptTokensDetails"]) ?? 0);
  const inCache = (modality: string): number => tokensOf(modality, metadata["cacheTokensDetails"]) ?? 0;
  const images = Math.min(inPrompt("IMAGE"), prompt);
  const audio = Math.min(inPrompt("AUDIO"), prompt - images);
  const cachedImages = Math.min(inCache("IMAGE"), cached, images);
  const cachedAudio = Math.min(inCache("AUDIO"), cached - cachedImages, audio);
  const uncached = prompt - cached;
  const inputImage = Math.min(images - cachedImages, uncached);
  const inputAudio = Math.min(audio - cachedAudio, uncached - inputImage);
  return {
    input: uncached - inputImage - inputAudio,
    cacheRead: cached - cachedImages - cachedAudio,
    ...(inputImage > 0 && { inputImage }),
    ...(inputAudio > 0 && { inputAudio }),
    ...(cachedImages > 0 && { cacheImageRead: cachedImages }),
    ...(cachedAudio > 0 && { cacheAudioRead: cachedAudio }),
  };
}

/** Without details, all output of a model that draws, speaks or films is that. */
function outputOf(metadata: JsonObject, candidates: number, model: string): Usage {
  const details = metadata["candidatesTokensDetails"];
  const made = mediaOf(model);
  const inOutput = (modality: "IMAGE" | "AUDIO" | "VIDEO"): number =>
    tokensOf(modality, details) ?? (made.includes(modality) ? candidates : 0);
  const outputImage = Math.min(inOutput("IMAGE"), candidates);
  const outputAudio = Math.min(inOutput("AUDIO"), candidates - outputImage);
  const outputVideo = Math.min(inOutput("VIDEO"), candidates - outputImage - outputAudio);
  return {
    output: candidates - outputImage - outputAudio - outputVideo,
    ...(outputImage > 0 && { outputImage }),
    ...(outputAudio > 0 && { outputAudio }),
    ...(outputVideo > 0 && { outputVideo }),
  };
}

/** Models up to 2.5 are billed once for an answer that rests on searches, later ones for each query. */
const billsAnswers = /gemini-(?:1|2)/;

function searchesIn(answer: JsonObject, model: string): number {
  const { candidates } = answer;
  if (candidates === undefined) return 0;
  let queries = 0;
  for (const candidate of listOf(candidates)) {
    const grounding = objectOf(objectOf(candidate)?.["groundingMetadata"]);
    if (grounding === undefined) continue;
    queries += queriesIn(grounding["webSearchQueries"]) + queriesIn(grounding["imageSearchQueries"]);
  }
  return billsAnswers.test(model) ? Math.min(queries, 1) : queries;
}

function queriesIn(value: unknown): number {
  return Array.isArray(value) ? value.filter((query) => typeof query === "string" && query !== "").length : 0;
}
