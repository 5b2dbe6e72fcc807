import { type JsonObject, objectOf, type ObservedUsage } from "../../../core/index.ts";
import type { UpstreamOperation } from "../../provider.ts";
import { textOf, toldCount, uncountedOf } from "../json.ts";

/** Only the last event of streamed speech reports tokens; audio bytes contain no usage. */
export function readSpeechUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  const input = toldCount(usage?.["input_tokens"]);
  // Speech has at least one token, so a count of zero means that the upstream did not count.
  const outputAudio = toldCount(usage?.["output_tokens"]) ?? 0;
  if (outputAudio === 0) return undefined;
  return { usage: { input: input ?? 0, outputAudio, requests: 1 }, ...uncountedOf(input, outputAudio) };
}

/** The id of a voice, given as a string or as an object. The upstream refuses voices that it lacks. */
export function voiceId(voice: unknown): string | undefined {
  return textOf(voice) ?? textOf(objectOf(voice)?.["id"]);
}

/** The members of a body that are not in `known`; they are the upstream's own and are passed on. */
export function otherFields(body: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !known.has(key)));
}

/** The speech operation of an upstream that uses OpenAI's format. */
export const speechOperation: UpstreamOperation = {
  path: "/audio/speech",
  edits: () => [],
  readUsage: readSpeechUsage,
  isFailure: ({ error }) => error !== undefined && error !== null,
};
