import { type JsonObject, objectOf } from "../../../core/index.ts";
import type { Failure, FailureKind } from "../../conversation/index.ts";
import { readErrorValue, writeOpenaiError } from "../../openai-failures.ts";

/** The error codes of a failed response; most of the dialect's codes are about images. */
const codes: Readonly<Partial<Record<FailureKind, string>>> = {
  "rate-limit": "rate_limit_exceeded",
  "invalid-request": "invalid_prompt",
  "too-large": "invalid_prompt",
};

/** An error within a stream. */
export interface StreamError {
  /** The members of an `error` event. It is flat; its repetition under `error` makes OpenAI's clients throw. */
  error: JsonObject;
  /** The error of the failed response. */
  code: string;
  message: string;
}

export function writeStreamError(failure: Failure): StreamError {
  const { code, param, type } = objectOf(writeOpenaiError(failure)["error"]) ?? {};
  const { message, kind } = failure;
  const members = { code: code ?? type, message, param };
  return { error: { ...members, error: { type, ...members } }, code: codes[kind] ?? "server_error", message };
}

/** An `error` event, flat or nested, or the error of a failed response. */
export function readStreamError(event: JsonObject, silence: string): Failure {
  const error = objectOf(event["error"]) ?? event;
  const { code, message, param, type } = error;
  const failure = readErrorValue({ error: { code, message, param, type: type === "error" ? undefined : type } });
  return failure.message === "" ? { ...failure, message: silence } : failure;
}
