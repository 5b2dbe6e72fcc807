import { answerAudio, type AudioTalk, type AudioWire, textAnswer } from "../shared/audio/transcription.ts";
import { languageName, tell } from "../shared/audio/whisper.ts";
import { isFlag, isList, isNumber, isOneOf, isText, isTextOrRecord } from "../shared/check.ts";
import { type FieldKind, isFileField } from "../shared/form.ts";
import { asArray, isGiven, type JsonObject } from "../shared/json.ts";
import type { FormPart } from "../shared/multipart.ts";
import { list, record, value, values } from "../shared/shape.ts";
import { type Answer, type ErrorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { openaiErrors, openaiEventErrors, openaiFormRefusal, openaiRefusal } from "./errors.ts";
import { diarizedAnswer, durationUsage, logprobsOf, tokenUsage, transcriptFrames } from "./transcript-events.ts";

const fileBytesMax = 26_214_400;
const secondsMin = 0.1;
const unchunkedSecondsMax = 30;
const extensions = ["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"];

const kinds: { readonly [name: string]: FieldKind } = {
  file: "file",
  temperature: "number",
  stream: "flag",
  include: "list",
  timestamp_granularities: "list",
  known_speaker_names: "list",
  known_speaker_references: "list",
  languages: "list",
  keywords: "list",
  chunking_strategy: "json",
};

const translationFields = {
  file: value(isFileField),
  ...values({ model: isText, prompt: isText, temperature: isNumber(0, 1) }),
};
const required = ["file", "model"];
const translationFormat = value(isOneOf("json", "text", "srt", "verbose_json", "vtt"));
const translationShape = record({ ...translationFields, response_format: translationFormat }, { required });

const transcriptionShape = record(
  {
    ...translationFields,
    ...values({
      language: isText,
      languages: isList,
      keywords: isList,
      stream: isFlag,
      known_speaker_names: isList,
      known_speaker_references: isList,
      chunking_strategy: isTextOrRecord,
      response_format: isOneOf("json", "text", "srt", "verbose_json", "vtt", "diarized_json"),
    }),
    include: list(value(isOneOf("logprobs"))),
    timestamp_granularities: list(value(isOneOf("word", "segment"))),
  },
  { required },
);

/** The formats supported by each family of models. */
function formatsOf(model: string): readonly string[] {
  if (model.startsWith("whisper")) return ["json", "text", "srt", "verbose_json", "vtt"];
  return model.includes("diarize") ? ["json", "text", "diarized_json"] : ["json"];
}

function refuseTranscription(body: JsonObject, model: string): ErrorAnswer | null {
  const { response_format: format = "json", timestamp_granularities: granularities, include } = body;
  if (!formatsOf(model).includes(String(format))) {
    const message = `response_format '${String(format)}' is not compatible with model '${model}'. Use one of ${formatsOf(model).join(", ")} instead.`;
    return openaiRefusal(message, "response_format", "unsupported_value");
  }
  if (isGiven(granularities) && format !== "verbose_json") {
    const message = "timestamp_granularities are only supported with response_format 'verbose_json'.";
    return openaiRefusal(message, "timestamp_granularities", "unsupported_value");
  }
  const likely = model.startsWith("gpt-4o") && !model.includes("diarize");
  if (isGiven(include) && !likely) {
    return openaiRefusal("logprobs are not supported with this model.", "include", "unsupported_value");
  }
  if (!isGiven(body["prompt"]) || !model.includes("diarize")) return null;
  return openaiRefusal("prompt is not supported with this model.", "prompt", "unsupported_value");
}

function unreadable(): ErrorAnswer {
  return openaiRefusal("Audio file might be corrupted or unsupported", "file", "invalid_value");
}

function refuseFile(file: FormPart, seconds: number, body: JsonObject): ErrorAnswer | null {
  if (file.bytes.length > fileBytesMax) {
    const message = `Maximum content size limit (${fileBytesMax}) exceeded (${file.bytes.length} bytes read)`;
    return { status: 413, body: { error: { message, type: "server_error", param: null, code: null } } };
  }
  if (!extensions.includes(/\.(\w+)$/.exec(file.filename ?? "")?.[1]?.toLowerCase() ?? "")) {
    return openaiRefusal(`Invalid file format. Supported formats: ${extensions.join(", ")}`, null, null);
  }
  if (seconds < secondsMin) {
    const message = "Audio file is too short. Minimum audio length is 0.1 seconds.";
    return openaiRefusal(message, "file", "audio_too_short");
  }
  const unchunked = String(body["model"]).includes("diarize") && !isGiven(body["chunking_strategy"]);
  if (!unchunked || seconds <= unchunkedSecondsMax) return null;
  return openaiRefusal("chunking_strategy is required for diarization models", "chunking_strategy", null);
}

function answerTranscription(talk: AudioTalk): Answer {
  const { body, model, transcript } = talk;
  const format = body["response_format"];
  // Whisper ignores `stream`.
  if (model.startsWith("whisper")) {
    const granularities = asArray(body["timestamp_granularities"]);
    const language = languageName(body["language"]);
    return tell(format, { transcript, task: "transcribe", language, granularities, more: durationUsage(talk) });
  }
  if (body["stream"] === true) return { kind: "stream", frames: transcriptFrames(talk) };
  if (format === "diarized_json") return diarizedAnswer(talk);
  if (format === "text") return textAnswer(`${transcript.text}\n`);
  const detected = model.startsWith("gpt-transcribe") ? { languages: [{ code: body["language"] ?? "en" }] } : {};
  return jsonAnswer({ text: transcript.text, ...detected, ...logprobsOf(talk, transcript.text), ...tokenUsage(talk) });
}

/** The translation is English; JSON without usage, as long as it is not verbose. */
function answerTranslation({ body, transcript }: AudioTalk): Answer {
  return tell(body["response_format"], {
    transcript,
    task: "translate",
    language: "english",
    granularities: [],
    more: {},
  });
}

function refuseTranslation(_body: JsonObject, model: string): ErrorAnswer | null {
  if (model.startsWith("whisper")) return null;
  return openaiRefusal(`The model '${model}' does not support translations.`, "model", "invalid_value");
}

const shared = { kinds, errors: openaiErrors, formRefusal: openaiFormRefusal, unreadable, refuseFile };

const transcriptionWire: AudioWire = {
  ...shared,
  shape: transcriptionShape,
  refuse: refuseTranscription,
  answer: answerTranscription,
};
const translationWire: AudioWire = {
  ...shared,
  shape: translationShape,
  refuse: refuseTranslation,
  answer: answerTranslation,
};

const errors = openaiEventErrors;
const audio = "/openai/v1/audio";

/** Transcriptions and translations of OpenAI. */
export const transcriptionRoutes: readonly Route[] = [
  { method: "POST", path: `${audio}/transcriptions`, errors, handle: (call) => answerAudio(call, transcriptionWire) },
  { method: "POST", path: `${audio}/translations`, errors, handle: (call) => answerAudio(call, translationWire) },
];
