import { type JsonObject, listOf, objectOf } from "../../core/index.ts";
import type { CallInput, FormField, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import type { TimedWord } from "../shared/subtitles.ts";
import {
  type Transcript,
  isSet,
  readTranscriptFormat,
  audioFileOf,
  formatTranscript,
  type TranscriptFormat,
  valuesOf,
} from "../shared/transcript.ts";
import { hasNoTranscript, readTranscriptionUsage } from "../shared/transcription-operation.ts";

/** Fields of xAI's own, which go there as they are. */
const ownFields = ["language", "audio_format", "sample_rate", "format", "multichannel", "channels", "filler_words"];

/**
 * The file comes last (`docs/wire/xai.md`). What only guides a transcript is left out: `prompt`, `temperature` and
 * `chunking_strategy` have no counterpart, and there is one model.
 */
function formOf(input: CallInput, { format }: TranscriptFormat): readonly FormField[] {
  const { body } = input;
  const own = ownFields.flatMap((name) => valuesOf(body[name]).map((text) => ({ name, text })));
  const isDiarized = format === "diarized_json" || isSet(body["diarize"]);
  const keywords = [...valuesOf(body["keywords"]), ...valuesOf(body["keyterm"])];
  return [
    ...own,
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

function heardIn(answer: JsonObject, { body }: CallInput): Transcript {
  const { duration } = answer;
  return {
    text: textOf(answer["text"]) ?? "",
    language: textOf(answer["language"]) ?? textOf(body["language"]),
    seconds: typeof duration === "number" ? duration : undefined,
    words: listOf(answer["words"]).map(wordOf),
    segmented: false,
  };
}

/** xAI's `/stt`, which tells times of words: OpenAI's formats are made of them. */
function toUpstream(input: CallInput): UpstreamRequests {
  const telling = readTranscriptFormat(input.body);
  return {
    requests: [{ form: formOf(input, telling) }],
    answer: ([answer = {}]) => formatTranscript(heardIn(answer, input), telling),
  };
}

export const transcription: UpstreamOperation = {
  path: "/stt",
  edits: () => [],
  toUpstream,
  readUsage: readTranscriptionUsage,
  isFailure: hasNoTranscript,
};
