import { describe, expect, test } from "bun:test";
import { speechRequest, transcriptionForm, translationForm } from "./request.ts";

const speech = (more: object) => speechRequest.safeParse({ model: "openai/tts-1", input: "hi", ...more });
const transcription = (more: object) => transcriptionForm.safeParse({ model: "openai/whisper-1", ...more });
const translation = (more: object) => translationForm.safeParse({ model: "openai/whisper-1", ...more });

type Parsed = { error?: { issues: readonly { path: readonly PropertyKey[] }[] } | undefined };
const wrong = ({ error }: Parsed) => error?.issues.map(({ path }) => path.join("."));

describe("the body of speech", () => {
  test.each<[object, boolean]>([
    [{ voice: "alloy" }, false],
    [{ voice: { id: "voice_1" }, response_format: null, speed: 1.5, instructions: "kindly" }, false],
    [{ stream_format: "audio" }, false],
    [{ stream_format: "sse" }, true],
    // Not OpenAI's: whether there will be events is not known.
    [{ stream: true, some_future_field: 1 }, false],
  ])("may be %j", (more, stream) => {
    expect(speech(more).data).toMatchObject({ input: "hi", stream });
  });

  test.each<[object, string]>([
    [{ input: undefined }, "input"],
    [{ input: ["hi"] }, "input"],
    [{ voice: "" }, "voice"],
    [{ voice: { name: "x" } }, "voice"],
    [{ speed: 0 }, "speed"],
    [{ speed: "fast" }, "speed"],
    [{ model: undefined }, "model"],
  ])("may not be %j: %s", (more, field) => {
    expect(wrong(speech(more))?.map((path) => path.split(".")[0])).toEqual([field]);
  });
});

describe("the form of a transcription", () => {
  test("contains numbers, booleans and lists as text", () => {
    const fields = {
      temperature: "0.5",
      stream: "true",
      include: "logprobs",
      timestamp_granularities: ["word", "segment"],
    };
    expect(transcription({ ...fields, language: "en", x: "y" }).data).toEqual({
      model: "openai/whisper-1",
      temperature: 0.5,
      stream: true,
      include: ["logprobs"],
      timestamp_granularities: ["word", "segment"],
      language: "en",
      x: "y",
    });
  });

  test.each([
    ["true", true],
    ["True", true],
    ["1", true],
    ["false", false],
    ["0", false],
    ["", false],
  ])("is streamed where `stream` is %j: %p", (stream, streamed) => {
    expect(transcription({ stream }).data?.stream).toBe(streamed);
  });

  test.each<[object, string]>([
    [{ model: ["openai/whisper-1", "openai/gpt-4o-transcribe"] }, "model"],
    [{ model: undefined }, "model"],
    [{ stream: "perhaps" }, "stream"],
    [{ temperature: "warm" }, "temperature"],
    [{ temperature: "" }, "temperature"],
    [{ language: ["en", "de"] }, "language"],
    [{ response_format: ["json", "srt"] }, "response_format"],
  ])("may not be %j: %s", (more, field) => {
    expect(wrong(transcription(more))).toEqual([field]);
  });
});

test("a translation is not streamed", () => {
  expect(translation({ stream: "false", prompt: "p" }).data).toMatchObject({ stream: false, prompt: "p" });
  expect(wrong(translation({ stream: "true" }))).toEqual(["stream"]);
});
