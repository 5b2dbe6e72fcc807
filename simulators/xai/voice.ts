import { answerJson } from "../shared/answer-json.ts";
import {
  encodeSound,
  mediaTypeOf,
  readSeconds,
  soundFormat,
  soundPieces,
  spokenSeconds,
} from "../shared/audio/sound.ts";
import { hear, type Transcript } from "../shared/audio/transcript.ts";
import {
  badValue,
  isAnything,
  isFlag,
  isInteger,
  isLike,
  isList,
  isNumber,
  isOneOf,
  isText,
  type Problem,
} from "../shared/check.ts";
import { type FieldKind, formBody, isFile, isFileField } from "../shared/form.ts";
import { asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { record, value, values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { voiceErrors } from "./errors.ts";

const voices = ["ara", "eve", "leo", "rex", "sal"];
const textMax = 15_000;
const language = isLike(/^(auto|[a-z]{2,3}(-[A-Za-z0-9]{2,8})*)$/, '"auto" or a BCP-47 language code');

const speechShape = record(
  {
    ...values({
      text: isText,
      voice_id: isText,
      language,
      speed: isNumber(0.7, 1.5),
      optimize_streaming_latency: isInteger(0, 4),
      text_normalization: isFlag,
      with_timestamps: isFlag,
      replace: isAnything,
    }),
    output_format: record({
      codec: value(isOneOf("mp3", "wav", "pcm", "mulaw", "alaw")),
      sample_rate: value((rate) => (sampleRates.includes(Number(rate)) ? null : `one of ${sampleRates.join(", ")}`)),
      bit_rate: value((rate) => (bitRates.includes(Number(rate)) ? null : `one of ${bitRates.join(", ")}`)),
    }),
  },
  { required: ["text", "language"] },
);

const sampleRates = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];
const bitRates = [32_000, 64_000, 96_000, 128_000, 192_000];

function speak(call: Call): Answer {
  return answerJson(call, { errors: voiceErrors, check: checkSpeech, answer: (body) => spoken(call, body) });
}

function spoken({ identity }: Call, body: JsonObject): Answer {
  const text = String(body["text"]);
  const output = asObject(body["output_format"]);
  const format = soundFormat(output["codec"]);
  const seconds = spokenSeconds(text, Number(body["speed"] ?? 1));
  const rates = { sampleRate: Number(output["sample_rate"] ?? 24_000), bitRate: Number(output["bit_rate"] ?? 128_000) };
  const file = encodeSound({ seconds, format, ...rates });
  const headers = { "x-trace-id": identity.hex("trace", 32) };
  const content_type = mediaTypeOf(format);
  if (body["with_timestamps"] !== true) {
    return { kind: "pieces", contentType: content_type, pieces: soundPieces(file), headers };
  }
  const audio_timestamps = timestampsOf(text, seconds);
  const answer = { audio: file.toString("base64"), content_type, duration: seconds, audio_timestamps };
  return { kind: "json", status: 200, body: answer, headers };
}

function checkSpeech(body: JsonObject): Problem | null {
  const problem = speechShape(body, "");
  if (problem !== null) return problem;
  const { text, voice_id: voice } = body;
  if (text === "") return { kind: "missing", field: "text" };
  if (String(text).length > textMax) {
    return badValue("text", `expected at most ${textMax} characters`);
  }
  // Voices of the account are ids of eight characters.
  if (!isGiven(voice) || voices.includes(String(voice)) || /^[a-z0-9]{8}$/.test(String(voice))) return null;
  return badValue("voice_id", `no voice ${String(voice)}`, voice);
}

/** Each character at an even pace. */
function timestampsOf(text: string, seconds: number): JsonObject {
  const characters = Array.from(text);
  const at = (index: number): number => Math.round((index * seconds * 1_000) / characters.length) / 1_000;
  return { graph_chars: characters, graph_times: characters.map((_, index) => [at(index), at(index + 1)]) };
}

const listenKinds: { readonly [name: string]: FieldKind } = {
  file: "file",
  sample_rate: "number",
  format: "flag",
  multichannel: "flag",
  channels: "number",
  diarize: "flag",
  filler_words: "flag",
  keyterm: "list",
};

const rawFormats = ["pcm", "mulaw", "alaw"];

const listenShape = record(
  {
    ...values({
      audio_format: isOneOf(...rawFormats),
      sample_rate: isInteger(8_000, 48_000),
      language,
      format: isFlag,
      multichannel: isFlag,
      channels: isInteger(2, 8),
      diarize: isFlag,
      filler_words: isFlag,
      keyterm: isList,
    }),
    file: value(isFileField),
  },
  { required: ["file"] },
);

function listen(call: Call): Answer {
  const { form } = call;
  if (form === null) return errorAnswer(voiceErrors.forStatus(415));
  const body = formBody(form, listenKinds);
  const problem = listenShape(body, "") ?? checkListening(body, form.at(-1)?.name);
  if (problem !== null) return errorAnswer(voiceErrors.forProblem(problem));
  const seconds = secondsOf(body);
  if (seconds === null) return errorAnswer(voiceErrors.forProblem(unreadable));
  return jsonAnswer(heardAnswer(body, hear(seconds, "")));
}

const unreadable = badValue("file", "unsupported audio format");

function checkListening(body: JsonObject, lastPart: string | undefined): Problem | null {
  if (lastPart !== "file") return badValue("file", "it must be the last part of the form");
  if (isGiven(body["audio_format"]) && !isGiven(body["sample_rate"]))
    return badValue("sample_rate", "raw audio needs it");
  return body["format"] === true && !isGiven(body["language"]) ? badValue("language", "formatting needs it") : null;
}

/** Raw audio has no header: its duration follows from the caller's parameters. */
function secondsOf({ file, audio_format: format, sample_rate: rate }: JsonObject): number | null {
  if (!isFile(file)) return null;
  if (!isGiven(format)) return readSeconds(file.bytes);
  return file.bytes.length / (Number(rate) * (format === "pcm" ? 2 : 1));
}

function heardAnswer(body: JsonObject, { text, seconds, words }: Transcript): JsonObject {
  const speaker = (index: number): JsonObject =>
    body["diarize"] === true ? { speaker: Math.floor(index / 10) % 2 } : {};
  const timed = words.map((word, index) => ({ ...word, ...speaker(index) }));
  const duration = Math.round(seconds * 100) / 100;
  const whole = { text, language: body["language"] ?? "en", duration, words: timed };
  if (body["multichannel"] !== true) return whole;
  const channels = Array.from({ length: Number(body["channels"] ?? 2) }, (_, index) => ({ index, text, words: timed }));
  return { ...whole, channels };
}

function listVoices(): Answer {
  const described = voices.map((voice_id) => ({ voice_id, name: voice_id, language: "multilingual" }));
  return jsonAnswer({ voices: described });
}

const errors = voiceErrors;

/** xAI's speech in both directions, under its own names and without models. */
export const voiceRoutes: readonly Route[] = [
  { method: "POST", path: "/xai/v1/tts", errors, handle: speak },
  { method: "GET", path: "/xai/v1/tts/voices", errors, handle: listVoices },
  { method: "POST", path: "/xai/v1/stt", errors, handle: listen },
];
