import { type JsonObject, objectOf, type ObservedUsage } from "../../../core/index.ts";
import type { UpstreamOperation } from "../../provider.ts";
import { countOf, toldCount, uncountedOf } from "../json.ts";

const MS_PER_SECOND = 1_000;

/** Converts seconds to milliseconds; older answers contain them as a text. Undefined for anything else. */
export function millisecondsOf(seconds: unknown): number | undefined {
  const milliseconds = Math.round(
    Number(typeof seconds === "string" ? seconds.trim() || Number.NaN : seconds) * MS_PER_SECOND,
  );
  const isNumber = typeof seconds === "number" || typeof seconds === "string";
  return isNumber && countOf(milliseconds) > 0 ? milliseconds : undefined;
}

/** Tokens of the prompt and of the audio. If they are not separated, all count as audio, which is more expensive. */
function tokensOf(usage: JsonObject): ObservedUsage | undefined {
  const told = { input: toldCount(usage["input_tokens"]), output: toldCount(usage["output_tokens"]) };
  const { input: tokensIn = 0, output = 0 } = told;
  if (tokensIn + output === 0) return undefined;
  // In the singular, unlike in all other answers (`docs/wire/openai.md`).
  const details = objectOf(usage["input_token_details"]);
  const inputAudio = Math.min(details === undefined ? tokensIn : countOf(details["audio_tokens"]), tokensIn);
  return { usage: { input: tokensIn - inputAudio, inputAudio, output }, ...uncountedOf(told.input, told.output) };
}

/** Tokens or seconds, whichever the model is billed by; a detailed answer contains its duration as well. */
export function readTranscriptionUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]) ?? {};
  const inputAudioMs = millisecondsOf(usage["seconds"]) ?? millisecondsOf(answer["duration"]);
  const tokens = tokensOf(usage);
  if (inputAudioMs === undefined && tokens === undefined) return undefined;
  const time = inputAudioMs === undefined ? {} : { inputAudioMs };
  return { ...tokens, usage: { ...tokens?.usage, ...time, requests: 1 } };
}

/** Errors have various formats, some of them strings; a transcript always has a text, possibly an empty one. */
export function hasNoTranscript({ text }: JsonObject): boolean {
  return typeof text !== "string";
}

/** The transcription operation of an upstream that uses OpenAI's format. */
export const transcriptionOperation: UpstreamOperation = {
  path: "/audio/transcriptions",
  edits: () => [],
  readUsage: readTranscriptionUsage,
  isFailure: hasNoTranscript,
};

/** Transcription with translation into English. */
export const translationOperation: UpstreamOperation = { ...transcriptionOperation, path: "/audio/translations" };
