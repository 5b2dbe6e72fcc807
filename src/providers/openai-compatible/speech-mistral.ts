import { speechMediaType } from "../../audio/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import type { CallInput, BinaryAnswer, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { otherFields, readSpeechUsage, voiceId } from "../shared/audio/speech-operation.ts";

const formats = ["mp3", "wav", "pcm", "flac", "opus"];

function checkOptions({ response_format: format, instructions, speed }: JsonObject): void {
  if (format !== undefined && format !== null && !formats.some((known) => known === format)) {
    throw refusal("response_format", `Mistral supports ${formats.join(", ")}.`);
  }
  // Without instructions the speech would be a different one, so they are not silently dropped.
  if ((textOf(instructions) ?? "") !== "") throw refusal("instructions", "Mistral has no instructions.");
  if (speed !== undefined && speed !== null && speed !== 1)
    throw refusal("speed", "Mistral supports only the speed 1.");
}

const openaiMembers = new Set(["voice", "instructions", "speed", "stream_format", "stream"]);

function audioOf(answer: JsonObject): string {
  const audio = textOf(answer["audio_data"]);
  if (audio === undefined)
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer contains no audio.");
  return audio;
}

/** Mistral's speech is in JSON. The client gets the audio itself or, if it requests them, events. */
function toUpstream({ body }: CallInput): UpstreamRequests {
  checkOptions(body);
  const { voice, response_format: format, stream_format: streamFormat } = body;
  const id = voiceId(voice);
  const json = {
    ...otherFields(body, openaiMembers),
    ...(id === undefined ? {} : { voice_id: id }),
    response_format: format ?? "mp3",
  };
  const raw = (answer: JsonObject): BinaryAnswer => {
    return { bytes: Buffer.from(audioOf(answer), "base64"), contentType: speechMediaType(format) };
  };
  return {
    requests: [{ json }],
    answer: ([answer = {}]) => (streamFormat === "sse" ? { audio: audioOf(answer) } : raw(answer)),
  };
}

export const mistralSpeech: UpstreamOperation = {
  path: "/audio/speech",
  edits: () => [],
  toUpstream,
  readUsage: readSpeechUsage,
  isFailure: ({ audio_data: audio }) => typeof audio !== "string" || audio === "",
};
