/** Speech and transcription of each upstream: the operations, their usage and their failures. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, ModelOperation, Usage } from "../core/index.ts";
import type { UpstreamOperation } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

const compatible = (preset: NonNullable<ProviderChoice["preset"]>): Upstream => ({ kind: "openai-compatible", preset });
const openai: Upstream = { kind: "openai" };
const xai: Upstream = { kind: "xai" };
const mistral = compatible("mistral");
const groq = compatible("groq");
const generic = compatible("generic");

function operationsOf(upstream: Upstream) {
  return createProvider({ ...upstream, baseUrl: "https://upstream.example" }).operations;
}

function operation(upstream: Upstream, name: ModelOperation): UpstreamOperation {
  const found = operationsOf(upstream)[name];
  if (found === undefined) throw new Error(`${upstream.kind} has no ${name}`);
  return found;
}

const none = [undefined, undefined, undefined];
const openaiPaths = ["/audio/speech", "/audio/transcriptions", "/audio/translations"];

test.each<[Upstream, (string | undefined)[]]>([
  [openai, openaiPaths],
  [xai, ["/tts", "/stt", undefined]],
  [mistral, ["/audio/speech", "/audio/transcriptions", undefined]],
  [groq, openaiPaths],
  [generic, openaiPaths],
  [compatible("vllm"), openaiPaths],
  [compatible("ollama"), none],
  [compatible("deepseek"), none],
  [compatible("moonshot"), none],
  [compatible("perplexity"), none],
  [{ kind: "google" }, none],
  [{ kind: "anthropic" }, none],
  [{ kind: "byteplus" }, none],
])("the paths of %j for speech, transcription and translation are %j", (upstream, paths) => {
  const { speech, transcription, translation } = operationsOf(upstream);
  expect([speech?.path, transcription?.path, translation?.path]).toEqual(paths);
});

describe("usage", () => {
  const details = { text_tokens: 14, audio_tokens: 300 };
  const tokens = { type: "tokens", input_tokens: 314, output_tokens: 45, total_tokens: 359 };
  const voxtral = { prompt_tokens: 4, completion_tokens: 635, total_tokens: 3_264 };
  const rows: [string, Upstream, ModelOperation, JsonObject, Usage | undefined][] = [
    [
      "tokens of the prompt and of the audio",
      openai,
      "transcription",
      { text: "x", usage: { ...tokens, input_token_details: details } },
      { input: 14, inputAudio: 300, output: 45, requests: 1 },
    ],
    [
      "tokens without details",
      openai,
      "transcription",
      { text: "x", usage: tokens },
      { input: 0, inputAudio: 314, output: 45, requests: 1 },
    ],
    [
      "audio tokens, limited to the total",
      openai,
      "transcription",
      { text: "x", usage: { ...tokens, input_token_details: { audio_tokens: 999 } } },
      { input: 0, inputAudio: 314, output: 45, requests: 1 },
    ],
    [
      "seconds",
      openai,
      "transcription",
      { text: "x", usage: { type: "duration", seconds: 9 } },
      { inputAudioMs: 9_000, requests: 1 },
    ],
    [
      "billed seconds, which take precedence over the duration",
      openai,
      "transcription",
      { text: "x", duration: 8.47, usage: { type: "duration", seconds: 9 } },
      { inputAudioMs: 9_000, requests: 1 },
    ],
    [
      "the duration, if no seconds are billed",
      openai,
      "translation",
      { text: "x", duration: 8.4699 },
      { inputAudioMs: 9_000, requests: 1 },
    ],
    [
      "seconds as a text",
      generic,
      "transcription",
      { text: "x", duration: "8.5" },
      { inputAudioMs: 8_500, requests: 1 },
    ],
    [
      "seconds and duration of a diarized transcript",
      openai,
      "transcription",
      { text: "x", duration: 30, usage: { ...tokens, input_token_details: details } },
      { input: 14, inputAudio: 300, output: 45, inputAudioMs: 30_000, requests: 1 },
    ],
    [
      "the last event of a transcript",
      openai,
      "transcription",
      { type: "transcript.text.done", text: "x", usage: { ...tokens, input_token_details: details } },
      { input: 14, inputAudio: 300, output: 45, requests: 1 },
    ],
    ["an answer without any", groq, "transcription", { text: "x", x_groq: { id: "req_1" } }, undefined],
    ["a duration of zero", openai, "transcription", { text: "", duration: 0 }, undefined],
    ["invalid figures", openai, "transcription", { text: "", duration: "soon", usage: { seconds: -1 } }, undefined],
    [
      "the last event of speech",
      openai,
      "speech",
      { type: "speech.audio.done", usage: { input_tokens: 20, output_tokens: 150, total_tokens: 170 } },
      { input: 20, outputAudio: 150, requests: 1 },
    ],
    ["an event of speech", openai, "speech", { type: "speech.audio.delta", audio: "AAAA" }, undefined],
    ["a last event with zeros", openai, "speech", { usage: { input_tokens: 0, output_tokens: 0 } }, undefined],
    ["xAI's seconds", xai, "transcription", { text: "x", duration: 3.2 }, { inputAudioMs: 3_200, requests: 1 }],
    ["xAI's answer without seconds", xai, "transcription", { text: "x" }, undefined],
    ["xAI's speech", xai, "speech", { audio: "AAAA", duration: 1.5 }, undefined],
    [
      "Mistral's seconds, and tokens that only the total includes",
      mistral,
      "transcription",
      { text: "x", usage: { ...voxtral, prompt_audio_seconds: 203 } },
      { input: 4, inputAudio: 2_625, output: 635, inputAudioMs: 203_000, requests: 1 },
    ],
    [
      "Mistral's tokens alone",
      mistral,
      "transcription",
      { text: "x", usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 } },
      { input: 10, inputAudio: 0, output: 3, requests: 1 },
    ],
    ["Mistral's zeros", mistral, "transcription", { usage: { prompt_tokens: 0, total_tokens: 0 } }, undefined],
    ["Mistral's speech", mistral, "speech", { audio_data: "AAAA" }, undefined],
  ];
  test.each(rows)("of %s", (_title, upstream, name, answer, usage) => {
    expect(operation(upstream, name).readUsage(answer)).toEqual(usage === undefined ? undefined : { usage });
  });

  test("consists of whole numbers, whatever an answer contains", () => {
    const figure = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null));
    const usage = fc.record({
      seconds: figure,
      input_tokens: figure,
      output_tokens: figure,
      input_token_details: fc.oneof(fc.constant(null), fc.record({ audio_tokens: figure })),
      prompt_tokens: figure,
      completion_tokens: figure,
      total_tokens: figure,
      prompt_audio_seconds: figure,
    });
    const answer = fc.record({ duration: figure, usage: fc.oneof(usage, figure) });
    const names: ModelOperation[] = ["speech", "transcription"];
    const readers = [openai, xai, mistral].flatMap((upstream) => names.map((name) => operation(upstream, name)));
    fc.assert(
      fc.property(answer, (sample) => {
        for (const reader of readers) {
          const counts = Object.values(reader.readUsage(sample)?.usage ?? {});
          expect(counts.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
        }
      }),
    );
  });
});

describe("a failure with a success status", () => {
  test.each<[Upstream, ModelOperation, JsonObject, boolean]>([
    [openai, "transcription", { text: "" }, false],
    [openai, "transcription", { error: { message: "x" } }, true],
    [xai, "transcription", { error: "speed must be between 0.7 and 1.5" }, true],
    [xai, "transcription", { text: "hi", words: [] }, false],
    [mistral, "transcription", { object: "error", message: "x" }, true],
    [groq, "translation", { text: "hi" }, false],
    [openai, "speech", { error: { message: "x" } }, true],
    [generic, "speech", { error: null, audio: "AAAA" }, false],
    [xai, "speech", { error: "no voice" }, true],
    [xai, "speech", { audio: "AAAA", content_type: "audio/mpeg" }, false],
    [mistral, "speech", { detail: "Unauthorized" }, true],
    [mistral, "speech", { audio_data: "AAAA" }, false],
  ])("%j %s %j: %p", (upstream, name, answer, failed) => {
    expect(operation(upstream, name).isFailure(answer)).toBe(failed);
  });
});
