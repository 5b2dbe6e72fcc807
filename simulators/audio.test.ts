import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { parseBuffer } from "music-metadata";
import OpenAI from "openai";

import { type SimulatorName, type Simulators, startSimulators } from "./index.ts";
import { asArray, asObject } from "./shared/json.ts";
import { bodyOf, eventsOf, failureOf, get, member, post, type Reply, until } from "./testing/client.ts";
import { formOf, postForm, soundFile } from "./testing/media.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const client = (provider: SimulatorName): OpenAI => {
  return new OpenAI({ baseURL: simulators.providers[provider], apiKey: "good-key", maxRetries: 0 });
};
const url = (provider: SimulatorName, path: string): string => simulators.providers[provider] + path;

async function secondsOf(bytes: Uint8Array): Promise<number> {
  return (await parseBuffer(bytes, undefined, { duration: true })).format.duration ?? 0;
}

async function fetchBytes(address: string, body: object): Promise<[type: string | null, bytes: Uint8Array]> {
  const headers = { authorization: "Bearer good-key", "content-type": "application/json" };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  return [response.headers.get("content-type"), await response.bytes()];
}

const codeOf = (reply: Reply): unknown => member(bodyOf(reply), "error", "code");

describe("speech of openai", () => {
  const spoken = { model: "gpt-4o-mini-tts", voice: "marin", input: "seconds:3 of speech" } as const;

  test.each([
    ["mp3", "audio/mpeg"],
    ["opus", "audio/opus"],
    ["flac", "audio/flac"],
    ["wav", "audio/wav"],
  ] as const)("is %s of a known length", async (response_format, type) => {
    const response = await client("openai").audio.speech.create({ ...spoken, response_format });
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("content-length")).toBeNull();
    expect(await secondsOf(await response.bytes())).toBeCloseTo(3, 2);
  });

  test("pcm has no head, aac has frames, and speed shortens", async () => {
    const pcm = await client("openai").audio.speech.create({ ...spoken, response_format: "pcm" });
    expect((await pcm.bytes()).length).toBe(3 * 24_000 * 2);
    const aac = await client("openai").audio.speech.create({ ...spoken, response_format: "aac" });
    expect(Buffer.from(await aac.bytes()).readUInt16BE(0)).toBe(0xfff1);
    const fast = { ...spoken, input: "one two three four five", speed: 2, response_format: "wav" } as const;
    const response = await client("openai").audio.speech.create(fast);
    expect(await secondsOf(await response.bytes())).toBe(1);
  });

  test("as events adds up to the same bytes and reports its usage", async () => {
    const [, whole] = await fetchBytes(url("openai", "/audio/speech"), spoken);
    const events = eventsOf(await post(url("openai", "/audio/speech"), { ...spoken, stream_format: "sse" }));
    const pieces = events.slice(0, -1).map(({ data }) => Buffer.from(String(member(data, "audio")), "base64"));
    expect(pieces.length).toBeGreaterThan(1);
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    expect(events.at(-1)).toEqual({
      event: "speech.audio.done",
      data: { type: "speech.audio.done", usage: { input_tokens: 5, output_tokens: 63, total_tokens: 68 } },
    });
  });

  test.each([
    { input: "" },
    { input: "x".repeat(4_097) },
    { voice: "darth" },
    { voice: undefined },
    { response_format: "midi" },
    { speed: 5 },
    { model: "tts-1", voice: "alloy", stream_format: "sse" },
    { model: "tts-1", voice: "marin" },
    { lang: "en" },
  ])("refuses %j", async (body) => {
    expect((await post(url("openai", "/audio/speech"), { ...spoken, ...body })).status).toBe(400);
  });

  test("faults count the pieces", async () => {
    const faulty = (fault: string): object => ({ ...spoken, model: `${spoken.model}+${fault}` });
    expect((await post(url("openai", "/audio/speech"), faulty("status-500"))).status).toBe(500);
    expect((await fetchBytes(url("openai", "/audio/speech"), faulty("error-1")))[1].length).toBe(12_000);
    const start = performance.now();
    await fetchBytes(url("openai", "/audio/speech"), faulty("pace-20"));
    expect(performance.now() - start).toBeGreaterThanOrEqual(2 * 19);
    expect(await failureOf(fetchBytes(url("openai", "/audio/speech"), faulty("cut-1")))).toBeInstanceOf(Error);
    const headers = { authorization: "Bearer good-key", "content-type": "application/json" };
    const body = JSON.stringify(faulty("stall-1"));
    const response = await fetch(url("openai", "/audio/speech"), { method: "POST", headers, body });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until("the caller's leaving to be seen", () => simulators.requests().at(-1)?.outcome === "aborted");
  });
});

describe("transcriptions of openai", () => {
  const transcribe = (fields: Parameters<typeof formOf>[0]): Promise<Reply> => {
    return postForm(url("openai", "/audio/transcriptions"), formOf({ file: soundFile(6), ...fields }));
  };

  test.each(["wav", "mp3", "flac"] as const)("tell the length of a %s file, by the second", async (format) => {
    const file = soundFile(7.2, format);
    const answer = await client("openai").audio.transcriptions.create({ file, model: "whisper-1" });
    expect(answer.text.split(" ")).toHaveLength(18);
    expect(answer.usage).toEqual({ type: "duration", seconds: 8 });
  });

  test("are verbose, with segments and words", async () => {
    const answer = await client("openai").audio.transcriptions.create({
      file: soundFile(6),
      model: "whisper-1",
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
      language: "de",
      prompt: "words:12",
    });
    expect(answer).toMatchObject({ task: "transcribe", language: "german", duration: 6 });
    expect(answer.words).toHaveLength(12);
    expect(answer.words?.[11]).toMatchObject({ start: 5.5, end: 6 });
    expect(answer.segments).toHaveLength(2);
  });

  test("are plain text or subtitles", async () => {
    const model = "whisper-1";
    const text = await transcribe({ model, response_format: "text", prompt: "words:2", stream: "true" });
    expect(text).toMatchObject({ status: 200, text: "amber bridge\n" });
    expect(text.headers.get("content-type")).toStartWith("text/plain");
    const srt = await transcribe({ model, response_format: "srt", prompt: "words:1" });
    expect(srt.text).toBe("1\n00:00:00,000 --> 00:00:06,000\namber\n\n");
    const vtt = await transcribe({ model, response_format: "vtt", prompt: "words:1" });
    expect(vtt.text).toBe("WEBVTT\n\n00:00:00.000 --> 00:00:06.000\namber\n\n");
  });

  test("count tokens with the newer models, and stream", async () => {
    const model = "gpt-4o-mini-transcribe";
    const usage = {
      type: "tokens",
      input_tokens: 62,
      input_token_details: { text_tokens: 2, audio_tokens: 60 },
      output_tokens: 3,
      total_tokens: 65,
    };
    const asked = { file: soundFile(6), model, prompt: "words:3" };
    const answer = await client("openai").audio.transcriptions.create({ ...asked, include: ["logprobs"] });
    expect(answer).toMatchObject({ text: "amber bridge candle", usage });
    expect(answer.logprobs).toHaveLength(3);
    const stream = await client("openai").audio.transcriptions.create({ ...asked, stream: true });
    let text = "";
    for await (const event of stream) {
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") expect(event).toMatchObject({ text, usage });
    }
    expect(text).toBe("amber bridge candle");
  });

  test("distinguish speakers, whole and in events", async () => {
    const fields = { model: "gpt-4o-transcribe-diarize", response_format: "diarized_json", file: soundFile(12, "mp3") };
    const whole = bodyOf(await transcribe(fields));
    expect(asArray(member(whole, "segments")).map((segment) => member(segment, "speaker"))).toEqual(["A", "B", "A"]);
    expect(member(whole, "usage", "type")).toBe("duration");
    const events = eventsOf(await transcribe({ ...fields, stream: "true", "known_speaker_names[]": ["Ann", "Bob"] }));
    const segments = events.filter(({ event }) => event === "transcript.text.segment");
    expect(segments.map(({ data }) => member(data, "speaker"))).toEqual(["Ann", "Bob", "Ann"]);
    expect(member(events[0]?.data, "segment_id")).toBe("seg_001");
    expect(member(events.at(-1)?.data, "usage", "type")).toBe("tokens");
    const long = await transcribe({ ...fields, file: soundFile(31) });
    expect(long.text).toContain("chunking_strategy");
    expect((await transcribe({ ...fields, file: soundFile(31), chunking_strategy: "auto" })).status).toBe(200);
  });

  test("refuse what does not fit the model, and files that are no audio", async () => {
    const model = "whisper-1";
    const refused: readonly [fields: Parameters<typeof formOf>[0], code: string | null][] = [
      [{ model: "gpt-4o-transcribe", response_format: "srt" }, "unsupported_value"],
      [{ model, response_format: "diarized_json" }, "unsupported_value"],
      [{ model, "timestamp_granularities[]": "word" }, "unsupported_value"],
      [{ model, "include[]": "logprobs" }, "unsupported_value"],
      [{ model, file: new File(["no audio"], "a.mp3") }, "invalid_value"],
      [{ model, file: soundFile(0.05) }, "audio_too_short"],
      [{ model, file: "text" }, "invalid_type"],
      [{ model, seed: "1" }, "unknown_parameter"],
      [{ model: "missing-x" }, "model_not_found"],
      [{}, null],
      [{ model, file: new File([await soundFile(1).bytes()], "a.txt") }, null],
    ];
    for (const [fields, code] of refused) {
      const reply = await transcribe(fields);
      expect([400, 404]).toContain(reply.status);
      expect(codeOf(reply), reply.text).toBe(code);
    }
    const large = await transcribe({ model, file: soundFile(900) });
    expect(large.status).toBe(413);
    const json = await post(url("openai", "/audio/transcriptions"), { model });
    expect(json.status).toBe(400);
  });

  test("translations are English, by Whisper alone", async () => {
    const file = soundFile(2, "mp3");
    const answer = await client("openai").audio.translations.create({ file, model: "whisper-1" });
    expect(Object.keys(answer)).toEqual(["text"]);
    const verbose = { file, model: "whisper-1", response_format: "verbose_json" } as const;
    expect(await client("openai").audio.translations.create(verbose)).toMatchObject({
      language: "english",
      duration: 2.016,
    });
    const other = client("openai").audio.translations.create({ file, model: "gpt-4o-transcribe" });
    expect(await failureOf(other)).toMatchObject({ status: 400 });
    const foreign = await postForm(
      url("openai", "/audio/translations"),
      formOf({ file, model: "whisper-1", language: "de" }),
    );
    expect(codeOf(foreign)).toBe("unknown_parameter");
  });
});

describe("voice of xai", () => {
  test("speaks MP3, WAV and raw samples, with the times of its characters", async () => {
    const spoken = { text: "seconds:3 hello", language: "en" };
    const [type, mp3] = await fetchBytes(url("xai", "/tts"), spoken);
    expect(type).toBe("audio/mpeg");
    expect(await secondsOf(mp3)).toBeCloseTo(3, 2);
    const raw = { codec: "mulaw", sample_rate: 8_000 };
    expect((await fetchBytes(url("xai", "/tts"), { ...spoken, output_format: raw }))[1].length).toBe(24_000);
    const timed = await post(url("xai", "/tts"), { ...spoken, with_timestamps: true, output_format: { codec: "wav" } });
    expect(bodyOf(timed)).toMatchObject({ content_type: "audio/wav", duration: 3 });
    expect(await secondsOf(Buffer.from(String(member(bodyOf(timed), "audio")), "base64"))).toBe(3);
    expect(asArray(member(bodyOf(timed), "audio_timestamps", "graph_times"))).toHaveLength(15);
    expect(asArray(member(bodyOf(await get(url("xai", "/tts/voices"))), "voices"))).toHaveLength(5);
  });

  test("returns words with their times, and measures raw samples by their declared format", async () => {
    const listen = (fields: Parameters<typeof formOf>[0]): Promise<Reply> =>
      postForm(url("xai", "/stt"), formOf(fields));
    const heard = bodyOf(await listen({ language: "en", file: soundFile(4) }));
    expect(heard).toMatchObject({ language: "en", duration: 4 });
    expect(asArray(member(heard, "words"))).toHaveLength(10);
    expect(member(heard, "words", 9)).toMatchObject({ start: 3.6, end: 4 });
    const raw = new File([new Uint8Array(32_000)], "raw");
    const pcm = bodyOf(await listen({ audio_format: "pcm", sample_rate: "16000", multichannel: "true", file: raw }));
    expect(pcm).toMatchObject({ duration: 1, channels: [{ index: 0 }, { index: 1 }] });
    const wrong = [
      { file: soundFile(1), language: "en" },
      { language: "en" },
      { file: raw },
      { audio_format: "pcm", file: raw },
      { format: "true", file: soundFile(1) },
      { model: "whisper-1", file: soundFile(1) },
    ];
    for (const fields of wrong) {
      const reply = await listen(fields);
      expect([400, 422]).toContain(reply.status);
      expect(Object.keys(asObject(bodyOf(reply)))).toEqual(["error"]);
    }
  });

  test.each([{ text: "" }, { language: undefined }, { voice_id: "nobody" }, { speed: 2 }, { model: "tts-1" }])(
    "refuses %j with a sentence",
    async (body) => {
      const reply = await post(url("xai", "/tts"), { text: "hello", language: "en", ...body });
      expect([400, 422]).toContain(reply.status);
      expect(member(bodyOf(reply), "error")).toBeString();
    },
  );
});

describe("audio of mistral", () => {
  test("transcribes with seconds in the usage, whole and in events", async () => {
    const fields = { model: "voxtral-mini-latest", file: soundFile(6), "timestamp_granularities[]": "segment" };
    const whole = bodyOf(await postForm(url("mistral", "/audio/transcriptions"), formOf(fields)));
    expect(member(whole, "usage")).toEqual({
      prompt_audio_seconds: 6,
      prompt_tokens: 75,
      completion_tokens: 15,
      total_tokens: 90,
    });
    expect(asArray(member(whole, "segments"))).toHaveLength(2);
    const form = formOf({ ...fields, stream: "true" });
    const events = eventsOf(await postForm(url("mistral", "/audio/transcriptions"), form));
    expect(events[0]?.event).toBe("transcription.language");
    expect(events.at(-1)).toMatchObject({ event: "transcription.done", data: { usage: { total_tokens: 90 } } });
    const text = events.map(({ event, data }) => (event === "transcription.text.delta" ? member(data, "text") : ""));
    expect(text.join("")).toBe(String(member(whole, "text")));
    const none = await postForm(url("mistral", "/audio/transcriptions"), formOf({ model: "voxtral-mini-latest" }));
    expect(none.status).toBe(422);
  });

  test("speaks base64 in JSON, and in events", async () => {
    const body = { model: "voxtral-mini-tts", input: "seconds:3", response_format: "wav" };
    const whole = bodyOf(await post(url("mistral", "/audio/speech"), body));
    expect(await secondsOf(Buffer.from(String(member(whole, "audio_data")), "base64"))).toBe(3);
    const events = eventsOf(await post(url("mistral", "/audio/speech"), { ...body, stream: true }));
    expect(events.at(-1)).toMatchObject({ event: "speech.audio.done", data: { usage: { completion_tokens: 38 } } });
  });
});

describe("audio of other hosts", () => {
  test("transcribes in Whisper's formats without usage, and speaks", async () => {
    const file = soundFile(6);
    const host = client("openai-compatible");
    const answer = await host.audio.transcriptions.create({ file, model: "local-speech" });
    expect(Object.keys(answer)).toEqual(["text"]);
    const groq = { file, model: "groq-whisper-large-v3" };
    expect(await host.audio.transcriptions.create({ ...groq, response_format: "verbose_json" })).toMatchObject({
      duration: 6,
    });
    expect(await failureOf(host.audio.transcriptions.create({ ...groq, response_format: "srt" }))).toMatchObject({
      status: 400,
    });
    expect(await host.audio.translations.create({ ...groq, response_format: "verbose_json" })).toMatchObject({
      language: "english",
    });
    const spoken = { model: "local-speech", voice: "any", input: "seconds:3", response_format: "wav" } as const;
    expect(await secondsOf(await (await host.audio.speech.create(spoken)).bytes())).toBe(3);
  });
});
