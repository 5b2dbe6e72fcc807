import { speechMediaType } from "../../audio/index.ts";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import type { CallInput, BinaryAnswer, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { otherFields, readSpeechUsage, voiceId } from "../shared/speech-operation.ts";

const formats = ["mp3", "wav", "pcm", "flac", "opus"];

function checkSayable({ response_format: format, instructions, speed }: JsonObject): void {
  if (format !== undefined && format !== null && !formats.some((known) => known === format)) {
    throw refusal("response_format", `Mistral speaks ${formats.join(", ")}.`);
  }
  // It would be another speech without them.
  if ((textOf(instructions) ?? "") !== "") throw refusal("instructions", "Mistral takes none.");
  if (speed !== undefined && speed !== null && speed !== 1) throw refusal("speed", "Mistral speaks at one speed.");
}

const openaiMembers = new Set(["voice", "instructions", "speed", "stream_format", "stream"]);

function soundOf(answer: JsonObject): string {
  const sound = textOf(answer["audio_data"]);
  if (sound === undefined) throw new GatewayError("upstream_invalid_answer", "The upstream's answer holds no sound.");
  return sound;
}

/** Mistral's speech comes in JSON: to the client as the sound itself or, where it wants events, in those. */
function toUpstream({ body }: CallInput): UpstreamRequests {
  checkSayable(body);
  const { voice, response_format: format, stream_format: streamFormat } = body;
  const id = voiceId(voice);
  const json = {
    ...otherFields(body, openaiMembers),
    ...(id === undefined ? {} : { voice_id: id }),
    response_format: format ?? "mp3",
  };
  const raw = (answer: JsonObject): BinaryAnswer => {
    return { bytes: Buffer.from(soundOf(answer), "base64"), contentType: speechMediaType(format) };
  };
  return {
    requests: [{ json }],
    answer: ([answer = {}]) => (streamFormat === "sse" ? { audio: soundOf(answer) } : raw(answer)),
  };
}

export const mistralSpeech: UpstreamOperation = {
  path: "/audio/speech",
  edits: () => [],
  toUpstream,
  readUsage: readSpeechUsage,
  isFailure: ({ audio_data: audio }) => typeof audio !== "string" || audio === "",
};
