import { type JsonObject, objectOf, type ObservedUsage, type Usage } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { countOf } from "./json.ts";

const MS_PER_SECOND = 1_000;

/** Seconds as milliseconds; older answers write them as a text. Undefined for what is no time. */
export function millisecondsOf(seconds: unknown): number | undefined {
  const milliseconds = Math.round(
    Number(typeof seconds === "string" ? seconds.trim() || Number.NaN : seconds) * MS_PER_SECOND,
  );
  const isNumber = typeof seconds === "number" || typeof seconds === "string";
  return isNumber && countOf(milliseconds) > 0 ? milliseconds : undefined;
}

/** Tokens of the prompt and of the sound; where they are not told apart, the dearer of both. */
function tokensOf(usage: JsonObject): Usage | undefined {
  const tokensIn = countOf(usage["input_tokens"]);
  const output = countOf(usage["output_tokens"]);
  if (tokensIn + output === 0) return undefined;
  // In the singular, unlike everywhere else (`docs/wire/openai.md`).
  const details = objectOf(usage["input_token_details"]);
  const inputAudio = Math.min(details === undefined ? tokensIn : countOf(details["audio_tokens"]), tokensIn);
  return { input: tokensIn - inputAudio, inputAudio, output };
}

/** Tokens or seconds, whichever the model is billed by; a detailed answer tells its seconds beside them. */
export function readTranscriptionUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]) ?? {};
  const inputAudioMs = millisecondsOf(usage["seconds"]) ?? millisecondsOf(answer["duration"]);
  const tokens = tokensOf(usage);
  if (inputAudioMs === undefined && tokens === undefined) return undefined;
  return { usage: { ...tokens, ...(inputAudioMs === undefined ? {} : { inputAudioMs }), requests: 1 } };
}

/** Whatever an error looks like, and some are sentences: a transcript has a text, be it empty. */
export function hasNoTranscript({ text }: JsonObject): boolean {
  return typeof text !== "string";
}

/** The transcription operation of an upstream that speaks OpenAI's shape of it. */
export const transcriptionOperation: UpstreamOperation = {
  path: "/audio/transcriptions",
  edits: () => [],
  readUsage: readTranscriptionUsage,
  isFailure: hasNoTranscript,
};

/** The same into English. */
export const translationOperation: UpstreamOperation = { ...transcriptionOperation, path: "/audio/translations" };
