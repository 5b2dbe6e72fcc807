import { z } from "zod";
import { modelId } from "../../bodies/index.ts";

const voice = z.union([z.string().min(1), z.looseObject({ id: z.string().min(1) })]);

/** The body of a speech call, as far as the gateway must understand it. Everything else passes unread. */
export const speechRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/gpt-4o-mini-tts."),
    input: z.string().describe("What is to be said."),
    voice: voice.nullish().describe("A voice by its name, or one of your own as an object with its id."),
    instructions: z.string().nullish().describe("How it is to be said."),
    response_format: z.string().nullish().describe("mp3 (the default), opus, aac, flac, wav or pcm."),
    speed: z.number().positive().nullish(),
    stream_format: z.string().nullish().describe("audio (the default) or sse."),
  })
  .meta({ id: "SpeechRequest" })
  // Audio bytes are always sent while they are generated; a stream in the gateway's sense consists of events.
  .transform((body) => ({ ...body, stream: body.stream_format === "sse" }));

export type SpeechRequest = z.output<typeof speechRequest>;

/** Boolean values of a form's field. */
const flag = z
  .stringbool({ truthy: ["true", "1"], falsy: ["false", "0", ""] })
  .meta({ enum: ["true", "1", "false", "0", ""] });
const number = z.string().trim().min(1).pipe(z.coerce.number()).meta({ type: "number" });

/** A field that may be repeated: a single value is a list of one. */
const list = z.union([z.array(z.string()), z.string().transform((one) => [one])]);

const common = {
  prompt: z.string().optional().describe("A text whose style or words the transcript is to follow."),
  temperature: number.optional(),
};

/** The fields of a transcription's form, besides its `file`. A repeated field is a list. */
export const transcriptionForm = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/gpt-4o-transcribe."),
    ...common,
    response_format: z.string().optional().describe("json, text, srt, vtt, verbose_json or diarized_json."),
    language: z.string().optional().describe("What is spoken, as an ISO 639-1 code."),
    stream: flag.optional(),
    include: list.optional(),
    timestamp_granularities: list.optional().describe("word and segment; for verbose_json."),
    known_speaker_names: list.optional(),
    known_speaker_references: list.optional(),
  })
  .meta({ id: "TranscriptionForm" });

export type TranscriptionForm = z.output<typeof transcriptionForm>;

/** The fields of a translation's form, besides its `file`. */
export const translationForm = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/whisper-1."),
    ...common,
    response_format: z.string().optional().describe("json, text, srt, vtt or verbose_json."),
    stream: z
      .stringbool({ truthy: [], falsy: ["false", "0", ""], error: "translations are not streamed" })
      .meta({ enum: ["false", "0", ""] })
      .optional(),
  })
  .meta({ id: "TranslationForm" });

export type TranslationForm = z.output<typeof translationForm>;
