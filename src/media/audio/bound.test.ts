import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CallFile } from "../../core/index.ts";
import { boundSpeech } from "./bound-speech.ts";
import { boundTranscription } from "./bound-transcription.ts";
import { speechRequest, transcriptionForm } from "./request.ts";

const speech = (body: object) => boundSpeech(speechRequest.parse({ model: "openai/tts-1", voice: "alloy", ...body }));

describe("the bound of speech", () => {
  test.each<[string, object, object]>([
    // 6 characters in 8 bytes, 2 seconds at the slowest and 2 of silence: 83.3 tokens.
    [
      "a text: its characters, its bytes, and its time at the slowest",
      { input: "größer" },
      { inputTokens: 8 + 32, outputTokens: 84, expectedInput: { input: 2 }, inputUnits: { inputCharacters: 6 } },
    ],
    [
      "what lies outside the first plane: a character each",
      { input: "𝄞😀x" },
      { inputTokens: 9 + 32, outputTokens: 63, expectedInput: { input: 3 }, inputUnits: { inputCharacters: 3 } },
    ],
    // 30 characters take 10 seconds, and 40 at a quarter of the speed.
    [
      "slow speech: longer",
      { input: "x".repeat(30), speed: 0.25 },
      { inputTokens: 62, outputTokens: 875, expectedInput: { input: 8 }, inputUnits: { inputCharacters: 30 } },
    ],
    [
      "fast speech: shorter",
      { input: "x".repeat(30), speed: 2 },
      { inputTokens: 62, outputTokens: 146, expectedInput: { input: 8 }, inputUnits: { inputCharacters: 30 } },
    ],
    [
      "instructions: tokens, but no characters",
      { input: "abc", instructions: "kindly" },
      { inputTokens: 41, outputTokens: 63, expectedInput: { input: 3 }, inputUnits: { inputCharacters: 3 } },
    ],
    [
      "nothing: a silence",
      { input: "" },
      { inputTokens: 32, outputTokens: 42, expectedInput: { input: 0 }, inputUnits: { inputCharacters: 0 } },
    ],
  ])("of %s", (_title, body, expected) => {
    expect(speech(body)).toMatchObject({ ...expected, choices: 1, outputBuckets: ["outputAudio"] });
  });

  test("counts as many characters as a text has code points", () => {
    const texts = fc.string({ unit: "binary", maxLength: 40 });
    fc.assert(
      fc.property(texts, (input) => {
        expect(speech({ input }).inputUnits).toEqual({ inputCharacters: Array.from(input).length });
      }),
    );
  });
});

function fileOf(size: number, milliseconds?: number): CallFile {
  const read = () => Promise.resolve(Buffer.alloc(size));
  return { field: "file", filename: "a.mp3", contentType: "audio/mpeg", size, milliseconds, read };
}

const transcription = (fields: object, ...files: CallFile[]) =>
  boundTranscription(transcriptionForm.parse({ model: "openai/whisper-1", ...fields }), () => 0, files);

describe("the bound of a transcription", () => {
  test("of a file that was measured is its time, and 10 to 32 tokens a second", () => {
    expect(transcription({}, fileOf(40_000, 12_500))).toEqual({
      inputTokens: 400 + 64,
      inputParts: { inputAudio: 400 },
      outputTokens: undefined,
      choices: 1,
      expectedInput: { inputAudio: 125, input: 0 },
      inputUnits: { inputAudioMs: 12_500 },
    });
  });

  test("of an unreadable one is that of the lowest bit rate, and the charge that of a low one", () => {
    // 40,000 bytes are 80 seconds of 500 bytes, or 20 of 2,000.
    expect(transcription({}, fileOf(40_000))).toEqual({
      inputTokens: 2_560 + 64,
      inputParts: { inputAudio: 2_560 },
      outputTokens: undefined,
      choices: 1,
      expectedInput: { inputAudio: 200, input: 0, inputAudioMs: 20_000 },
      inputUnits: { inputAudioMs: 80_000 },
    });
  });

  test("holds for the prompt, and for the voices that are to be known", () => {
    const fields = { prompt: "größer", known_speaker_references: ["data:audio/wav;base64,AA==", "data:x"] };
    expect(transcription(fields, fileOf(10, 1_000))).toMatchObject({
      inputTokens: 32 * 21 + 8 + 64,
      expectedInput: { inputAudio: 210, input: 2 },
      inputUnits: { inputAudioMs: 1_000 },
    });
  });

  test("is the sum of all files", () => {
    expect(transcription({}, fileOf(10, 1_000), fileOf(8_000))).toMatchObject({
      expectedInput: { inputAudioMs: 5_000 },
      inputUnits: { inputAudioMs: 17_000 },
    });
  });
});
