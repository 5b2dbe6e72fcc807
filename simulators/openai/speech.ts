import { answerJson } from "../shared/answer-json.ts";
import { badValue, isNumber, isOneOf, isText } from "../shared/check.ts";
import { encodeSound, mediaTypeOf, soundFormat, soundPieces, spokenSeconds } from "../shared/audio/sound.ts";
import { asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { record, type Shape, value, values } from "../shared/shape.ts";
import { type Frame, namedFrame } from "../shared/sse.ts";
import { type Answer, type Call, errorAnswer, type ErrorAnswer, type Route } from "../shared/types.ts";
import { openaiErrors, openaiEventErrors, openaiRefusal } from "./errors.ts";

const inputMax = 4_096;
const sampleRate = 24_000;
const bitRate = 32_000;
/** Output tokens of a minute of speech. */
const tokensPerMinute = 1_250;

const oldVoices = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];
const voices = [...oldVoices, "ballad", "cedar", "marin", "verse"];

/** One of the built-in voices, or a voice of the account by its id. */
const voice: Shape = (given, field) => {
  if (typeof given !== "string") return record({ id: value(isText) }, { required: ["id"] })(given, field);
  if (voices.includes(given)) return null;
  return badValue(field, `supported values are ${voices.join(", ")}`, given);
};

const shape = record(
  {
    ...values({
      model: isText,
      input: isText,
      instructions: isText,
      response_format: isOneOf("mp3", "opus", "aac", "flac", "wav", "pcm"),
      speed: isNumber(0.25, 4),
      stream_format: isOneOf("sse", "audio"),
    }),
    voice,
  },
  { required: ["model", "input", "voice"] },
);

function isOldModel(model: string): boolean {
  return model.startsWith("tts-1");
}

function refuse(body: JsonObject): ErrorAnswer | null {
  const { model, input, stream_format: stream } = body;
  const given = String(input);
  if (given === "") {
    return openaiRefusal("Invalid 'input': string too short.", "input", "string_below_min_length");
  }
  if (given.length > inputMax) {
    const message = `Invalid 'input': string too long. Expected a string with maximum length ${inputMax}, but got a string with length ${given.length} instead.`;
    return openaiRefusal(message, "input", "string_above_max_length");
  }
  if (!isOldModel(String(model))) return null;
  if (stream === "sse")
    return openaiRefusal("stream_format 'sse' is not supported with this model.", "stream_format", null);
  const { voice: wanted } = body;
  if (typeof wanted === "string" && oldVoices.includes(wanted)) return null;
  return openaiRefusal(`Voice '${String(wanted)}' is not supported with this model.`, "voice", "invalid_value");
}

function speak(call: Call): Answer {
  return answerJson(call, { errors: openaiErrors, check: shape, answer: (body) => spoken(call, body) });
}

function spoken(call: Call, body: JsonObject): Answer {
  const refusal = refuse(body);
  if (refusal !== null) return errorAnswer(refusal);
  const format = soundFormat(body["response_format"]);
  const seconds = spokenSeconds(String(body["input"]), Number(body["speed"] ?? 1));
  const file = encodeSound({ seconds, format, sampleRate, bitRate });
  if (body["stream_format"] === "sse") return { kind: "stream", frames: speechFrames(call, file, seconds) };
  return { kind: "pieces", contentType: mediaTypeOf(format), pieces: soundPieces(file) };
}

function* speechFrames(call: Call, file: Buffer, seconds: number): Generator<Frame> {
  for (const piece of soundPieces(file)) {
    yield namedFrame({ type: "speech.audio.delta", audio: piece.toString("base64") });
  }
  const { input, instructions } = asObject(call.body);
  const said = String(input) + (isGiven(instructions) ? String(instructions) : "");
  const input_tokens = Math.max(1, Math.ceil(said.length / 4));
  const output_tokens = Math.ceil((seconds * tokensPerMinute) / 60);
  const usage = { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
  yield namedFrame({ type: "speech.audio.done", ...(call.faults.noUsage ? {} : { usage }) });
}

/** Speech of OpenAI: raw bytes without usage, or events that end with it. */
export const speechRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/audio/speech", errors: openaiEventErrors, handle: speak },
];
