import type { Problem } from "../shared/check.ts";
import type { ErrorAnswer, ProviderErrors } from "../shared/types.ts";

/** The error of a scrape with one of Firecrawl's codes, or undefined for a code that it has not. */
export function scrapeError(code: string): ErrorAnswer | undefined {
  const [status, error] = scrapeCodes[code] ?? [];
  if (status === undefined || error === undefined) return undefined;
  return { status, body: { success: false, code, error } };
}

const scrapeCodes: { readonly [code: string]: readonly [status: number, error: string] } = {
  SCRAPE_TIMEOUT: [408, "The scrape operation timed out before completing."],
  SCRAPE_ALL_ENGINES_FAILED: [500, "All scraping engines failed for this URL."],
  SCRAPE_SSL_ERROR: [500, "An SSL error occurred while scraping the URL."],
  SCRAPE_SITE_ERROR: [500, "The URL failed to load in the browser."],
  SCRAPE_DNS_RESOLUTION_ERROR: [500, "DNS resolution failed for the hostname."],
  SCRAPE_ACTION_ERROR: [500, "An action of the request failed."],
  SCRAPE_UNSUPPORTED_FILE_ERROR: [500, "The URL returned a file that is not supported."],
  SCRAPE_NO_CACHED_DATA: [404, "No cached data is available for this URL."],
};

function forStatus(status: number): ErrorAnswer {
  if (status === 402)
    return { status, body: { error: "Payment Required: Insufficient credits to perform this request." } };
  if (status === 429) return { status, body: { error: "Rate limit exceeded. Please retry after the given time." } };
  if (status === 408) return { status, body: scrapeError("SCRAPE_TIMEOUT")?.body };
  if (status === 401) return { status, body: { success: false, error: "Unauthorized: Invalid token" } };
  if (status === 404) return { status, body: { error: "Job not found" } };
  if (status >= 500) {
    return {
      status,
      body: { success: false, code: "UNKNOWN_ERROR", error: "An unexpected error occurred on the server." },
    };
  }
  return { status, body: { success: false, error: "The request was refused." } };
}

function badRequest(issue: { readonly code: string; readonly message: string; readonly path: readonly string[] }) {
  return { status: 400, body: { success: false, code: "BAD_REQUEST", error: "Bad Request", details: [issue] } };
}

function forProblem(problem: Problem): ErrorAnswer {
  if (problem.kind === "not-json") {
    return {
      status: 400,
      body: { success: false, code: "BAD_REQUEST_INVALID_JSON", error: "Bad request, malformed JSON" },
    };
  }
  const path = problem.field.split(/[.[\]]+/).filter(Boolean);
  switch (problem.kind) {
    case "missing":
      return badRequest({ code: "invalid_type", message: "Required", path });
    case "unknown":
      return badRequest({ code: "unrecognized_keys", message: "Unrecognized key in body", path });
    case "wrong-type":
      return badRequest({ code: "invalid_type", message: `Expected ${problem.expected}`, path });
    case "bad-value":
    case "unsupported":
      return badRequest({ code: "custom", message: problem.message, path });
  }
}

/** Firecrawl's errors: `error` is a text, and `success` and `code` are not always there. */
export const firecrawlErrors: ProviderErrors = {
  forStatus,
  forProblem,
  keyMissing: () => ({ status: 401, body: { success: false, error: "Unauthorized: Token missing" } }),
  keyInvalid: () => forStatus(401),
  modelNotFound: () => forStatus(404),
  routeNotFound: (method, path) => ({ status: 404, body: { success: false, error: `Cannot ${method} ${path}` } }),
  midStream: () => [],
};
