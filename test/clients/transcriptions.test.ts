/** Transcripts by the official SDK, of every kind of upstream that makes them; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { TranscriptionCreateParamsNonStreaming } from "openai/resources/audio/transcriptions";
import { formOf, postForm, soundFile } from "../../simulators/testing/media.ts";
import {
  bucketsOf,
  creditsText,
  expectRefusal,
  expectSpent,
  generationOf,
  lastReceived,
  newClient,
  post,
  type Refusal,
  type Rig,
  type ScriptedUpstream,
  sha256,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";
import { startAudioRig, transcriptionsPath, translationsPath, withFault } from "./audio.ts";

let rig: Rig;
let odd: ScriptedUpstream;
beforeAll(async () => {
  odd = startScriptedUpstream();
  rig = await startAudioRig(odd.url);
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await odd.stop();
});

/** 7.2 seconds, which the simulators transcribe as 18 words of 123 bytes: one every 0.4 seconds, ten per segment. */
const milliseconds = 7_200;
const sound = () => soundFile(7.2, "mp3");
const words = 18;

interface Kind {
  model: string;
  /** Charged milliseconds of each format: the upstream's figure, or the file's duration. */
  lasts: Readonly<Record<string, number>>;
  /** The price of an hour, in nano-credits. */
  hour: bigint;
}

const all = ["json", "verbose_json", "text", "srt", "vtt"];
const each = (formats: readonly string[], lasts: number) =>
  Object.fromEntries(formats.map((format) => [format, lasts]));
const kinds: readonly Kind[] = [
  // It bills whole seconds, and reports them in its JSON.
  { model: "openai/whisper-1", lasts: each(all, 8_000), hour: 360_000_000n },
  { model: "xai/grok-stt", lasts: each(all, milliseconds), hour: 100_000_000n },
  // Whole seconds, whichever format is made of them.
  { model: "mistral/voxtral-mini-latest", lasts: each(all, 8_000), hour: 180_000_000n },
  { model: "local/some-whisper", lasts: each(all, milliseconds), hour: 360_000_000n },
  { model: "groq/groq-whisper", lasts: each(["json", "verbose_json", "text"], milliseconds), hour: 720_000_000n },
];

type Format = NonNullable<TranscriptionCreateParamsNonStreaming["response_format"]>;

/** The cues of subtitles: their times in milliseconds, and their text. Fails if they are invalid. */
function cuesIn(text: string, mark: "," | "."): { start: number; end: number; said: string }[] {
  const blocks = text
    .replace(/^WEBVTT\n\n/, "")
    .trimEnd()
    .split("\n\n");
  return blocks.map((block, index) => {
    const lines = block.split("\n");
    if (mark === ",") expect(lines.shift()).toBe(String(index + 1));
    const [times = "", ...said] = lines;
    const [start, end] = times.split(" --> ").map((time) => {
      const [, hours, minutes, seconds, rest] =
        new RegExp(`^(\\d\\d):(\\d\\d):(\\d\\d)\\${mark}(\\d{3})$`).exec(time) ?? [];
      return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000 + Number(rest);
    });
    return { start: start ?? Number.NaN, end: end ?? Number.NaN, said: said.join(" ") };
  });
}

/** Fails unless the cues go on from 0 to the end of the sound without an overlap, and hold every word. */
function expectSubtitles(text: string, mark: "," | "."): void {
  const cues = cuesIn(text, mark);
  expect(cues.length).toBeGreaterThan(1);
  expect(cues[0]?.start).toBe(0);
  expect(cues.at(-1)?.end).toBe(milliseconds);
  for (const [index, cue] of cues.entries()) {
    expect(cue.end).toBeGreaterThan(cue.start);
    expect(cue.start).toBeGreaterThanOrEqual(cues[index - 1]?.end ?? 0);
  }
  expect(cues.flatMap(({ said }) => said.split(" "))).toHaveLength(words);
}

interface Task {
  task: string;
}

/** A transcript with its speakers, for which the SDK has a type, but not at the call that asks for it. */
async function diarized(client: OpenAI, model: string): Promise<OpenAI.Audio.TranscriptionDiarized> {
  const body = { file: sound(), model, response_format: "diarized_json" } as const;
  const answer = await client.audio.transcriptions.create(body).asResponse();
  return (await answer.json()) as OpenAI.Audio.TranscriptionDiarized;
}

/** The required content of each format. */
const checks: Record<string, (text: string) => void> = {
  json: (text) => expect((JSON.parse(text) as { text: string }).text.split(" ")).toHaveLength(words),
  verbose_json: (text) => {
    const { task, language, duration, segments } = JSON.parse(text) as OpenAI.Audio.TranscriptionVerbose & Task;
    expect([task, language, Math.ceil(duration)]).toEqual(["transcribe", "german", 8]);
    expect(segments?.length).toBeGreaterThan(1);
    expect(segments?.at(-1)?.end).toBe(7.2);
  },
  text: (text) => expect(text.trimEnd().split(" ")).toHaveLength(words),
  srt: (text) => expectSubtitles(text, ","),
  vtt: (text) => {
    expect(text).toStartWith("WEBVTT\n\n");
    expectSubtitles(text, ".");
  },
};

const typeOf = (format: string): string => (format.endsWith("json") ? "application/json" : "text/plain");

describe.each(kinds)("$model", ({ model, lasts, hour }) => {
  const charge = (format: string): bigint => (BigInt(lasts[format] ?? 0) * hour) / 3_600_000n;

  test.each(Object.keys(lasts).map((format) => [format]))("%s", async (format) => {
    const { client, caller } = await newClient(rig);
    const file = sound();
    const response_format = format as Format;
    const asked = { file, model, language: "de", prompt: "Amber and bridge.", response_format } as const;
    const answer = await client.audio.transcriptions.create(asked).asResponse();
    expect(answer.headers.get("content-type")).toStartWith(typeOf(format));
    const text = await answer.text();
    checks[format]?.(text);
    // An answer of bytes is relayed before its end is known.
    const credits = answer.headers.get("x-tollgate-credits");
    expect(credits ?? creditsText(charge(format))).toBe(creditsText(charge(format)));
    if (format.endsWith("json")) expect(credits).not.toBeNull();
    await expectSpent(rig, caller, charge(format));
    expect(await bucketsOf(rig, caller, answer)).toMatchObject({ input_audio_ms: lasts[format], requests: 1 });
    expect(await generationOf(rig, caller, answer)).toMatchObject({
      model,
      operation: "transcription",
      dialect: null,
      streamed: false,
      outcome: "complete",
      credits: Number(charge(format)) / 1e9,
    });
    const sent = lastReceived(rig).parts?.find(({ name }) => name === "file");
    expect(sent).toMatchObject({ filename: "sound.mp3", contentType: "audio/mp3", sha256: sha256(await file.bytes()) });
  });

  test("words with times", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await client.audio.transcriptions.create({
      file: sound(),
      model,
      response_format: "verbose_json",
      timestamp_granularities: ["word"],
    });
    expect(answer.words).toHaveLength(words);
    expect(answer.words?.at(-1)).toMatchObject({ start: 6.8, end: 7.2 });
    expect(answer.segments).toBeUndefined();
    await expectSpent(rig, caller, charge("verbose_json"));
  });

  test("an upstream's error is relayed and costs nothing", async () => {
    const { client, caller } = await newClient(rig);
    const fails = async (fault: string, status: number): Promise<void> => {
      const thrown: unknown = await client.audio.transcriptions
        .create({ file: sound(), model: withFault(model, fault) })
        .catch((reason: unknown) => reason);
      expect(thrown).toBeInstanceOf(OpenAI.APIError);
      expect(thrown).toMatchObject({ status });
    };
    await fails("status-400", 400);
    await fails("cut-1", 502);
    await fails("malformed", 502);
    const form = formOf({ file: sound(), model: withFault(model, "error-200") });
    const hidden = await post(rig, transcriptionsPath, caller.token, form);
    expect([hidden.headers.get("x-tollgate-credits"), await hidden.text()]).toEqual([
      "0",
      expect.stringContaining("error") as string,
    ]);
    await expectSpent(rig, caller, 0n);
  });

  test("an unreadable file is the upstream's to refuse, free of charge", async () => {
    const { client, caller } = await newClient(rig);
    const file = new File(["no sound at all"], "sound.mp3", { type: "audio/mp3" });
    const thrown: unknown = await client.audio.transcriptions
      .create({ file, model })
      .catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    await expectSpent(rig, caller, 0n);
  });
});

describe("tokens", () => {
  const model = "openai/gpt-4o-transcribe";
  // In nano-credits: 2.5, 2.5 and 10 credits a million.
  const [textNano, soundNano, outputNano] = [2_500n, 2_500n, 10_000n];
  /** 72 audio tokens, five of the prompt, and one output token per word. */
  const heard = 5n * textNano + 72n * soundNano + 18n * outputNano;
  const asked = { model, prompt: "amber and bridge, ok" } as const;

  test("are charged as reported, those of the prompt separately from those of the audio", async () => {
    const { client, caller } = await newClient(rig);
    const { data, response } = await client.audio.transcriptions.create({ ...asked, file: sound() }).withResponse();
    expect(data.usage).toMatchObject({ type: "tokens", input_tokens: 77, output_tokens: 18 });
    expect(response.headers.get("x-tollgate-credits")).toBe(creditsText(heard));
    await expectSpent(rig, caller, heard);
    expect(await bucketsOf(rig, caller, response)).toEqual({
      input: 5,
      input_audio: 72,
      output: 18,
      input_audio_ms: 8_000,
      requests: 1,
    });
  });

  test("of a stream are those of its last event; its events pass byte for byte", async () => {
    const { caller } = await newClient(rig);
    const form = () => formOf({ ...asked, file: sound(), stream: "true" });
    const answer = await post(rig, transcriptionsPath, caller.token, form());
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    const own = formOf({ ...asked, model: "gpt-4o-transcribe", file: sound(), stream: "true" });
    const direct = await postForm(`${rig.simulators.providers.openai}/audio/transcriptions`, own);
    expect(await answer.text()).toBe(direct.text);
    await expectSpent(rig, caller, heard);
    expect(await generationOf(rig, caller, answer)).toMatchObject({ streamed: true, outcome: "complete" });
  });

  test("of a stream whose client disconnects are those of the audio and of the text so far; one that fails is free", async () => {
    const { client, caller } = await newClient(rig);
    const part = async (fault: string): Promise<string> => {
      const body = { ...asked, file: sound(), model: `${model}+${fault}`, stream: true } as const;
      let text = "";
      try {
        for await (const event of await client.audio.transcriptions.create(body)) {
          if (event.type === "transcript.text.delta") text += event.delta;
          if (fault === "stall-3" && text === "amber bridge candle") break;
        }
      } catch (reason) {
        expect(reason).toBeInstanceOf(OpenAI.APIError);
      }
      return text;
    };
    // 19 bytes are five tokens, if uncounted. The names with a fault have their own price of audio.
    const cost = 5n * textNano + 72n * 6_000n + 5n * outputNano;
    expect(await part("error-3")).toBe("amber bridge candle");
    await expectSpent(rig, caller, 0n);
    expect(await part("stall-3")).toBe("amber bridge candle");
    await expectSpent(rig, caller, cost);
    await until("the upstream is left", () => rig.simulators.requests().at(-1)?.outcome === "aborted");
  });

  test("of speakers, if the upstream reports seconds, are estimated from the audio and the text", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await diarized(client, "openai/gpt-4o-transcribe-diarize");
    expect(answer.segments.map(({ speaker }) => speaker)).toEqual(["A", "B"]);
    // 123 bytes are 31 tokens.
    await expectSpent(rig, caller, 72n * soundNano + 31n * outputNano);
  });
});

test("an upstream that streams as in chat has its own bytes and the sound's length", async () => {
  const { caller } = await newClient(rig);
  const chunks = ["amber", " bridge"].map((content) => ({
    object: "transcription.chunk",
    choices: [{ delta: { content } }],
  }));
  const stream = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
  odd.answerWith(() => new Response(stream, { headers: { "content-type": "text/event-stream" } }));
  const form = formOf({ model: "odd/whisper", file: sound(), stream: "true" });
  const answer = await post(rig, transcriptionsPath, caller.token, form);
  expect(await answer.text()).toBe(stream);
  await expectSpent(rig, caller, 800_000n);
  expect(await generationOf(rig, caller, answer)).toMatchObject({ streamed: true, outcome: "complete" });
});

describe.each(["xai/grok-stt", "mistral/voxtral-mini-latest"])("what is made of %s's answer", (model) => {
  const nano = model.startsWith("xai") ? 200_000n : 400_000n;

  test("are events, which the SDK reads", async () => {
    const { client, caller } = await newClient(rig);
    let [text, last] = ["", ""];
    for await (const event of await client.audio.transcriptions.create({ file: sound(), model, stream: true })) {
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") last = event.text;
    }
    expect(text.split(" ")).toHaveLength(words);
    expect(last).toBe(text);
    await expectSpent(rig, caller, nano);
  });

  test("are speakers and their turns", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await diarized(client, model);
    expect(answer.segments.map(({ speaker, start, end }) => [speaker, start, end])).toEqual([
      ["A", 0, 4],
      ["B", 4, 7.2],
    ]);
    expect(answer.segments.map(({ text }) => text).join(" ")).toBe(answer.text);
    await expectSpent(rig, caller, nano);
  });
});

describe("translations", () => {
  test.each([
    // Its JSON reports no usage, its verbose JSON the duration.
    ["openai/whisper-1", 800_000n],
    ["local/some-whisper", 720_000n],
    ["groq/groq-whisper", 1_440_000n],
  ])("of %s are English", async (model, nano) => {
    const { client, caller } = await newClient(rig);
    const file = sound();
    const { data, response } = await client.audio.translations.create({ file, model }).withResponse();
    expect(data.text.split(" ")).toHaveLength(words);
    expect(lastReceived(rig).path).toEndWith("/audio/translations");
    await expectSpent(rig, caller, nano);
    expect(await generationOf(rig, caller, response)).toMatchObject({ operation: "translation", outcome: "complete" });
    const verbose = await client.audio.translations.create({ file, model, response_format: "verbose_json" });
    expect(verbose).toMatchObject({ task: "translate", language: "english", duration: 7.2 });
    const text = formOf({ file, model, response_format: "text" });
    const answer = await post(rig, translationsPath, caller.token, text);
    expect(answer.headers.get("content-type")).toStartWith("text/plain");
    expect((await answer.text()).trimEnd()).toBe(data.text);
    await expectSpent(rig, caller, 3n * nano);
  });
});

describe("refused before anything is sent", () => {
  const none = (operation: string, prefix: string): Refusal => {
    const message = `The provider ${prefix} has no ${operation} operation.`;
    return { status: 404, code: "unsupported_operation", param: "model", message };
  };
  const invalid = { status: 422, code: "validation_failed" } as const;
  const without = [
    "anthropic/claude-haiku-4-5",
    "google/gemini-2.5-flash",
    "byteplus/seed-1-6",
    "deepseek/deepseek-chat",
  ];
  const untranslated = [...without, "xai/grok-stt", "mistral/voxtral-mini-latest"];

  test.each<[string, string, Record<string, string>, Refusal]>([
    ...without.map((model): [string, string, Record<string, string>, Refusal] => [
      `${model} writes nothing down`,
      transcriptionsPath,
      { model },
      none("transcription", model.split("/")[0] ?? ""),
    ]),
    ...untranslated.map((model): [string, string, Record<string, string>, Refusal] => [
      `${model} translates nothing`,
      translationsPath,
      { model },
      none("translation", model.split("/")[0] ?? ""),
    ]),
    [
      "a model without a price for it",
      transcriptionsPath,
      { model: "openai/tts-1" },
      { status: 404, code: "model_unpriced", param: "model" },
    ],
    [
      "subtitles of groq's",
      transcriptionsPath,
      { model: "groq/groq-whisper", response_format: "srt" },
      { ...invalid, param: "response_format" },
    ],
    [
      "a format that nobody has",
      transcriptionsPath,
      { model: "xai/grok-stt", response_format: "docx" },
      { ...invalid, param: "response_format" },
    ],
    [
      "log probabilities of xAI's",
      transcriptionsPath,
      { model: "xai/grok-stt", "include[]": "logprobs" },
      { ...invalid, param: "include" },
    ],
    [
      "speakers whom Mistral is to know",
      transcriptionsPath,
      { model: "mistral/voxtral-mini-latest", "known_speaker_names[]": "Ann" },
      { ...invalid, param: "known_speaker_names" },
    ],
    [
      "a stream that is neither",
      transcriptionsPath,
      { model: "openai/whisper-1", stream: "maybe" },
      { ...invalid, param: "stream" },
    ],
    [
      "a stream of a translation",
      translationsPath,
      { model: "openai/whisper-1", stream: "true" },
      { ...invalid, param: "stream" },
    ],
    [
      "a temperature that is none",
      transcriptionsPath,
      { model: "openai/whisper-1", temperature: "hot" },
      { ...invalid, param: "temperature" },
    ],
  ])("%s", async (_what, path, fields, refusal) => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, path, caller.token, formOf({ ...fields, file: sound() }));
    expectRefusal(answer, await answer.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    await expectSpent(rig, caller, 0n);
  });

  test("a millisecond more than there are credits for", async () => {
    const token = await rig.gateway.token({ user: "narrow", credits: 7_200n * 100n });
    const form = (seconds: number) => formOf({ model: "local/some-whisper", file: soundFile(seconds) });
    const refused = await post(rig, transcriptionsPath, token, form(7.201));
    const refusal = { status: 402, code: "insufficient_credits", type: "insufficient_credits" };
    expectRefusal(refused, await refused.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    expect((await post(rig, transcriptionsPath, token, form(7.2))).status).toBe(200);
  });

  test("a file whose second format makes it last 0 ms, without credits", async () => {
    const token = await rig.gateway.token({ user: "penniless", credits: 0n });
    const format = Buffer.from("666d7420100000000100ffffffffffff000000000000ffff", "hex");
    const file = new File([await soundFile(60, "wav").bytes(), format], "sound.wav", { type: "audio/wav" });
    const refused = await post(rig, transcriptionsPath, token, formOf({ model: "local/some-whisper", file }));
    const refusal = { status: 402, code: "insufficient_credits", type: "insufficient_credits" };
    expectRefusal(refused, await refused.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
  });

  test("a model that the token may not use", async () => {
    const token = await rig.gateway.token({ user: "bound", models: ["openai/whisper-*"] });
    const statusOf = async (model: string): Promise<number> =>
      (await post(rig, transcriptionsPath, token, formOf({ model, file: sound() }))).status;
    expect([await statusOf("openai/gpt-4o-transcribe"), await statusOf("openai/whisper-1")]).toEqual([404, 200]);
  });
});
