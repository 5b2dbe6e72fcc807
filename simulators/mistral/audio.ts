import { answerJson } from "../shared/answer-json.ts";
import { encodeSound, soundFormat, soundPieces, spokenSeconds } from "../shared/audio/sound.ts";
import type { Transcript } from "../shared/audio/transcript.ts";
import { answerAudio, type AudioTalk, type AudioWire } from "../shared/audio/transcription.ts";
import { isFlag, isLike, isNumber, isOneOf, isText } from "../shared/check.ts";
import { type FieldKind, isFileField } from "../shared/form.ts";
import { asArray, isGiven, type JsonObject } from "../shared/json.ts";
import { list, record, value, values } from "../shared/shape.ts";
import { type Frame, namedFrame } from "../shared/sse.ts";
import { type Answer, type Call, jsonAnswer, type Route } from "../shared/types.ts";
import { countWords, textPieces } from "../shared/words.ts";
import { mistralErrors } from "./errors.ts";

const tokensPerSecond = 12.5;
/** The assumed duration of a file behind a URL or an id: nothing is fetched. */
const unseenSeconds = 10;

const kinds: { readonly [name: string]: FieldKind } = {
  file: "file",
  temperature: "number",
  stream: "flag",
  diarize: "flag",
  context_bias: "list",
  timestamp_granularities: "list",
};

const shape = record(
  {
    ...values({
      model: isText,
      file: isFileField,
      file_url: isText,
      file_id: isText,
      language: isLike(/^\w{2}$/, "two letters"),
      temperature: isNumber(0, 2),
      stream: isFlag,
      diarize: isFlag,
    }),
    context_bias: list(value(isLike(/^[^,\s]+$/, "a word"))),
    timestamp_granularities: list(value(isOneOf("segment", "word"))),
  },
  { required: ["model"], open: true },
);

const wire: AudioWire = {
  kinds,
  shape,
  errors: mistralErrors,
  formRefusal: () => mistralErrors.forProblem({ kind: "missing", field: "file" }),
  secondsElsewhere: (body) => (isGiven(body["file_url"]) || isGiven(body["file_id"]) ? unseenSeconds : null),
  unreadable: () => mistralErrors.forProblem({ kind: "unsupported", field: "file", message: "Invalid audio file" }),
  answer: (talk) => {
    return talk.body["stream"] === true ? { kind: "stream", frames: transcriptFrames(talk) } : jsonAnswer(whole(talk));
  },
};

function whole({ call, body, model, transcript }: AudioTalk): JsonObject {
  const language = body["language"] ?? null;
  const plain = { model, text: transcript.text, language, segments: segmentsOf(body, transcript) };
  return { ...plain, usage: call.faults.noUsage ? noTokens : usageOf(transcript) };
}

const noTokens = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

function usageOf({ seconds, text }: Transcript): JsonObject {
  const prompt_tokens = Math.ceil(seconds * tokensPerSecond);
  const completion_tokens = countWords(text);
  const total_tokens = prompt_tokens + completion_tokens;
  return { prompt_audio_seconds: Math.ceil(seconds), prompt_tokens, completion_tokens, total_tokens };
}

/** Segments, or words instead, if they or speakers are requested. */
function segmentsOf(body: JsonObject, { segments, words }: Transcript): JsonObject[] {
  const granularities = asArray(body["timestamp_granularities"]);
  if (granularities.length === 0 && body["diarize"] !== true) return [];
  return (granularities.includes("word") ? words : segments).map(({ text, start, end }, index) => ({
    type: "transcription_segment",
    text,
    start,
    end,
    ...(body["diarize"] === true ? { speaker_id: `speaker_${(index % 2) + 1}` } : {}),
  }));
}

function* transcriptFrames(talk: AudioTalk): Generator<Frame> {
  const { body, transcript } = talk;
  yield namedFrame({ type: "transcription.language", audio_language: body["language"] ?? "en" });
  for (const text of textPieces(transcript.text)) yield namedFrame({ type: "transcription.text.delta", text });
  for (const segment of segmentsOf(body, transcript)) {
    yield namedFrame({ ...segment, type: "transcription.segment" });
  }
  yield namedFrame({ ...whole(talk), type: "transcription.done" });
}

const speechShape = record(
  values({
    model: isText,
    input: isText,
    voice_id: isText,
    ref_audio: isText,
    stream: isFlag,
    response_format: isOneOf("pcm", "wav", "mp3", "flac", "opus"),
  }),
  { required: ["input"], open: true },
);

function speak(call: Call): Answer {
  return answerJson(call, { errors: mistralErrors, check: speechShape, answer: (body) => spoken(call, body) });
}

/** Speech comes as base64 in JSON, or in events. */
function spoken(call: Call, body: JsonObject): Answer {
  const seconds = spokenSeconds(String(body["input"]));
  const format = soundFormat(body["response_format"]);
  const file = encodeSound({ seconds, format, sampleRate: 24_000, bitRate: 64_000 });
  if (body["stream"] === true)
    return { kind: "stream", frames: speechFrames(call, file, seconds, String(body["input"])) };
  return jsonAnswer({ audio_data: file.toString("base64") });
}

function* speechFrames(call: Call, file: Buffer, seconds: number, input: string): Generator<Frame> {
  for (const piece of soundPieces(file)) {
    yield namedFrame({ type: "speech.audio.delta", audio_data: piece.toString("base64") });
  }
  const prompt_tokens = Math.ceil(input.length / 4);
  const completion_tokens = Math.ceil(seconds * tokensPerSecond);
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  yield namedFrame({ type: "speech.audio.done", usage: call.faults.noUsage ? noTokens : usage });
}

/** Transcriptions and speech of Mistral, in its own formats. */
export const audioRoutes: readonly Route[] = [
  { method: "POST", path: "/mistral/v1/audio/transcriptions", handle: (call) => answerAudio(call, wire) },
  { method: "POST", path: "/mistral/v1/audio/speech", handle: speak },
];
