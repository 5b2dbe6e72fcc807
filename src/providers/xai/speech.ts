import { type JsonObject, objectOf } from "../../core/index.ts";
import type { CallInput, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { otherFields, voiceId } from "../shared/audio/speech-operation.ts";

/** xAI's equivalents of OpenAI's formats, with OpenAI's sample rates. */
const outputFormats = new Map<unknown, JsonObject>([
  ["mp3", { codec: "mp3" }],
  ["wav", { codec: "wav", sample_rate: 24_000 }],
  ["pcm", { codec: "pcm", sample_rate: 24_000 }],
]);

const SPEED_MIN = 0.7;
const SPEED_MAX = 1.5;

/** Throws 422 for a format that xAI lacks. */
function outputFormat(body: JsonObject): JsonObject {
  const known = outputFormats.get(body["response_format"] ?? "mp3");
  if (known === undefined) throw refusal("response_format", "xAI speaks mp3, wav and pcm.");
  return { ...known, ...objectOf(body["output_format"]) };
}

function checkedSpeed(speed: unknown): JsonObject {
  if (speed === undefined || speed === null) return {};
  if (typeof speed === "number" && speed >= SPEED_MIN && speed <= SPEED_MAX) return { speed };
  throw refusal("speed", `xAI supports ${SPEED_MIN} to ${SPEED_MAX} times the usual speed.`);
}

/** OpenAI's members; all others are passed on, so that xAI's own members can be used. */
const openaiMembers = new Set([
  "model",
  "input",
  "voice",
  "instructions",
  "response_format",
  "speed",
  "stream_format",
  "stream",
]);

/**
 * xAI's `/tts`. Its answer is the audio itself, which is passed through. If the client wants events, JSON is requested
 * instead, and the complete answer is converted to events.
 */
function toUpstream({ body }: CallInput): UpstreamRequests {
  const { input, voice, instructions, speed, stream_format: streamFormat } = body;
  // Without instructions the speech would be a different one, so they are not silently dropped.
  if ((textOf(instructions) ?? "") !== "") {
    throw refusal("instructions", "xAI has no instructions. Use speech tags in the text instead.");
  }
  const id = voiceId(voice);
  const json = {
    language: "auto",
    ...otherFields(body, openaiMembers),
    text: input,
    ...(id === undefined ? {} : { voice_id: id }),
    output_format: outputFormat(body),
    ...checkedSpeed(speed),
  };
  if (streamFormat !== "sse") return { requests: [{ json }] };
  return {
    requests: [{ json: { ...json, with_timestamps: true } }],
    answer: ([answer = {}]) => ({ audio: answer["audio"] }),
  };
}

export const speech: UpstreamOperation = {
  path: "/tts",
  edits: () => [],
  toUpstream,
  // Speech is priced per character.
  readUsage: () => undefined,
  isFailure: ({ audio }) => typeof audio !== "string" || audio === "",
};
