/** Speech and transcripts with Vercel's `ai`, whose schemas validate OpenAI's format, also of converted answers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateSpeech, transcribe } from "ai";
import { parseBuffer } from "music-metadata";
import { soundFile } from "../../simulators/testing/media.ts";
import { expectSpent, lastReceived, newClient, type Rig, sha256 } from "../kit/index.ts";
import { startAudioRig } from "./audio.ts";

let rig: Rig;
beforeAll(async () => {
  // It has no defaults for unknown models, and warns each time.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  rig = await startAudioRig("http://127.0.0.1:1");
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

async function newProvider() {
  const { caller } = await newClient(rig);
  return { caller, openai: createOpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token }) };
}

test.each([
  ["openai/tts-1", "alloy", 15_000n],
  ["xai/grok-tts", "eve", 15_000n],
  ["mistral/voxtral-mini-tts-2603", "en_paul", 16_000n],
  ["local/some-speech", "anyone", 10_000n],
])("%s speaks", async (model, voice, nano) => {
  const { caller, openai } = await newProvider();
  const { audio } = await generateSpeech({
    model: openai.speech(model),
    text: "Hello 👋 seconds:2",
    voice,
    outputFormat: "wav",
  });
  expect([audio.mediaType, audio.format]).toEqual(["audio/wav", "wav"]);
  expect((await parseBuffer(audio.uint8Array)).format.duration).toBe(2);
  // A hand that waves is one character of 17.
  await expectSpent(rig, caller, 17n * nano);
});

describe.each([
  ["openai/whisper-1", 300_000n],
  ["xai/grok-stt", 70_000n],
  ["mistral/voxtral-mini-latest", 150_000n],
  ["local/some-whisper", 252_000n],
])("%s listens", (model, nano) => {
  /** 2.52 seconds with six words. */
  const sound = () => soundFile(2.52, "mp3").bytes();

  test("and returns segments, words and times", async () => {
    const { caller, openai } = await newProvider();
    const audio = await sound();
    const heard = await transcribe({
      model: openai.transcription(model),
      audio,
      providerOptions: {
        openai: { responseFormat: "verbose_json", timestampGranularities: ["word", "segment"], language: "en" },
      },
    });
    expect(heard.text.split(" ")).toHaveLength(6);
    expect(heard.segments.map(({ text }) => text.trim()).join(" ")).toBe(heard.text);
    expect(heard.segments.at(-1)?.endSecond).toBe(2.52);
    expect([heard.language, Math.ceil(heard.durationInSeconds ?? 0)]).toEqual(["en", 3]);
    const file = lastReceived(rig).parts?.find(({ name }) => name === "file");
    expect(file?.sha256).toBe(sha256(audio));
    await expectSpent(rig, caller, nano);
  });

  test("and returns only the text", async () => {
    const { openai } = await newProvider();
    const heard = await transcribe({
      model: openai.transcription(model),
      audio: await sound(),
      providerOptions: { openai: { responseFormat: "json" } },
    });
    expect(heard.text.split(" ")).toHaveLength(6);
  });
});

test("an error is of its own class", async () => {
  const { caller, openai } = await newProvider();
  const speaking = generateSpeech({ model: openai.speech("anthropic/claude-haiku-4-5"), text: "Hello", voice: "x" });
  const thrown: unknown = await speaking.catch((reason: unknown) => reason);
  expect(APICallError.isInstance(thrown)).toBe(true);
  expect(thrown).toMatchObject({
    statusCode: 404,
    message: "The provider anthropic has no speech operation. It has chat, messages, count_tokens.",
  });
  await expectSpent(rig, caller, 0n);
});
