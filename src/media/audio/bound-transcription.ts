import type { SizeOf } from "../../bodies/index.ts";
import { tokensOfBytes, type CallFile, listOf, type WorkBound } from "../../core/index.ts";
import type { TranscriptionForm, TranslationForm } from "./request.ts";
import { audioTokens } from "./tokens.ts";

/**
 * A file that cannot be measured may have the lowest bit rate (speech at 4 kbit/s), which is held. A low one (16 kbit/s)
 * is charged if the upstream reports no duration: an unreadable file must not cost less than a readable one.
 */
const BYTES_PER_SECOND_MIN = 500;
const BYTES_PER_SECOND_LIKELY = 2_000;

/** The maximum duration of a reference of a known speaker (OpenAI accepts 2 to 10 seconds). */
const REFERENCE_MS_MAX = 10_000;

/** Tokens that a model may add around the prompt. */
const AROUND_TOKENS_MAX = 64;

/**
 * Audio is priced by its duration or by its tokens. The length of the transcript is unknown: the hold uses the model's
 * limit.
 */
export function boundTranscription(
  body: TranscriptionForm | TranslationForm,
  _sizeOf: SizeOf,
  files: readonly CallFile[],
): WorkBound {
  const sizes = files.map(lengthOf);
  const mostMs = sum(sizes.map(({ most }) => most));
  const likelyMs = sum(sizes.map(({ likely }) => likely));
  const referencesMs = listOf(body["known_speaker_references"]).length * REFERENCE_MS_MAX;
  const inputAudio = audioTokens(mostMs + referencesMs).most;
  const promptBytes = Buffer.byteLength(body.prompt ?? "");
  return {
    inputTokens: inputAudio + promptBytes + AROUND_TOKENS_MAX,
    inputParts: { inputAudio },
    outputTokens: undefined,
    choices: 1,
    expectedInput: {
      inputAudio: audioTokens(likelyMs + referencesMs).likely,
      input: tokensOfBytes(promptBytes),
      ...(likelyMs === mostMs ? {} : { inputAudioMs: likelyMs }),
    },
    inputUnits: { inputAudioMs: mostMs },
  };
}

function lengthOf({ milliseconds, size }: CallFile): { most: number; likely: number } {
  if (milliseconds !== undefined) return { most: milliseconds, likely: milliseconds };
  return {
    most: Math.ceil((size * 1_000) / BYTES_PER_SECOND_MIN),
    likely: Math.ceil((size * 1_000) / BYTES_PER_SECOND_LIKELY),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
