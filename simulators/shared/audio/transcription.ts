import type { Problem } from "../check.ts";
import { type FieldKind, formBody, isFile } from "../form.ts";
import { stringOr, type JsonObject } from "../json.ts";
import type { FormPart } from "../multipart.ts";
import type { Shape } from "../shape.ts";
import {
  type Answer,
  type Call,
  errorAnswer,
  type ErrorAnswer,
  isMissingModel,
  type ProviderErrors,
} from "../types.ts";
import { readSeconds } from "./sound.ts";
import { hear, type Transcript } from "./transcript.ts";

/** One request about an audio file on its way to an answer. */
export interface AudioTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly transcript: Transcript;
}

/** A provider's way of taking audio files in a form. */
export interface AudioWire {
  readonly kinds: { readonly [name: string]: FieldKind };
  readonly shape: Shape;
  readonly errors: ProviderErrors;
  /** The answer to a form that cannot be read. */
  formRefusal(): ErrorAnswer;
  /** Refusals beyond the shape of single fields. */
  refuse?(body: JsonObject, model: string): ErrorAnswer | null;
  /** If the file is optional, the seconds of its substitute; null if it is required. */
  secondsElsewhere?(body: JsonObject): number | null;
  /** The answer to a file that cannot be read. */
  unreadable(file: FormPart): ErrorAnswer;
  /** Refusals that depend on the file. */
  refuseFile?(file: FormPart, seconds: number, body: JsonObject): ErrorAnswer | null;
  answer(talk: AudioTalk): Answer;
}

type Measured = { readonly seconds: number } | { readonly refused: ErrorAnswer };

/** Answers a form that holds an audio file, by the length of the file. */
export function answerAudio(call: Call, wire: AudioWire): Answer {
  if (call.form === null) return errorAnswer(wire.formRefusal());
  const body = formBody(call.form, wire.kinds);
  const problem = wire.shape(body, "");
  if (problem !== null) return errorAnswer(wire.errors.forProblem(problem));
  const model = String(body["model"]);
  if (isMissingModel(model)) return errorAnswer(wire.errors.modelNotFound(model));
  const refusal = wire.refuse?.(body, model) ?? null;
  if (refusal !== null) return errorAnswer(refusal);
  const measured = measure(body, wire);
  if ("refused" in measured) return errorAnswer(measured.refused);
  return wire.answer({ call, body, model, transcript: hear(measured.seconds, stringOr(body["prompt"], "")) });
}

function measure(body: JsonObject, wire: AudioWire): Measured {
  const { file } = body;
  if (!isFile(file)) {
    const elsewhere = wire.secondsElsewhere?.(body) ?? null;
    const missing: Problem = { kind: "missing", field: "file" };
    return elsewhere === null ? { refused: wire.errors.forProblem(missing) } : { seconds: elsewhere };
  }
  const seconds = readSeconds(file.bytes);
  if (seconds === null) return { refused: wire.unreadable(file) };
  const refused = wire.refuseFile?.(file, seconds, body) ?? null;
  return refused === null ? { seconds } : { refused };
}

/** A plain text as an answer. */
export function textAnswer(text: string): Answer {
  return { kind: "bytes", contentType: "text/plain; charset=utf-8", bytes: Buffer.from(text) };
}
