import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type SimulatorName, type Simulators, startSimulators } from "./index.ts";
import { bodyOf, eventsOf, post, type Reply } from "./testing/client.ts";
import { formOf, imageFile, postForm, soundFile } from "./testing/media.ts";
import { type SchemaCheck, schemaCheck, type SchemaOwner } from "./testing/schemas.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

/** One request, and which schemas its answer and its events have to fit. */
interface Documented {
  readonly name: string;
  readonly provider: SimulatorName;
  readonly path: string;
  readonly body: object | FormData;
  readonly whole?: string;
  readonly event?: string;
}

const speech = { model: "gpt-4o-mini-tts", voice: "alloy", input: "hello there" };
const heard = { file: soundFile(12) };
const edited = { model: "gpt-image-1", prompt: "a hat", image: imageFile(64, 64) };
const diarize = { ...heard, model: "gpt-4o-transcribe-diarize", response_format: "diarized_json" };
const verbose = { ...heard, model: "whisper-1", response_format: "verbose_json" };
const transcriptions = { provider: "openai", path: "/audio/transcriptions" } as const;
const generations = { provider: "openai", path: "/images/generations" } as const;
const drawn = { model: "gpt-image-1", prompt: "a fox" };
const draws = "/v1beta/models/gemini-3-pro-image";
const contents = [{ parts: [{ text: "a fox" }] }];
const embeds = "/v1beta/models/gemini-embedding-001";
const content = { parts: [{ text: "hello" }] };
const request = { model: "models/gemini-embedding-001", content };
const voxtral = { ...heard, model: "voxtral-mini-latest", "timestamp_granularities[]": "segment" };

const documents: { readonly [Owner in SchemaOwner]?: readonly Documented[] } = {
  openai: [
    {
      name: "embeddings",
      provider: "openai",
      path: "/embeddings",
      body: { model: "text-embedding-3-small", input: "hello" },
      whole: "CreateEmbeddingResponse",
    },
    {
      name: "completions",
      provider: "openai",
      path: "/completions",
      body: { model: "gpt-3.5-turbo-instruct", prompt: ["hello", "there"], n: 2 },
      whole: "CreateCompletionResponse",
    },
    {
      name: "moderations",
      provider: "openai",
      path: "/moderations",
      body: { model: "omni-moderation-latest", input: ["hello", "violence"] },
      whole: "CreateModerationResponse",
    },
    { ...generations, name: "images", body: drawn, whole: "ImagesResponse" },
    { ...generations, name: "older images", body: { ...drawn, model: "dall-e-3" }, whole: "ImagesResponse" },
    {
      ...generations,
      name: "streamed images",
      body: { ...drawn, stream: true, partial_images: 2 },
      event: "ImageGenStreamEvent",
    },
    { name: "edits", provider: "openai", path: "/images/edits", body: formOf(edited), whole: "ImagesResponse" },
    {
      name: "streamed edits",
      provider: "openai",
      path: "/images/edits",
      body: formOf({ ...edited, stream: "true", partial_images: "1" }),
      event: "ImageEditStreamEvent",
    },
    {
      name: "streamed speech",
      provider: "openai",
      path: "/audio/speech",
      body: { ...speech, stream_format: "sse" },
      event: "CreateSpeechResponseStreamEvent",
    },
    {
      ...transcriptions,
      name: "transcriptions",
      body: formOf({ ...heard, model: "gpt-4o-transcribe", "include[]": "logprobs" }),
      whole: "CreateTranscriptionResponseJson",
    },
    {
      ...transcriptions,
      name: "verbose transcriptions",
      body: formOf({ ...verbose, "timestamp_granularities[]": ["word", "segment"] }),
      whole: "CreateTranscriptionResponseVerboseJson",
    },
    {
      ...transcriptions,
      name: "diarized transcriptions",
      body: formOf(diarize),
      whole: "CreateTranscriptionResponseDiarizedJson",
    },
    {
      ...transcriptions,
      name: "streamed transcriptions",
      body: formOf({ ...diarize, stream: "true" }),
      event: "CreateTranscriptionResponseStreamEvent",
    },
    {
      name: "translations",
      provider: "openai",
      path: "/audio/translations",
      body: formOf(verbose),
      whole: "CreateTranslationResponseVerboseJson",
    },
  ],
  mistral: [
    {
      name: "moderations",
      provider: "mistral",
      path: "/moderations",
      body: { model: "mistral-moderation-latest", input: "hello" },
      whole: "ModerationResponse",
    },
    {
      name: "transcriptions",
      provider: "mistral",
      path: "/audio/transcriptions",
      body: formOf({ ...voxtral, diarize: "true", language: "en" }),
      whole: "TranscriptionResponse",
    },
    {
      name: "speech",
      provider: "mistral",
      path: "/audio/speech",
      body: { input: "hello" },
      whole: "SpeechResponse",
    },
  ],
  google: [
    {
      name: "pictures",
      provider: "google",
      path: `${draws}:generateContent`,
      body: { contents },
      whole: "GenerateContentResponse",
    },
    {
      name: "streamed pictures",
      provider: "google",
      path: `${draws}:streamGenerateContent?alt=sse`,
      body: { contents },
      event: "GenerateContentResponse",
    },
    {
      name: "embeddings",
      provider: "google",
      path: `${embeds}:embedContent`,
      body: { content },
      whole: "EmbedContentResponse",
    },
    {
      name: "batches of embeddings",
      provider: "google",
      path: `${embeds}:batchEmbedContents`,
      body: { requests: [request] },
      whole: "BatchEmbedContentsResponse",
    },
  ],
  xai: [
    {
      name: "images",
      provider: "xai",
      path: "/images/generations",
      body: { model: "grok-imagine-image", prompt: "a fox" },
      whole: "ImageResponse",
    },
  ],
};

function send({ provider, path, body }: Documented): Promise<Reply> {
  const url = simulators.providers[provider] + path;
  return body instanceof FormData ? postForm(url, body) : post(url, body);
}

describe.each(Object.entries(documents) as [SchemaOwner, readonly Documented[]][])("%s", (document, entries) => {
  let problems: SchemaCheck;
  beforeAll(() => {
    problems = schemaCheck(document);
  });

  for (const entry of entries) {
    const { name, whole, event } = entry;
    test(`has ${name}`, async () => {
      const reply = await send(entry);
      expect(reply.status, reply.text.slice(0, 500)).toBe(200);
      if (whole !== undefined) expect(problems(whole, bodyOf(reply))).toEqual([]);
      if (event === undefined) return;
      const events = eventsOf(reply);
      expect(events.length).toBeGreaterThan(1);
      for (const { data } of events) expect(problems(event, data), JSON.stringify(data).slice(0, 300)).toEqual([]);
    });
  }
});

// These are documented with the name of the event around them.
test("mistral's streams fit their document", async () => {
  const problems = schemaCheck("mistral");
  const base = `${simulators.providers.mistral}/audio`;
  const streamed: readonly [schema: string, reply: Reply][] = [
    ["TranscriptionStreamEvents", await postForm(`${base}/transcriptions`, formOf({ ...voxtral, stream: "true" }))],
    ["SpeechStreamEvents", await post(`${base}/speech`, { input: "hi", stream: true })],
  ];
  for (const [schema, reply] of streamed) {
    for (const frame of eventsOf(reply)) expect(problems(schema, frame), JSON.stringify(frame)).toEqual([]);
  }
});
