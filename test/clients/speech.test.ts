/** Speech by the official SDK, of every kind of upstream that has it; the charges are worked out by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { parseBuffer } from "music-metadata";
import OpenAI from "openai";
import {
  askAgain,
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
} from "../kit/index.ts";
import { speechPath, startAudioRig, withFault } from "./audio.ts";

let rig: Rig;
let odd: ScriptedUpstream;
beforeAll(async () => {
  odd = startScriptedUpstream();
  rig = await startAudioRig(odd.url, { config: { server: { body_limit: "256KiB" }, upstream: { retries: 1 } } });
});
beforeEach(() => rig.simulators.clear());
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await odd.stop();
});

type Format = "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm";

interface Kind {
  model: string;
  voice: string;
  /** Nano-credits a character. */
  nano: bigint;
  formats: readonly Format[];
  /** The path of the upstream's route. */
  path: string;
  /** Whether its answer passes as it is. */
  passes: boolean;
}

const all: readonly Format[] = ["mp3", "opus", "aac", "flac", "wav", "pcm"];
const kinds: Record<string, Kind> = {
  openai: {
    model: "openai/tts-1",
    voice: "alloy",
    nano: 15_000n,
    formats: all,
    path: "/openai/v1/audio/speech",
    passes: true,
  },
  xai: {
    model: "xai/grok-tts",
    voice: "eve",
    nano: 15_000n,
    formats: ["mp3", "wav", "pcm"],
    path: "/xai/v1/tts",
    passes: true,
  },
  mistral: {
    model: "mistral/voxtral-mini-tts-2603",
    voice: "en_paul",
    nano: 16_000n,
    formats: ["mp3", "opus", "flac", "wav", "pcm"],
    path: "/mistral/v1/audio/speech",
    passes: false,
  },
  "any openai-compatible": {
    model: "local/some-speech",
    voice: "anyone",
    nano: 10_000n,
    formats: all,
    path: "/openai-compatible/v1/audio/speech",
    passes: true,
  },
  groq: {
    model: "groq/groq-speech",
    voice: "autumn",
    nano: 50_000n,
    formats: all,
    path: "/openai-compatible/v1/audio/speech",
    passes: true,
  },
};
const kindList = Object.values(kinds);

/** 27 code points, in 30 units of UTF-16 and 44 bytes; 1.6 seconds long in any voice. */
const said = "Größe 👍🏽 𝄞, 你好。 seconds:1.6";
const characters = 27n;
const seconds = 1.6;

const mediaTypes: Record<Format, string> = {
  mp3: "audio/mpeg",
  opus: "audio/opus",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};
const containers: Record<string, string> = {
  mp3: "MPEG",
  opus: "Ogg",
  aac: "ADTS/MPEG-4",
  flac: "FLAC",
  wav: "WAVE",
};

/** Fails unless it is a sound of that format that lasts as long as was asked for. */
async function expectSound(bytes: Uint8Array, format: Format): Promise<void> {
  // Samples without a head: 24,000 a second, of two bytes.
  if (format === "pcm") return expect(bytes.length).toBe(seconds * 48_000);
  const read = (await parseBuffer(bytes, undefined, { duration: true })).format;
  expect(read.container).toBe(containers[format]);
  // Its reader does not look at the last half second of such short AAC frames.
  const slack = format === "aac" ? 0.6 : 0.02;
  expect(Math.abs((read.duration ?? 0) - seconds)).toBeLessThan(slack);
}

/** The audio in the upstream's answer to the same request. */
async function upstreamsSound(kind: Kind): Promise<Uint8Array> {
  const answer = await askAgain(rig);
  if (kind.passes) return answer.bytes();
  const { audio_data: sound } = (await answer.json()) as { audio_data: string };
  return Buffer.from(sound, "base64");
}

describe.each(kindList)("$model", (kind) => {
  const { model, voice } = kind;

  test.each(kind.formats.map((format) => [format]))("%s: the upstream's bytes, of its type", async (format) => {
    const { client, caller } = await newClient(rig);
    const answer = await client.audio.speech.create({ model, voice, input: said, response_format: format });
    expect(answer.headers.get("content-type")).toBe(mediaTypes[format]);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    await expectSound(bytes, format);
    expect(lastReceived(rig).path).toBe(kind.path);
    expect(sha256(bytes)).toBe(sha256(await upstreamsSound(kind)));
    await expectSpent(rig, caller, characters * kind.nano);
  });

  test("mp3 by default; the record contains its characters", async () => {
    const { client, caller } = await newClient(rig);
    const answer = await client.audio.speech.create({ model, voice, input: said });
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    await expectSound(new Uint8Array(await answer.arrayBuffer()), "mp3");
    await expectSpent(rig, caller, characters * kind.nano);
    expect(await generationOf(rig, caller, answer)).toMatchObject({
      model,
      operation: "speech",
      dialect: null,
      streamed: false,
      status: 200,
      outcome: "complete",
      usage: { input_characters: 27, requests: 1 },
      credits: Number(characters * kind.nano) / 1e9,
    });
  });

  test("an upstream's error is relayed in its shape and costs nothing", async () => {
    const { client, caller } = await newClient(rig);
    const asked = { model: withFault(model, "status-400"), voice, input: said };
    const thrown: unknown = await client.audio.speech.create(asked).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    await expectSpent(rig, caller, 0n);
  });

  test("another attempt follows a failure that passes", async () => {
    const { client, caller } = await newClient(rig);
    const failing = withFault(model, "status-500+times-1");
    const answer = await client.audio.speech.create({ model: failing, voice, input: said });
    await expectSound(new Uint8Array(await answer.arrayBuffer()), "mp3");
    expect(rig.simulators.total()).toBe(2);
    await expectSpent(rig, caller, characters * kind.nano);
  });

  test("the same retry key gets the same sound again, for nothing", async () => {
    const { caller } = await newClient(rig);
    const send = () =>
      post(rig, speechPath, caller.token, { model, voice, input: said }, { headers: { "idempotency-key": "k" } });
    const first = await send();
    const bytes = await first.bytes();
    await caller.closed();
    const again = await send();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("content-type")).toBe("audio/mpeg");
    expect(sha256(await again.bytes())).toBe(sha256(bytes));
    expect(rig.simulators.total()).toBe(1);
    await expectSpent(rig, caller, characters * kind.nano);
  });
});

test("xAI's and Mistral's names are used for renamed fields, and other fields pass along", async () => {
  const { caller } = await newClient(rig);
  const body = { voice: { id: "nlbqfwie" }, input: "hello", response_format: "wav", speed: 1 };
  const speak = async (model: string, more: object) => {
    const answer = await post(rig, speechPath, caller.token, { model, ...body, ...more });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "audio/wav"]);
    await answer.arrayBuffer();
    return JSON.parse(lastReceived(rig).body) as unknown;
  };
  expect(await speak("xai/grok-tts", { language: "en", output_format: { sample_rate: 8_000 } })).toEqual({
    text: "hello",
    voice_id: "nlbqfwie",
    language: "en",
    output_format: { codec: "wav", sample_rate: 8_000 },
    speed: 1,
  });
  expect(await speak("mistral/voxtral-mini-tts-2603", { metadata: { a: 1 } })).toEqual({
    model: "voxtral-mini-tts-2603",
    input: "hello",
    voice_id: "nlbqfwie",
    response_format: "wav",
    metadata: { a: 1 },
  });
  await expectSpent(rig, caller, 5n * 15_000n + 5n * 16_000n);
});

test("only the model's prefix is taken out of a body that passes", async () => {
  const { caller } = await newClient(rig);
  const text = '{ "input":"gr\\u00f6\\u00dfer" ,"voice" : "alloy","speed":1.0,  "model": "openai/tts-1" }';
  const headers = { authorization: `Bearer ${caller.token}` };
  const answer = await fetch(rig.gateway.url + speechPath, { method: "POST", headers, body: text });
  expect(answer.status).toBe(200);
  await answer.arrayBuffer();
  expect(lastReceived(rig).body).toBe(text.replace("openai/", ""));
  // Six characters, however they are written.
  await expectSpent(rig, caller, 6n * 15_000n);
});

describe("refused before anything is sent", () => {
  const body = { model: "openai/tts-1", voice: "alloy", input: "hello" };
  const invalid = { status: 422, code: "validation_failed" } as const;

  test.each<[string, object, Refusal]>([
    ...["anthropic/claude-haiku-4-5", "google/gemini-2.5-flash", "byteplus/seed-1-6", "deepseek/deepseek-chat"].map(
      (model): [string, object, Refusal] => [
        `${model}: its provider has none`,
        { ...body, model },
        {
          status: 404,
          code: "unsupported_operation",
          param: "model",
          message: `The provider ${model.split("/")[0]} has no speech operation.`,
        },
      ],
    ),
    [
      "a model without a price for it",
      { ...body, model: "openai/whisper-1" },
      { status: 404, code: "model_unpriced", param: "model" },
    ],
    ["no text", { ...body, input: undefined }, { ...invalid, param: "input" }],
    ["a text that is none", { ...body, input: ["hello"] }, { ...invalid, param: "input" }],
    ["a voice that is none", { ...body, voice: 5 }, { ...invalid, param: "voice" }],
    [
      "a format that xAI has not",
      { ...body, model: "xai/grok-tts", response_format: "opus" },
      { ...invalid, param: "response_format", message: "xAI speaks mp3, wav and pcm." },
    ],
    [
      "a speed that xAI has not",
      { ...body, model: "xai/grok-tts", speed: 2 },
      { ...invalid, param: "speed", message: "0.7 to 1.5" },
    ],
    [
      "instructions to xAI",
      { ...body, model: "xai/grok-tts", instructions: "Whisper." },
      { ...invalid, param: "instructions" },
    ],
    [
      "a format that Mistral has not",
      { ...body, model: "mistral/voxtral-mini-tts-2603", response_format: "aac" },
      { ...invalid, param: "response_format" },
    ],
    [
      "instructions to Mistral",
      { ...body, model: "mistral/voxtral-mini-tts-2603", instructions: "Whisper." },
      { ...invalid, param: "instructions" },
    ],
    ["too much", { ...body, input: "x".repeat(300_000) }, { status: 413, code: "body_too_large" }],
  ])("%s", async (_what, asked, refusal) => {
    const { caller } = await newClient(rig);
    const answer = await post(rig, speechPath, caller.token, asked);
    expectRefusal(answer, await answer.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    await expectSpent(rig, caller, 0n);
  });

  test("a character more than there are credits for", async () => {
    const token = await rig.gateway.token({ user: "narrow", credits: 5n * 15_000n });
    const refused = await post(rig, speechPath, token, { ...body, input: "hello!" });
    const refusal = { status: 402, code: "insufficient_credits", type: "insufficient_credits" };
    expectRefusal(refused, await refused.text(), refusal);
    expect(rig.simulators.total()).toBe(0);
    const paid = await post(rig, speechPath, token, body);
    expect(paid.status).toBe(200);
    await paid.arrayBuffer();
  });

  test("a model that the token may not use", async () => {
    const token = await rig.gateway.token({ user: "bound", models: ["openai/tts-1", "local/*"] });
    const statusOf = async (model: string): Promise<number> => {
      const answer = await post(rig, speechPath, token, { ...body, model });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await statusOf("openai/tts-1-hd")).toBe(404);
    expect(await statusOf("xai/grok-tts")).toBe(404);
    expect(await statusOf("openai/tts-1")).toBe(200);
    expect(await statusOf("local/some-speech")).toBe(200);
  });
});
