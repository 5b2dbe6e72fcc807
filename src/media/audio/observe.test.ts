/** The estimates for speech and transcripts while they pass, for every end. */
import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject, type ObservedUsage, objectOf, type UsageSide } from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import { speechRequest, transcriptionForm } from "./request.ts";
import { speechCodec } from "./speech.ts";
import { transcriptionCodec, translationCodec } from "./transcription.ts";

/** Reads tokens as a provider does. */
function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  return usage === undefined ? undefined : { usage: { input: 7, outputAudio: Number(usage["output_tokens"]) } };
}

const event = (data: JsonObject): string => `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`;

/** Shows blocks; all of them must pass unchanged. */
function watch(observer: StreamObserver, ...blocks: readonly string[]): StreamObserver {
  for (const block of blocks) expect(observer.see(Buffer.from(block)).toString()).toBe(block);
  return observer;
}

const state = ({ done, complete, failed }: StreamObserver) => ({ done, complete, failed });
const running = { done: false, complete: false, failed: false };

const input = "Größe: 𝄞, twenty-four letters"; // 29 code points in 34 bytes: 9 tokens.
const inputCharacters = 29;
const said = speechRequest.parse({ model: "openai/gpt-4o-mini-tts", input, voice: "marin", response_format: "pcm" });
const halfSecond = Buffer.alloc(24_000);

const estimated: readonly UsageSide[] = ["input", "output"];

describe("speech as bytes", () => {
  const bound = speechCodec.bound(said, () => 0, []);
  const observe = () => {
    const observer = speechCodec.observeBytes?.(said, bound);
    if (observer === undefined) throw new Error("no observer");
    return observer;
  };

  test("is nothing before its first byte, nor complete", () => {
    const observer = observe();
    expect([observer.usage, observer.complete]).toEqual([undefined, false]);
    observer.see(Buffer.alloc(0));
    expect(observer.usage).toBeUndefined();
    // An empty answer is therefore a broken one, and free.
    expect(state(observer)).toEqual(running);
  });

  test("is all of its text and as much sound as was sent", () => {
    const observer = observe();
    expect(observer.see(halfSecond)).toBe(halfSecond);
    // 0.5 s at 1,250 tokens a minute are 10.4.
    expect(observer.usage).toEqual({ usage: { inputCharacters, input: 9, outputAudio: 11, requests: 1 }, estimated });
    observer.see(halfSecond);
    expect(observer.usage).toEqual({ usage: { inputCharacters, input: 9, outputAudio: 21, requests: 1 }, estimated });
    expect([state(observer), observer.outputBytes]).toEqual([{ done: false, complete: true, failed: false }, 0]);
  });
});

describe("speech as events", () => {
  const delta = event({ type: "speech.audio.delta", audio: halfSecond.toString("base64") });
  const done = event({ type: "speech.audio.done", usage: { input_tokens: 7, output_tokens: 12 } });
  const observe = () => {
    const observer = speechCodec.events?.observe(
      said,
      readUsage,
      speechCodec.bound(said, () => 0, []),
    );
    if (observer === undefined) throw new Error("no observer");
    return observer;
  };

  test("is as much as was sent, until it is named", () => {
    const observer = observe();
    expect([observer.usage, state(observer)]).toEqual([undefined, running]);
    watch(observer, delta, delta);
    expect(observer.usage).toEqual({ usage: { inputCharacters, input: 9, outputAudio: 21, requests: 1 }, estimated });
    expect(state(observer)).toEqual(running);
    watch(observer, done);
    expect(observer.usage).toEqual({ usage: { inputCharacters, input: 7, outputAudio: 12 } });
    expect(state(observer)).toEqual({ done: true, complete: true, failed: false });
  });

  test("is the sent part if the last event reports none", () => {
    const observer = watch(observe(), delta + event({ type: "speech.audio.done" }));
    expect(observer.usage).toEqual({ usage: { inputCharacters, input: 9, outputAudio: 11, requests: 1 }, estimated });
    expect(observer.complete).toBe(true);
  });

  test.each<[string, JsonObject]>([
    ["an error event", { type: "error", error: { message: "gone" } }],
    ["an event with an error", { error: { message: "gone" } }],
  ])("fails with %s", (_title, error) => {
    const observer = watch(observe(), delta, `data: ${JSON.stringify(error)}\n\n`, done);
    expect(state(observer)).toEqual({ done: true, complete: false, failed: true });
    expect(observer.usage).toEqual({ usage: { inputCharacters, input: 9, outputAudio: 11, requests: 1 }, estimated });
  });

  test("is not taken in by comments, unknown events or broken ones", () => {
    const observer = watch(
      observe(),
      ": keep-alive\n\n",
      event({ type: "speech.audio.started", error: null }),
      "data: {\n\n",
    );
    expect([observer.usage, state(observer)]).toEqual([undefined, running]);
  });

  test("is made of a whole answer, in pieces that can be decoded one by one", () => {
    const sound = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    const usage = { input_tokens: 7, output_tokens: 12 };
    const text = speechCodec.events?.ofAnswer(said, { audio: sound.toString("base64"), usage }) ?? "";
    const events = text
      .trimEnd()
      .split("\n\n")
      .map((one) => JSON.parse(one.split("data: ")[1] ?? "") as JsonObject);
    expect(events.map(({ type }) => String(type))).toEqual([
      ...Array.from({ length: 3 }, () => "speech.audio.delta"),
      "speech.audio.done",
    ]);
    const pieces = events.slice(0, -1).map(({ audio }) => Buffer.from(String(audio), "base64"));
    expect(Buffer.concat(pieces).equals(sound)).toBe(true);
    expect(events.at(-1)?.["usage"]).toEqual(usage);
    expect(watch(observe(), text).usage?.usage).toMatchObject({ outputAudio: 12 });
  });
});

const form = transcriptionForm.parse({ model: "openai/gpt-4o-transcribe", prompt: "abcd" });
const file = {
  field: "file",
  filename: "a.wav",
  contentType: undefined,
  size: 100,
  read: () => Promise.resolve(Buffer.alloc(0)),
};

describe("a transcript as text", () => {
  test.each([transcriptionCodec, translationCodec])("is all of the sound, and its own length", (codec) => {
    const bound = codec.bound(form, () => 0, [{ ...file, milliseconds: 9_000 }]);
    const observer = codec.observeBytes?.(form, bound);
    if (observer === undefined) throw new Error("no observer");
    expect(observer.usage).toBeUndefined();
    watch(observer, "Hello ", "there.");
    // 12 bytes are 3 tokens; 9 seconds are 90.
    const usage = { inputAudioMs: 9_000, inputAudio: 90, input: 1, output: 3, requests: 1 };
    expect([observer.usage, observer.outputBytes]).toEqual([{ usage, estimated }, 12]);
    expect(state(observer)).toEqual({ done: false, complete: true, failed: false });
  });

  test("of a file that can't be read is charged at a low bit rate, not as the most", () => {
    const bound = transcriptionCodec.bound(form, () => 0, [{ ...file, size: 16_000, milliseconds: undefined }]);
    const observer = transcriptionCodec.observeBytes?.(form, bound);
    observer?.see(Buffer.from("hi"));
    expect(observer?.usage?.usage).toMatchObject({ inputAudioMs: 8_000, inputAudio: 80 });
  });
});

describe("a transcript as events", () => {
  const deltas = ["Grö", "ße."].map((delta) => event({ type: "transcript.text.delta", delta }));
  const done = event({ type: "transcript.text.done", text: "Größe.", usage: { output_tokens: 3 } });
  const observe = () => {
    const observer = transcriptionCodec.events?.observe(
      form,
      readUsage,
      transcriptionCodec.bound(form, () => 0, []),
    );
    if (observer === undefined) throw new Error("no observer");
    return observer;
  };

  test("is measured by its text until its usage is named", () => {
    const observer = watch(observe(), ...deltas);
    expect([observer.usage, observer.outputBytes, state(observer)]).toEqual([undefined, 8, running]);
    watch(observer, done);
    expect(observer.usage).toEqual({ usage: { input: 7, outputAudio: 3 } });
    expect([observer.outputBytes, state(observer)]).toEqual([8, { done: true, complete: true, failed: false }]);
  });

  test("has chat's events at some upstreams, without a usage with the duration", () => {
    const chunk = (content: string): string =>
      `data: ${JSON.stringify({ object: "transcription.chunk", choices: [{ delta: { content } }] })}\n\n`;
    const observer = watch(
      observe(),
      chunk("Grö"),
      chunk("ße."),
      'data: {"choices":[],"usage":{"prompt_tokens":9}}\n\n',
    );
    expect([observer.outputBytes, state(observer)]).toEqual([8, running]);
    watch(observer, "data: [DONE]\n\n");
    expect([observer.usage, state(observer)]).toEqual([undefined, { done: true, complete: true, failed: false }]);
  });

  test("has failed if an error comes before the last event", () => {
    const observer = watch(observe(), 'data: {"error":{"message":"gone"}}\n\n', "data: [DONE]\n\n");
    expect(state(observer)).toEqual({ done: true, complete: false, failed: true });
  });

  test("is made of a whole answer: its text, its speakers, its end", () => {
    const turn = { type: "transcript.text.segment", id: "seg_001", start: 0, end: 1, text: "Hi.", speaker: "A" };
    const usage = { type: "duration", seconds: 1 };
    const text = transcriptionCodec.events?.ofAnswer(form, { text: "Hi.", segments: [turn], usage });
    expect(text).toBe(
      event({ type: "transcript.text.delta", delta: "Hi." }) +
        `event: transcript.text.segment\ndata: ${JSON.stringify(turn)}\n\n` +
        event({ type: "transcript.text.done", text: "Hi.", usage }),
    );
  });

  test("of silence is its end alone", () => {
    const text = transcriptionCodec.events?.ofAnswer(form, { text: "", segments: [{ id: 0, text: "x" }] });
    expect(text).toBe(event({ type: "transcript.text.done", text: "" }));
  });
});

test("a whole transcript is measured by its text alone", () => {
  const answer = { text: "Größe", segments: [{ text: "Größe" }], words: [{ word: "Größe" }] };
  expect(transcriptionCodec.outputBytes(JSON.stringify(answer))).toBe(7);
  expect(transcriptionCodec.outputBytes("no JSON")).toBe(0);
});

test("a break is reported in OpenAI's error format", () => {
  const error = new GatewayError("upstream_interrupted", "The upstream's stream broke off.");
  const told = transcriptionCodec.events?.errorEvent(error) ?? "";
  expect(told).toStartWith("event: error\ndata: ");
  expect(JSON.parse(told.split("data: ")[1] ?? "")).toEqual({
    type: "error",
    error: { message: error.message, type: "upstream_error", code: "upstream_interrupted", param: null },
  });
  expect(speechCodec.events?.errorEvent(error)).toBe(told);
});
