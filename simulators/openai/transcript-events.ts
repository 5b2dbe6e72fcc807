import type { TimedSegment } from "../shared/audio/transcript.ts";
import type { AudioTalk } from "../shared/audio/transcription.ts";
import { stringOr, asArray, type JsonObject } from "../shared/json.ts";
import { type Frame, namedFrame } from "../shared/sse.ts";
import { type Answer, jsonAnswer } from "../shared/types.ts";
import { countWords, textPieces } from "../shared/words.ts";

const audioTokensPerSecond = 10;

/** Usage of models that are billed by the second: whole ones. */
export function durationUsage({ call, transcript }: AudioTalk): JsonObject {
  return call.faults.noUsage ? {} : { usage: { type: "duration", seconds: Math.ceil(transcript.seconds) } };
}

/** Usage of models that are billed by the token. */
export function tokenUsage({ call, body, transcript }: AudioTalk): JsonObject {
  if (call.faults.noUsage) return {};
  const text_tokens = Math.ceil(stringOr(body["prompt"], "").length / 4);
  const audio_tokens = Math.ceil(transcript.seconds * audioTokensPerSecond);
  const input_tokens = text_tokens + audio_tokens;
  const output_tokens = countWords(transcript.text);
  const input_token_details = { text_tokens, audio_tokens };
  const total_tokens = input_tokens + output_tokens;
  return { usage: { type: "tokens", total_tokens, input_tokens, input_token_details, output_tokens } };
}

/** Log probabilities of a text's words, if they are included. */
export function logprobsOf({ body }: AudioTalk, text: string): JsonObject {
  if (!asArray(body["include"]).includes("logprobs")) return {};
  return { logprobs: textPieces(text).map((token) => ({ token, logprob: -0.1, bytes: [...Buffer.from(token)] })) };
}

/** Speakers take turns; the first ones have the names that are known. */
function segmentsOf({ body, transcript }: AudioTalk): JsonObject[] {
  const names = asArray(body["known_speaker_names"]).map(String);
  const speakers = names.length > 0 ? names : ["A", "B"];
  return transcript.segments.map(({ text, start, end }: TimedSegment, index) => ({
    type: "transcript.text.segment",
    id: segmentId(index),
    start,
    end,
    text,
    speaker: speakers[index % speakers.length] ?? "A",
  }));
}

function segmentId(index: number): string {
  return `seg_${String(index + 1).padStart(3, "0")}`;
}

/** A transcript with its speakers. */
export function diarizedAnswer(talk: AudioTalk): Answer {
  const { seconds: duration, text } = talk.transcript;
  return jsonAnswer({ task: "transcribe", duration, text, segments: segmentsOf(talk), ...durationUsage(talk) });
}

/** The text word by word, with `diarized_json` segment by segment, and then all of it with the usage. */
export function* transcriptFrames(talk: AudioTalk): Generator<Frame> {
  const { body, transcript } = talk;
  const diarized = body["response_format"] === "diarized_json";
  const segments = segmentsOf(talk);
  for (const [index, segment] of transcript.segments.entries()) {
    const spaced = index === 0 ? segment.text : ` ${segment.text}`;
    for (const delta of textPieces(spaced)) {
      const part = diarized ? { segment_id: segmentId(index) } : {};
      yield namedFrame({ type: "transcript.text.delta", delta, ...part, ...logprobsOf(talk, delta) });
    }
    if (diarized) yield namedFrame({ type: "transcript.text.segment", ...segments[index] });
  }
  const { text } = transcript;
  yield namedFrame({ type: "transcript.text.done", text, ...logprobsOf(talk, text), ...tokenUsage(talk) });
}
