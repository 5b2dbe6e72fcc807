import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, FormField, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { countOf, textOf, toldCount, uncountedOf } from "../shared/json.ts";
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
import { hasNoTranscript, millisecondsOf } from "../shared/audio/transcription-operation.ts";

/** Converts a keyword to Mistral's form, with underscores for blanks. Keywords with commas are dropped. */
function biasOf(hint: string): string[] {
  const bias = hint.trim().replaceAll(/[\s_]+/g, "_");
  return bias === "" || bias.includes(",") ? [] : [bias];
}

/** The times that must be requested to generate the client's format. */
function granularityOf({ format, words, segments }: TranscriptFormat): "word" | "segment" | undefined {
  if (format === "srt" || format === "vtt") return "word";
  if (format === "diarized_json") return "segment";
  if (format !== "verbose_json") return undefined;
  return words ? "word" : segments ? "segment" : undefined;
}

/**
 * Fields that only guide a transcript are dropped: `prompt` and `chunking_strategy` have no equivalent, and `language`
 * is refused together with times.
 */
function formOf(input: CallInput, model: string, requested: TranscriptFormat): readonly FormField[] {
  const { body } = input;
  const granularity = granularityOf(requested);
  const isDiarized = requested.format === "diarized_json" || isSet(body["diarize"]);
  const language = granularity === undefined ? textOf(body["language"]) : undefined;
  const { temperature } = body;
  const hints = [...valuesOf(body["keywords"]), ...valuesOf(body["context_bias"])];
  const fields: [name: string, text: string | undefined][] = [
    ["model", model],
    ["language", language],
    ["temperature", typeof temperature === "number" ? String(temperature) : textOf(temperature)],
    ["diarize", isDiarized ? "true" : undefined],
    ["timestamp_granularities", granularity],
    ...hints.flatMap(biasOf).map((bias): [string, string] => ["context_bias", bias]),
  ];
  const texts = fields.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }]));
  return [...texts, { name: "file", file: audioFileOf(input) }];
}

function readWord(value: unknown): TimedWord {
  const segment = objectOf(value) ?? {};
  const speaker = textOf(segment["speaker_id"]);
  return {
    text: textOf(segment["text"]) ?? "",
    start: Number(segment["start"]),
    end: Number(segment["end"]),
    ...(speaker === undefined ? {} : { speaker }),
  };
}

/** Mistral's transcriptions have one format; OpenAI's formats and events are generated from it. */
function toUpstream(input: CallInput, model: string): UpstreamRequests {
  const requested = readTranscriptFormat(input.body);
  const readTranscript = (answer: JsonObject): Transcript => {
    const milliseconds = millisecondsOf(objectOf(answer["usage"])?.["prompt_audio_seconds"]);
    return {
      text: textOf(answer["text"]) ?? "",
      language: textOf(answer["language"]) ?? textOf(input.body["language"]),
      seconds: milliseconds === undefined ? undefined : milliseconds / 1_000,
      words: listOf(answer["segments"]).map(readWord),
      segmented: granularityOf(requested) === "segment",
    };
  };
  return {
    requests: [{ form: formOf(input, model, requested) }],
    answer: ([answer = {}]) => formatTranscript(readTranscript(answer), requested),
  };
}

/** Audio tokens are those that only `total_tokens` includes. */
function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]) ?? {};
  const inputAudioMs = millisecondsOf(usage["prompt_audio_seconds"]);
  const told = { input: toldCount(usage["prompt_tokens"]), output: toldCount(usage["completion_tokens"]) };
  const { input = 0, output = 0 } = told;
  const isTold = told.input !== undefined && told.output !== undefined;
  const inputAudio = isTold ? Math.max(countOf(usage["total_tokens"]) - input - output, 0) : 0;
  if (inputAudioMs === undefined && input + inputAudio === 0) return undefined;
  return {
    usage: { input, inputAudio, output, ...(inputAudioMs === undefined ? {} : { inputAudioMs }), requests: 1 },
    ...uncountedOf(isTold ? input : undefined, told.output),
  };
}

export const mistralTranscription: UpstreamOperation = {
  path: "/audio/transcriptions",
  edits: () => [],
  toUpstream,
  readUsage,
  isFailure: hasNoTranscript,
};
