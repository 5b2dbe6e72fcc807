import { type JsonObject, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { countOf, textOf } from "./json.ts";

/** The last event of a streamed speech names tokens; bytes name nothing. */
export function readSpeechUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  const input = countOf(usage?.["input_tokens"]);
  const outputAudio = countOf(usage?.["output_tokens"]);
  // Whatever is said has a token at least: an upstream that counts none has not counted.
  return outputAudio === 0 ? undefined : { usage: { input, outputAudio, requests: 1 } };
}

/** The id of a voice, by its name or as an object; one that the upstream lacks is the upstream's to refuse. */
export function voiceId(voice: unknown): string | undefined {
  return textOf(voice) ?? textOf(objectOf(voice)?.["id"]);
}

/** The members of a body that are none of these: an upstream's own, which go there as they are. */
export function otherFields(body: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !known.has(key)));
}

/** The speech operation of an upstream that speaks OpenAI's shape of it. */
export const speechOperation: UpstreamOperation = {
  path: "/audio/speech",
  edits: () => [],
  readUsage: readSpeechUsage,
  isFailure: ({ error }) => error !== undefined && error !== null,
};
