import { speechMeter } from "../../audio/index.ts";
import { type WorkBound, type JsonObject, limits, type ObservedUsage } from "../../core/index.ts";
import type { ReadUsage, StreamObserver } from "../../streaming/index.ts";
import type { MediaCodec } from "../codec.ts";
import { errorEvent, namedEvent } from "../named-events.ts";
import { boundSpeech } from "./bound-speech.ts";
import { AudioEventObserver } from "./observe-events.ts";
import type { SpeechRequest } from "./request.ts";
import { speechTokens } from "./tokens.ts";

/** The estimated usage of speech of this duration, if the upstream reports none. The whole text counts as read. */
function usageOf({ inputUnits, expectedInput }: WorkBound, milliseconds: number): ObservedUsage {
  const usage = { ...inputUnits, ...expectedInput, outputAudio: speechTokens(milliseconds), requests: 1 };
  return { usage, estimated: ["input", "output"] };
}

/** Measures the passing audio. */
function observeBytes(body: SpeechRequest, bound: WorkBound): StreamObserver {
  const meter = speechMeter(body.response_format);
  let begun = false;
  return {
    see(block) {
      begun ||= block.length > 0;
      meter.push(block);
      return block;
    },
    get usage() {
      return begun ? usageOf(bound, meter.milliseconds) : undefined;
    },
    outputBytes: 0,
    done: false,
    // An answer without audio is invalid: it would be charged for its text.
    get complete() {
      return begun;
    },
    failed: false,
  };
}

function observeEvents(body: SpeechRequest, readUsage: ReadUsage, bound: WorkBound): StreamObserver {
  const meter = speechMeter(body.response_format);
  let begun = false;
  return new AudioEventObserver({
    last: "speech.audio.done",
    note({ type, audio }) {
      if (type !== "speech.audio.delta" || typeof audio !== "string") return;
      begun = true;
      meter.push(Buffer.from(audio, "base64"));
    },
    usageSoFar: () => (begun ? usageOf(bound, meter.milliseconds) : undefined),
    readUsage(event) {
      const named = readUsage(event);
      if (named === undefined) return undefined;
      // No upstream counts the characters among its tokens, and some prices are per character.
      return { ...named, usage: { ...bound.inputUnits, ...named.usage } };
    },
    outputBytes: () => 0,
  });
}

/** Base64 in one event: a multiple of four letters, so that each event can be decoded alone. */
const DELTA_LETTERS = 64 * 1024;

/** Whole speech, as `audio` in base64. */
function eventsOfAnswer({ audio, usage }: JsonObject): string {
  const letters = typeof audio === "string" ? audio : "";
  const events: string[] = [];
  for (let at = 0; at < letters.length; at += DELTA_LETTERS) {
    events.push(namedEvent({ type: "speech.audio.delta", audio: letters.slice(at, at + DELTA_LETTERS) }));
  }
  events.push(namedEvent({ type: "speech.audio.done", ...(usage === undefined ? {} : { usage }) }));
  return events.join("");
}

/** OpenAI's speech: bytes of audio, or events that contain them. */
export const speechCodec: MediaCodec<SpeechRequest> = {
  // The characters are counted, and so must be decoded.
  measured: [],
  bound: boundSpeech,
  outputBytes: () => 0,
  observeBytes,
  events: {
    observe: observeEvents,
    eventBytesMax: limits.wholeEventBytesMax,
    errorEvent,
    ofAnswer: (_body, answer) => eventsOfAnswer(answer),
  },
};
