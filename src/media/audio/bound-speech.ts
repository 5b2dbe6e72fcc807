import { tokensOfBytes, type WorkBound } from "../../core/index.ts";
import type { SpeechRequest } from "./request.ts";
import { speechTokens } from "./tokens.ts";

/** Tokens that a model may add around the text and the instructions. */
const AROUND_TOKENS_MAX = 32;

/** The slowest speech, digits one by one: texts take 15 characters a second, Chinese takes four. */
const CHARACTERS_PER_SECOND_MIN = 3;

/** Silence before and after. */
const PAUSE_MS_MAX = 2_000;

/** OpenAI's slowest is 0.25; upstreams refuse slower values. */
const SPEED_MIN = 0.1;

/**
 * Voices are priced by the character, or by text and audio tokens. The duration is unknown in advance. Upstreams charge
 * the whole text, however much of it is played.
 */
export function boundSpeech(body: SpeechRequest): WorkBound {
  const inputCharacters = charactersOf(body.input);
  const speed = Math.max(body.speed ?? 1, SPEED_MIN);
  const spokenMs = (inputCharacters * 1_000) / CHARACTERS_PER_SECOND_MIN / speed + PAUSE_MS_MAX;
  return {
    inputTokens: bytesOf(body) + AROUND_TOKENS_MAX,
    outputTokens: speechTokens(spokenMs),
    outputBuckets: ["outputAudio"],
    choices: 1,
    expectedInput: { input: tokensOfBytes(bytesOf(body)) },
    inputUnits: { inputCharacters },
  };
}

function bytesOf({ input, instructions }: SpeechRequest): number {
  return Buffer.byteLength(input) + Buffer.byteLength(instructions ?? "");
}

/** Code points: a letter outside the basic plane is one character, although a string contains it as two units. */
function charactersOf(text: string): number {
  let characters = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    characters += 1;
  }
  return characters;
}
