/** Transcripts of upstreams with their own format, converted to all of OpenAI's formats. */
import { describe, expect, test } from "bun:test";
import { type CallFile, GatewayError, type JsonObject } from "../core/index.ts";
import type { BinaryAnswer, UpstreamRequests } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

type Upstream = Pick<ProviderChoice, "kind" | "preset">;

const xai: Upstream = { kind: "xai" };
const mistral: Upstream = { kind: "openai-compatible", preset: "mistral" };
const groq: Upstream = { kind: "openai-compatible", preset: "groq" };

const file: CallFile = {
  field: "file",
  filename: "a.mp3",
  contentType: "audio/mpeg",
  size: 1_000,
  milliseconds: 3_000,
  read: () => Promise.resolve(Buffer.alloc(1_000)),
};

async function reshape(upstream: Upstream, fields: JsonObject, files = [file]): Promise<UpstreamRequests | undefined> {
  const { transcription } = createProvider({ ...upstream, baseUrl: "https://upstream.example" }).operations;
  return transcription?.toUpstream?.({ body: { model: "up/ear", ...fields }, files }, "ear");
}

/** The fields of the form as text, and the name of its file. */
async function sent(upstream: Upstream, fields: JsonObject): Promise<string[]> {
  const [request] = (await reshape(upstream, fields))?.requests ?? [];
  return (request?.form ?? []).map((part) => `${part.name}=${"text" in part ? part.text : part.file.filename}`);
}

async function converted(
  upstream: Upstream,
  fields: JsonObject,
  answer: JsonObject,
): Promise<JsonObject | BinaryAnswer> {
  const shown = (await reshape(upstream, fields))?.answer?.([answer], 0);
  if (shown === undefined) throw new Error("not reshaped");
  return shown;
}

async function text(upstream: Upstream, format: string, answer: JsonObject): Promise<string> {
  const { bytes, contentType } = await converted(upstream, { response_format: format }, answer);
  expect(contentType).toBe("text/plain; charset=utf-8");
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : "";
}

async function refusal(upstream: Upstream, fields: JsonObject, files = [file]): Promise<string | undefined> {
  try {
    await reshape(upstream, fields, files);
    return undefined;
  } catch (thrown) {
    return thrown instanceof GatewayError && thrown.status === 422 ? thrown.param : String(thrown);
  }
}

describe("the form for xAI", () => {
  test.each<[JsonObject, string[]]>([
    [{}, ["file=a.mp3"]],
    [{ language: "de", prompt: "p", temperature: 0.5, chunking_strategy: "auto" }, ["language=de", "file=a.mp3"]],
    [{ response_format: "diarized_json" }, ["diarize=true", "file=a.mp3"]],
    [{ diarize: "true", format: "true", language: "en" }, ["language=en", "format=true", "diarize=true", "file=a.mp3"]],
    [
      { keywords: ["Tollgate", "Grok"], keyterm: "xAI" },
      ["keyterm=Tollgate", "keyterm=Grok", "keyterm=xAI", "file=a.mp3"],
    ],
    [{ audio_format: "pcm", sample_rate: "16000" }, ["audio_format=pcm", "sample_rate=16000", "file=a.mp3"]],
  ])("%j is sent as %j, with the file last", async (fields, form) => {
    expect(await sent(xai, fields)).toEqual(form);
  });

  test.each<[JsonObject, string]>([
    [{ response_format: "docx" }, "response_format"],
    [{ include: ["logprobs"] }, "include"],
    [{ known_speaker_names: ["Ann"], response_format: "diarized_json" }, "known_speaker_names"],
  ])("%j is refused: %s", async (fields, field) => {
    expect(await refusal(xai, fields)).toBe(field);
  });

  test("needs the file", async () => {
    expect(await refusal(xai, {}, [])).toBe("file");
    expect(await refusal(xai, {}, [{ ...file, field: "audio" }])).toBe("file");
  });
});

describe("xAI's transcript", () => {
  const words = [
    { text: "Hello", start: 0.1, end: 0.5, speaker: 0 },
    { text: "there.", start: 0.5, end: 1, speaker: 0 },
    { text: "Hi!", start: 2.25, end: 3, speaker: 1 },
  ];
  const answer = { text: "Hello there. Hi!", language: "en", duration: 3.2, words };
  const usage = { type: "duration", seconds: 3.2 };

  test("as JSON is its text", async () => {
    expect(await converted(xai, {}, answer)).toEqual({ text: answer.text, usage });
    expect(await converted(xai, { response_format: "json" }, { text: "" })).toEqual({ text: "" });
  });

  test("as text ends with a line break", async () => {
    expect(await text(xai, "text", answer)).toBe("Hello there. Hi!\n");
  });

  test("as subtitles follows its words", async () => {
    expect(await text(xai, "srt", answer)).toBe(
      "1\n00:00:00,100 --> 00:00:01,000\nHello there.\n\n2\n00:00:02,250 --> 00:00:03,000\nHi!\n",
    );
    expect(await text(xai, "vtt", answer)).toBe(
      "WEBVTT\n\n00:00:00.100 --> 00:00:01.000\nHello there.\n\n00:00:02.250 --> 00:00:03.000\nHi!\n",
    );
  });

  test("of silence has no subtitles, and without times it has one", async () => {
    expect(await text(xai, "srt", { text: "", duration: 3 })).toBe("");
    expect(await text(xai, "vtt", { text: " ", words: [] })).toBe("WEBVTT\n");
    expect(await text(xai, "srt", { text: "Hi!", duration: 3 })).toBe("1\n00:00:00,000 --> 00:00:03,000\nHi!\n");
  });

  const timed = words.map((word) => ({ word: word.text, start: word.start, end: word.end }));
  const verbose = { task: "transcribe", language: "english", duration: 3.2, text: answer.text, usage };
  const segment = (id: number, start: number, end: number, segmentText: string) => {
    const figures = { tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
    return { id, seek: start * 100, start, end, text: segmentText, ...figures };
  };
  const segments = [segment(0, 0.1, 1, "Hello there."), segment(1, 2.25, 3, "Hi!")];
  test.each<[string, unknown, object]>([
    ["its segments", undefined, { segments }],
    ["its words", ["word"], { words: timed }],
    ["its words, requested as a text", "word", { words: timed }],
    ["its segments, if requested", ["segment"], { segments }],
    ["both", ["word", "segment"], { words: timed, segments }],
  ])("in verbose_json has %s", async (_title, granularities, more) => {
    const fields = { response_format: "verbose_json", timestamp_granularities: granularities };
    expect(await converted(xai, fields, answer)).toEqual({ ...verbose, ...more });
  });

  test.each([
    ["de", "german"],
    ["pt-BR", "brazilian portuguese"],
    ["xx-invalid-code-", "xx-invalid-code-"],
    [undefined, "unknown"],
  ])("in verbose_json has the language %p as %s", async (language, name) => {
    const shown = await converted(xai, { response_format: "verbose_json" }, { ...answer, language });
    expect(shown).toMatchObject({ language: name });
  });

  const turns = [
    { type: "transcript.text.segment", id: "seg_001", start: 0.1, end: 1, text: "Hello there.", speaker: "A" },
    { type: "transcript.text.segment", id: "seg_002", start: 2.25, end: 3, text: "Hi!", speaker: "B" },
  ];
  test("by speakers has a segment per turn", async () => {
    const shown = await converted(xai, { response_format: "diarized_json" }, answer);
    expect(shown).toEqual({ task: "transcribe", duration: 3.2, text: answer.text, segments: turns, usage });
  });

  test("that is sent as events is returned as an object", async () => {
    for (const stream of [true, "true", "1"]) {
      expect(await converted(xai, { stream, response_format: "text" }, answer)).toEqual({ text: answer.text, usage });
      const shown = await converted(xai, { stream, response_format: "diarized_json" }, answer);
      expect(shown).toMatchObject({ segments: turns });
    }
  });
});

describe("the form for Mistral", () => {
  test.each<[JsonObject, string[]]>([
    [{}, ["model=ear", "file=a.mp3"]],
    [
      { language: "de", temperature: 0.5, prompt: "p", stream: true, user: "u" },
      ["model=ear", "language=de", "temperature=0.5", "file=a.mp3"],
    ],
    // Times and a language can't be combined.
    [{ language: "de", response_format: "srt" }, ["model=ear", "timestamp_granularities=word", "file=a.mp3"]],
    [{ response_format: "verbose_json" }, ["model=ear", "timestamp_granularities=segment", "file=a.mp3"]],
    [
      { response_format: "verbose_json", timestamp_granularities: ["word"] },
      ["model=ear", "timestamp_granularities=word", "file=a.mp3"],
    ],
    [
      { response_format: "diarized_json" },
      ["model=ear", "diarize=true", "timestamp_granularities=segment", "file=a.mp3"],
    ],
    [
      { keywords: ["Voxtral", "Le Chat", "a,b", " "] },
      ["model=ear", "context_bias=Voxtral", "context_bias=Le_Chat", "file=a.mp3"],
    ],
  ])("%j is sent as %j", async (fields, form) => {
    expect(await sent(mistral, fields)).toEqual(form);
  });

  test("needs the file", async () => {
    expect(await refusal(mistral, {}, [])).toBe("file");
  });
});

describe("Mistral's transcript", () => {
  const usage = { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 3, total_tokens: 44 };
  const segment = (segmentText: string, start: number, end: number, speaker?: string) => {
    return {
      type: "transcription_segment",
      text: segmentText,
      start,
      end,
      ...(speaker === undefined ? {} : { speaker_id: speaker }),
    };
  };
  const answer = { model: "voxtral", text: "Salut. Ça va ?", language: "fr", segments: [], usage };
  const shownUsage = { type: "duration", seconds: 3 };

  test("as JSON is its text", async () => {
    expect(await converted(mistral, {}, answer)).toEqual({ text: answer.text, usage: shownUsage });
  });

  test("as subtitles follows its words", async () => {
    const segments = [segment("Salut.", 0, 0.5), segment("Ça", 0.5, 0.75), segment("va ?", 0.75, 1)];
    const shown = "1\n00:00:00,000 --> 00:00:01,000\nSalut. Ça va ?\n";
    expect(await text(mistral, "srt", { ...answer, segments })).toBe(shown);
  });

  test("in verbose_json has the upstream's segments", async () => {
    const segments = [segment(" Salut.", 0, 0.5), segment(" Ça va ?", 0.5, 1.25)];
    const shown = await converted(mistral, { response_format: "verbose_json" }, { ...answer, segments });
    expect(shown).toMatchObject({
      language: "french",
      duration: 3,
      segments: [
        { id: 0, start: 0, end: 0.5, text: " Salut." },
        { id: 1, start: 0.5, end: 1.25, text: " Ça va ?" },
      ],
      usage: shownUsage,
    });
  });

  test("by speakers joins consecutive segments of a speaker", async () => {
    const segments = [
      segment("Salut.", 0, 1, "speaker_2"),
      segment("Ça va ?", 1, 2, "speaker_2"),
      segment("Oui.", 2, 3, "speaker_1"),
    ];
    const shown = await converted(
      mistral,
      { response_format: "diarized_json" },
      { ...answer, text: "Salut. Ça va ? Oui.", segments },
    );
    expect(shown).toMatchObject({
      segments: [
        { id: "seg_001", start: 0, end: 2, text: "Salut. Ça va ?", speaker: "A" },
        { id: "seg_002", start: 2, end: 3, text: "Oui.", speaker: "B" },
      ],
    });
  });
});

test.each([
  ["json", undefined],
  ["verbose_json", undefined],
  ["text", undefined],
  [undefined, undefined],
  ["srt", "response_format"],
  ["vtt", "response_format"],
])("Groq's %s is passed through or refused: %p", async (format, field) => {
  expect(await refusal(groq, { response_format: format })).toBe(field);
});
