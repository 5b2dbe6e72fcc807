import type { Problem } from "../shared/check.ts";
import { jsonFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

interface Status {
  readonly code: number;
  readonly message: string;
  readonly status: string;
  readonly details?: readonly object[];
}

const messages: { readonly [status: number]: readonly [status: string, message: string] } = {
  400: ["INVALID_ARGUMENT", "Request contains an invalid argument."],
  401: ["UNAUTHENTICATED", "Request had invalid authentication credentials."],
  403: ["PERMISSION_DENIED", "The caller does not have permission."],
  404: ["NOT_FOUND", "Requested entity was not found."],
  429: ["RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."],
  500: ["INTERNAL", "An internal error has occurred. Please retry."],
  503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
  504: ["DEADLINE_EXCEEDED", "The deadline expired before the operation could complete."],
};

const googleRpc = "type.googleapis.com/google.rpc";

function statusOf(code: number): Status {
  const [status, message] =
    messages[code] ?? (code < 500 ? ["INVALID_ARGUMENT", "Bad request."] : ["INTERNAL", "Internal error."]);
  if (code !== 429) return { code, message, status };
  // There is no retry-after header: the delay is in the details.
  return { code, message, status, details: [{ "@type": `${googleRpc}.RetryInfo`, retryDelay: "34s" }] };
}

function invalidArgument(message: string): Status {
  return { code: 400, message, status: "INVALID_ARGUMENT" };
}

function problemStatus(problem: Problem): Status {
  switch (problem.kind) {
    case "not-json":
      return invalidArgument("Invalid JSON payload received. Unexpected end of string.");
    case "missing":
      return invalidArgument(
        problem.field === "model" ? "model is not specified" : `${problem.field} is not specified`,
      );
    case "unknown":
      return invalidArgument(`Invalid JSON payload received. Unknown name "${problem.field}": Cannot find field.`);
    case "wrong-type":
      return invalidArgument(`Invalid value at '${problem.field}', expected ${problem.expected}`);
    case "bad-value":
    case "unsupported":
      return invalidArgument(`Invalid value at '${problem.field}': ${problem.message}`);
  }
}

const keyInvalid: Status = {
  ...invalidArgument("API key not valid. Please pass a valid API key."),
  details: [{ "@type": `${googleRpc}.ErrorInfo`, reason: "API_KEY_INVALID", domain: "googleapis.com" }],
};

function modelNotFound(model: string): Status {
  const id = model.replace(/^models\//, "");
  const advice = "Call ListModels to see the list of available models and their supported methods.";
  return { code: 404, message: `models/${id} is not found for API version v1beta. ${advice}`, status: "NOT_FOUND" };
}

function makeErrors(wrap: (status: Status) => unknown, keyMissing: Status): ProviderErrors {
  const answer = (status: Status): ErrorAnswer => ({ status: status.code, body: wrap(status) });
  return {
    forStatus: (code) => answer(statusOf(code)),
    forProblem: (problem) => answer(problemStatus(problem)),
    keyMissing: () => answer(keyMissing),
    keyInvalid: () => answer(keyInvalid),
    modelNotFound: (model) => answer(modelNotFound(model)),
    routeNotFound: () => answer(statusOf(404)),
    midStream: () => [jsonFrame({ error: statusOf(503) })],
  };
}

/** Errors of Google's own API. An invalid key is a 400. */
export const nativeErrors = makeErrors((status) => ({ error: status }), {
  code: 403,
  message: "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity.",
  status: "PERMISSION_DENIED",
});

/** Errors of the OpenAI-compatible layer: the same inside an array. */
export const compatErrors = makeErrors(
  (status) => [{ error: status }],
  invalidArgument("Missing or invalid Authorization header."),
);
