import { tokensOfBytes, type WorkBound } from "../../core/index.ts";
import type { SpeechRequest } from "./request.ts";
import { speechTokens } from "./tokens.ts";

/** Tokens that a model may set around the text and the instructions. */
const AROUND_TOKENS_MAX = 32;

/** The slowest that is spoken, digits one by one: texts take 15 characters a second, Chinese takes four. */
const CHARACTERS_PER_SECOND_MIN = 3;

/** Silence before and after. */
const PAUSE_MS_MAX = 2_000;

/** OpenAI's slowest is 0.25; what is slower yet is refused by whoever is asked. */
const SPEED_MIN = 0.1;

/**
 * Voices are priced by the character, or by tokens of text and of sound. How long it will take to say is not known. Upstreams
 * charge all of the text, however much of it is heard.
 */
export function boundSpeech(body: SpeechRequest): WorkBound {
  const inputCharacters = charactersOf(body.input);
  const speed = Math.max(body.speed ?? 1, SPEED_MIN);
  const spokenMs = (inputCharacters * 1_000) / CHARACTERS_PER_SECOND_MIN / speed + PAUSE_MS_MAX;
  return {
    inputTokens: bytesOf(body) + AROUND_TOKENS_MAX,
    outputTokens: speechTokens(spokenMs),
    choices: 1,
    expectedInput: { input: tokensOfBytes(bytesOf(body)) },
    inputUnits: { inputCharacters },
  };
}

function bytesOf({ input, instructions }: SpeechRequest): number {
  return Buffer.byteLength(input) + Buffer.byteLength(instructions ?? "");
}

/** Code points: a letter outside the first plane is one character, though a string has it in two parts. */
function charactersOf(text: string): number {
  let characters = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    characters += 1;
  }
  return characters;
}
