import { answerJson } from "../shared/answer-json.ts";
import { encodeSound, mediaTypeOf, soundFormat, soundPieces, spokenSeconds } from "../shared/audio/sound.ts";
import { answerAudio, type AudioTalk, type AudioWire } from "../shared/audio/transcription.ts";
import { languageName, tell } from "../shared/audio/whisper.ts";
import { badValue, isFlag, isNumber, isOneOf, isText } from "../shared/check.ts";
import { type FieldKind, isFileField } from "../shared/form.ts";
import { asArray, isGiven, type JsonObject } from "../shared/json.ts";
import { list, record, value, values } from "../shared/shape.ts";
import { type Answer, type Call, type ErrorAnswer, type Route } from "../shared/types.ts";
import { plainErrors } from "./errors.ts";

/** The assumed duration of a file behind a URL: nothing is fetched. */
const unseenSeconds = 10;

const kinds: { readonly [name: string]: FieldKind } = {
  file: "file",
  temperature: "number",
  stream: "flag",
  timestamp_granularities: "list",
};

const shape = record(
  {
    ...values({
      model: isText,
      url: isText,
      language: isText,
      prompt: isText,
      temperature: isNumber(0, 1),
      stream: isFlag,
    }),
    file: value(isFileField),
    response_format: value(isOneOf("json", "text", "srt", "verbose_json", "vtt")),
    timestamp_granularities: list(value(isOneOf("word", "segment"))),
  },
  { required: ["model"], open: true },
);

/** Groq has no subtitles. */
function refuse(body: JsonObject, model: string): ErrorAnswer | null {
  const { response_format: format } = body;
  if (!model.startsWith("groq-") || (format !== "srt" && format !== "vtt")) return null;
  const message = "supported values are json, verbose_json, text";
  return plainErrors.forProblem(badValue("response_format", message, format));
}

function audioWire(task: "transcribe" | "translate"): AudioWire {
  return {
    kinds,
    shape,
    errors: plainErrors,
    formRefusal: () => plainErrors.forProblem({ kind: "missing", field: "file" }),
    refuse,
    secondsElsewhere: (body) => (isGiven(body["url"]) ? unseenSeconds : null),
    unreadable: () => {
      const message = "could not process file - is it a valid media file?";
      return plainErrors.forProblem(badValue("file", message, null));
    },
    answer: (talk) => answer(talk, task),
  };
}

/** In Whisper's formats, without any usage. */
function answer({ call, body, model, transcript }: AudioTalk, task: "transcribe" | "translate"): Answer {
  const more = model.startsWith("groq-") ? { x_groq: { id: `req_${call.identity.hex("groq", 26)}` } } : {};
  const granularities = asArray(body["timestamp_granularities"]);
  const language = task === "translate" ? "english" : languageName(body["language"]);
  return tell(body["response_format"], { transcript, task, language, granularities, more });
}

const speechShape = record(
  values({
    model: isText,
    input: isText,
    voice: isText,
    response_format: isOneOf("mp3", "opus", "aac", "flac", "wav", "pcm"),
    speed: isNumber(0.25, 4),
  }),
  { required: ["model", "input"], open: true },
);

function speak(call: Call): Answer {
  return answerJson(call, { errors: plainErrors, check: speechShape, answer: spoken });
}

function spoken(body: JsonObject): Answer {
  const format = soundFormat(body["response_format"]);
  const seconds = spokenSeconds(String(body["input"]), Number(body["speed"] ?? 1));
  const file = encodeSound({ seconds, format, sampleRate: 24_000, bitRate: 32_000 });
  return { kind: "pieces", contentType: mediaTypeOf(format), pieces: soundPieces(file) };
}

const audio = "/openai-compatible/v1/audio";
const transcribe = audioWire("transcribe");
const translate = audioWire("translate");

/** Audio of most hosts: Whisper's formats and raw speech, no usage anywhere. */
export const audioRoutes: readonly Route[] = [
  { method: "POST", path: `${audio}/transcriptions`, handle: (call) => answerAudio(call, transcribe) },
  { method: "POST", path: `${audio}/translations`, handle: (call) => answerAudio(call, translate) },
  { method: "POST", path: `${audio}/speech`, handle: speak },
];
