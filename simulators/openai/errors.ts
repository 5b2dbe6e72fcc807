import type { Problem } from "../shared/check.ts";
import { asObject } from "../shared/json.ts";
import { type Frame, jsonFrame, namedFrame } from "../shared/sse.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

const invalidRequest = "invalid_request_error";

function error(status: number, body: ErrorBody): ErrorAnswer {
  return { status, body: { error: body } };
}

/** An error of type `invalid_request_error`. */
export function openaiRefusal(message: string, param: string | null, code: string | null, status = 400): ErrorAnswer {
  return error(status, { message, type: invalidRequest, param, code });
}

const byStatus: { readonly [status: number]: ErrorBody } = {
  401: {
    message: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.",
    type: invalidRequest,
    param: null,
    code: "invalid_api_key",
  },
  403: {
    message: "Country, region, or territory not supported",
    type: "request_forbidden",
    param: null,
    code: "unsupported_country_region_territory",
  },
  404: { message: "The requested resource does not exist.", type: invalidRequest, param: null, code: null },
  429: {
    message: "Rate limit reached for requests. Please try again later.",
    type: "requests",
    param: null,
    code: "rate_limit_exceeded",
  },
  503: {
    message: "The server is overloaded. Please slow down and try again.",
    type: "service_unavailable_error",
    param: null,
    code: "slow_down",
  },
};

function forStatus(status: number): ErrorAnswer {
  const known = byStatus[status];
  if (known !== undefined) return error(status, known);
  if (status < 500) return openaiRefusal("The request could not be processed.", null, null, status);
  const message = "The server had an error while processing your request. Sorry about that!";
  return error(status, { message, type: "server_error", param: null, code: null });
}

function forProblem(problem: Problem): ErrorAnswer {
  switch (problem.kind) {
    case "not-json":
      return openaiRefusal("We could not parse the JSON body of your request.", null, null);
    case "missing":
      if (problem.field === "model") return openaiRefusal("you must provide a model parameter", null, null);
      return openaiRefusal(
        `Missing required parameter: '${problem.field}'.`,
        problem.field,
        "missing_required_parameter",
      );
    case "unknown":
      return openaiRefusal(`Unknown parameter: '${problem.field}'.`, problem.field, "unknown_parameter");
    case "wrong-type":
      return openaiRefusal(
        `Invalid type for '${problem.field}': expected ${problem.expected}.`,
        problem.field,
        "invalid_type",
      );
    case "bad-value":
      return openaiRefusal(`Invalid value for '${problem.field}': ${problem.message}.`, problem.field, "invalid_value");
    case "unsupported":
      return openaiRefusal(`Unsupported parameter: ${problem.message}`, problem.field, "unsupported_parameter");
  }
}

function midStream(): readonly Frame[] {
  const message = "The server had an error while processing your request. Sorry about that!";
  return [jsonFrame({ error: { message, type: "server_error", param: null, code: null } })];
}

/** The error for a form that cannot be read. */
export function openaiFormRefusal(): ErrorAnswer {
  return openaiRefusal("Could not parse multipart form", null, null);
}

/** OpenAI's errors: all four members are always there; a refused key is of type `invalid_request_error`. */
export const openaiErrors: ProviderErrors = {
  forStatus,
  forProblem,
  midStream,
  keyMissing: () =>
    openaiRefusal(
      "You didn't provide an API key. Send it in an Authorization header using Bearer auth (Authorization: Bearer YOUR_KEY).",
      null,
      null,
      401,
    ),
  keyInvalid: () => forStatus(401),
  modelNotFound: (model) =>
    openaiRefusal(`The model '${model}' does not exist or you do not have access to it.`, null, "model_not_found", 404),
  routeNotFound: (method, path) => openaiRefusal(`Invalid URL (${method} ${path})`, null, null, 404),
};

/** The same for images and audio, whose streams have named events. */
export const openaiEventErrors: ProviderErrors = {
  ...openaiErrors,
  midStream: () => [namedFrame({ type: "error", ...asObject(forStatus(500).body) })],
};
