import {
  tokensOfBytes,
  type JsonObject,
  limits,
  listOf,
  objectOf,
  type ObservedUsage,
  parseObject,
  type WorkBound,
} from "../../core/index.ts";
import type { ReadUsage, StreamObserver } from "../../streaming/index.ts";
import type { MediaCodec, MediaEvents } from "../codec.ts";
import { errorEvent, namedEvent } from "../named-events.ts";
import { boundTranscription } from "./bound-transcription.ts";
import { AudioEventObserver } from "./observe-events.ts";
import { transcriptionReferences } from "./references.ts";
import type { TranscriptionForm, TranslationForm } from "./request.ts";

/** Observes a transcript in plain text or subtitles. Once there is any text, the whole audio counts as processed. */
function observeBytes(_body: unknown, { inputUnits, expectedInput }: WorkBound): StreamObserver {
  let bytes = 0;
  return {
    see(block) {
      bytes += block.length;
      return block;
    },
    get usage(): ObservedUsage | undefined {
      if (bytes === 0) return undefined;
      const usage = { ...inputUnits, ...expectedInput, output: tokensOfBytes(bytes), requests: 1 };
      return { usage, estimated: ["input", "output"] };
    },
    get outputBytes() {
      return bytes;
    },
    done: false,
    complete: true,
    failed: false,
  };
}

/** The text added by an event. vLLM uses chat's events, without types. */
function textIn({ type, delta, choices }: JsonObject): readonly unknown[] {
  if (type === "transcript.text.delta") return [delta];
  return listOf(choices).map((choice) => objectOf(objectOf(choice)?.["delta"])?.["content"]);
}

function byteLength(text: unknown): number {
  return typeof text === "string" ? Buffer.byteLength(text) : 0;
}

function observeEvents(_body: unknown, readUsage: ReadUsage): StreamObserver {
  let bytes = 0;
  return new AudioEventObserver({
    last: "transcript.text.done",
    readUsage,
    note(event) {
      bytes += textIn(event).reduce<number>((sum, piece) => sum + byteLength(piece), 0);
    },
    // The pipeline knows the duration of the audio.
    usageSoFar: () => undefined,
    outputBytes: () => bytes,
  });
}

/** A whole transcript: its text, its speakers' segments, and the last event. */
function eventsOfAnswer({ text, segments, usage, logprobs }: JsonObject): string {
  const spoken = typeof text === "string" ? text : "";
  const turns = listOf(segments)
    .map((one) => objectOf(one) ?? {})
    .filter(({ speaker }) => speaker !== undefined);
  const more = { ...(logprobs === undefined ? {} : { logprobs }), ...(usage === undefined ? {} : { usage }) };
  return [
    ...(spoken === "" ? [] : [namedEvent({ type: "transcript.text.delta", delta: spoken })]),
    ...turns.map((turn) => namedEvent({ ...turn, type: "transcript.text.segment" })),
    namedEvent({ type: "transcript.text.done", text: spoken, ...more }),
  ].join("");
}

const events: MediaEvents<TranscriptionForm> = {
  observe: observeEvents,
  // The last event repeats the whole text.
  eventBytesMax: limits.wholeEventBytesMax,
  errorEvent,
  ofAnswer: (_body, answer) => eventsOfAnswer(answer),
};

const heard = {
  measured: [],
  references: transcriptionReferences,
  bound: boundTranscription,
  outputBytes(answer: string): number {
    return byteLength(parseObject(answer)?.["text"]);
  },
  observeBytes,
} as const;

/** OpenAI's transcriptions: an object, events or text. */
export const transcriptionCodec: MediaCodec<TranscriptionForm> = { ...heard, events };

/** The same translated to English, which is never streamed. */
export const translationCodec: MediaCodec<TranslationForm> = heard;
