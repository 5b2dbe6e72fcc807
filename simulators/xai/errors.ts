import type { Problem } from "../shared/check.ts";
import { asObject } from "../shared/json.ts";
import { jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

const invalidArgument = "Client specified an invalid argument";

/** The REST shape: `error` is a string and `code` a sentence. */
function refusal(status: number, code: string, error: string): ErrorAnswer {
  return { status, body: { code, error } };
}

const byStatus: { readonly [status: number]: readonly [code: string, error: string] } = {
  400: [invalidArgument, "The request was refused."],
  401: ["Unauthenticated", "No valid authentication was provided with the request."],
  403: [
    "The caller does not have permission to execute the specified operation",
    "Your team or API key has no permission for this request.",
  ],
  404: ["Some requested entity was not found", "The requested resource does not exist."],
  415: ["Unsupported media type", "Expected request with `Content-Type: application/json`"],
  422: [invalidArgument, "Failed to deserialize the JSON body into the target type."],
  429: ["Some resource has been exhausted", "Too many requests for this team and model. Please slow down."],
  503: ["The service is currently unavailable", "The model is at capacity. Please try again later."],
};

function forStatus(status: number): ErrorAnswer {
  const [code, error] =
    byStatus[status] ?? (status < 500 ? [invalidArgument, "Bad request."] : ["Internal error", "Internal error."]);
  return refusal(status, code, error);
}

function undeserializable(detail: string): ErrorAnswer {
  return refusal(422, invalidArgument, `Failed to deserialize the JSON body into the target type: ${detail}`);
}

function forProblem(problem: Problem): ErrorAnswer {
  switch (problem.kind) {
    case "not-json":
      return refusal(400, invalidArgument, "Failed to parse the request body as JSON.");
    case "missing":
      return undeserializable(`missing field \`${problem.field}\``);
    case "unknown":
      return undeserializable(`unknown field \`${problem.field}\``);
    case "wrong-type":
      return undeserializable(`${problem.field}: expected ${problem.expected}`);
    case "bad-value":
      return refusal(400, invalidArgument, `Invalid value for ${problem.field}: ${problem.message}.`);
    case "unsupported":
      return refusal(400, invalidArgument, problem.message);
  }
}

/** The error for a missing object, in its own format. */
export function xaiNotFound(message: string): ErrorAnswer {
  return refusal(404, "Some requested entity was not found", message);
}

/** xAI's errors: a wrong key is a 400, only a missing header a 401. */
export const xaiErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => forStatus(401),
  keyInvalid: () =>
    refusal(400, invalidArgument, "Incorrect API key provided. You can obtain an API key from https://console.x.ai."),
  modelNotFound: (model) => xaiNotFound(`The model ${model} does not exist or your team has no access to it.`),
  routeNotFound: () => forStatus(404),
  midStream: () => [jsonFrame(forStatus(503).body)],
};

/** The voice endpoints return only the message. */
function sentenceOnly({ status, body }: ErrorAnswer): ErrorAnswer {
  return { status, body: { error: asObject(body)["error"] } };
}

/** Errors of the voice endpoints: nothing but a sentence. */
export const voiceErrors: ProviderErrors = {
  ...xaiErrors,
  forStatus: (status) => sentenceOnly(forStatus(status)),
  forProblem: (problem) => sentenceOnly(forProblem(problem)),
  keyMissing: () => sentenceOnly(xaiErrors.keyMissing()),
  keyInvalid: () => sentenceOnly(xaiErrors.keyInvalid()),
};
