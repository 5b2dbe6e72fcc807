import { type JsonObject, listOf, objectOf } from "../../core/index.ts";
import type { CallInput, FormField, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import type { TimedWord } from "../shared/audio/subtitles.ts";
import {
  type Transcript,
  isSet,
  readTranscriptFormat,
  audioFileOf,
  formatTranscript,
  type TranscriptFormat,
  valuesOf,
} from "../shared/audio/transcript.ts";
import { hasNoTranscript, readTranscriptionUsage } from "../shared/audio/transcription-operation.ts";

/** xAI's own fields, which are passed on. */
const xaiFields = ["language", "audio_format", "sample_rate", "format", "multichannel", "channels", "filler_words"];

/**
 * The file must be last (`docs/wire/xai.md`). Fields that only guide a transcript are dropped: `prompt`, `temperature`
 * and `chunking_strategy` have no equivalent. So is `model`, because there is only one.
 */
function formOf(input: CallInput, { format }: TranscriptFormat): readonly FormField[] {
  const { body } = input;
  const passedOn = xaiFields.flatMap((name) => valuesOf(body[name]).map((text) => ({ name, text })));
  const isDiarized = format === "diarized_json" || isSet(body["diarize"]);
  const keywords = [...valuesOf(body["keywords"]), ...valuesOf(body["keyterm"])];
  return [
    ...passedOn,
    ...(isDiarized ? [{ name: "diarize", text: "true" }] : []),
    ...keywords.map((text) => ({ name: "keyterm", text })),
    { name: "file", file: audioFileOf(input) },
  ];
}

function wordOf(value: unknown): TimedWord {
  const word = objectOf(value) ?? {};
  const { speaker } = word;
  const isNamed = typeof speaker === "number" || typeof speaker === "string";
  return {
    text: textOf(word["text"]) ?? "",
    start: Number(word["start"]),
    end: Number(word["end"]),
    ...(isNamed ? { speaker: String(speaker) } : {}),
  };
}

function readTranscript(answer: JsonObject, { body }: CallInput): Transcript {
  const { duration } = answer;
  return {
    text: textOf(answer["text"]) ?? "",
    language: textOf(answer["language"]) ?? textOf(body["language"]),
    seconds: typeof duration === "number" ? duration : undefined,
    words: listOf(answer["words"]).map(wordOf),
    segmented: false,
  };
}

/** xAI's `/stt`, whose answer contains the times of words: OpenAI's formats are generated from them. */
function toUpstream(input: CallInput): UpstreamRequests {
  const requested = readTranscriptFormat(input.body);
  return {
    requests: [{ form: formOf(input, requested) }],
    answer: ([answer = {}]) => formatTranscript(readTranscript(answer, input), requested),
  };
}

export const transcription: UpstreamOperation = {
  path: "/stt",
  edits: () => [],
  toUpstream,
  readUsage: readTranscriptionUsage,
  isFailure: hasNoTranscript,
};
