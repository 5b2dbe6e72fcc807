import { describe, expect, test } from "bun:test";
import {
  type ErrorCode,
  errorTable,
  GatewayError,
  isKnownGatewayFault,
  isOutsideFault,
  toGatewayError,
} from "./errors.ts";
import { errorBody, type Surface } from "./surfaces.ts";

const codes = Object.keys(errorTable) as ErrorCode[];

describe("the error table", () => {
  /** The statuses of the contract, and 403, 408, 409, 412, 426, 429, 500 and 503, which it leaves open; 504 is not used. */
  test.each(codes)("%s has a documented status", (code) => {
    const { status } = new GatewayError(code, "x");
    expect([400, 401, 402, 403, 404, 408, 409, 412, 413, 422, 426, 429, 500, 502, 503]).toContain(status);
    expect(status).toBe(errorTable[code].status);
  });

  test.each<[ErrorCode, number, string]>([
    ["missing_token", 401, "invalid_request_error"],
    ["insufficient_credits", 402, "insufficient_credits"],
    ["role_required", 403, "permission_error"],
    ["model_not_routed", 404, "invalid_request_error"],
    ["body_too_large", 413, "invalid_request_error"],
    ["validation_failed", 422, "invalid_request_error"],
    ["idempotency_key_in_use", 409, "invalid_request_error"],
    ["upgrade_required", 426, "invalid_request_error"],
    ["rate_limit_exceeded", 429, "rate_limit_error"],
    ["ledger_busy", 429, "rate_limit_error"],
    ["internal_error", 500, "server_error"],
    ["upstream_unreachable", 502, "upstream_error"],
    ["shutting_down", 503, "server_error"],
  ])("%s is %p, %s", (code, status, type) => {
    const error = new GatewayError(code, "x");
    expect([error.status, error.type]).toEqual([status, type]);
  });
});

test.each<[unknown, isOutside: boolean, isKnown: boolean]>([
  [new GatewayError("validation_failed", "x"), true, false],
  [new GatewayError("upstream_timeout", "x"), true, false],
  [new GatewayError("storage_unavailable", "x"), false, true],
  [new TypeError("x"), false, false],
  [undefined, false, false],
])("%p: caused outside %p, a known failure of the gateway %p", (thrown, isOutside, isKnown) => {
  expect([isOutsideFault(thrown), isKnownGatewayFault(thrown)]).toEqual([isOutside, isKnown]);
});

test("only failures of an upstream after its request lose an answer", () => {
  const lost = codes.filter((code) => new GatewayError(code, "x").losesAnswer);
  const failures = ["upstream_interrupted", "upstream_invalid_answer", "upstream_timeout", "upstream_unreachable"];
  expect(lost.toSorted()).toEqual(failures as ErrorCode[]);
});

describe("anything thrown", () => {
  test("is returned unchanged if it has a row in the table", () => {
    const error = new GatewayError("token_revoked", "gone");
    expect(toGatewayError(error)).toBe(error);
  });

  test.each<[string, unknown]>([
    ["an error", new TypeError("secret sauce")],
    ["a text", "secret sauce"],
    ["an object", { secret: "sauce" }],
    ["nothing", undefined],
  ])("otherwise becomes an internal error that keeps %s for the log only", (_, thrown) => {
    const error = toGatewayError(thrown);
    expect(error.code).toBe("internal_error");
    expect(error.cause).toBe(thrown);
    expect(JSON.stringify(errorBody("openai", error, "req_1"))).not.toContain("sauce");
  });
});

describe("an error's body", () => {
  const error = new GatewayError("validation_failed", "n: too big", {
    param: "n",
    cause: new Error("hidden"),
    retryAfterSeconds: 3,
  });

  test.each<[Surface, object]>([
    [
      "openai",
      { error: { message: "n: too big", type: "invalid_request_error", code: "validation_failed", param: "n" } },
    ],
    [
      "anthropic",
      { type: "error", error: { type: "invalid_request_error", message: "n: too big" }, request_id: "req_1" },
    ],
    ["firecrawl", { success: false, error: "n: too big", code: "BAD_REQUEST" }],
  ])("on the %s surface", (surface, body) => {
    expect(errorBody(surface, error, "req_1")).toEqual(body);
  });

  test("has a null param if no field is at fault", () => {
    const body = errorBody("openai", new GatewayError("missing_token", "no token"), "req_1");
    expect(body).toEqual({
      error: { message: "no token", type: "invalid_request_error", code: "missing_token", param: null },
    });
  });

  test.each<[ErrorCode, string]>([
    ["invalid_token", "authentication_error"],
    ["insufficient_credits", "billing_error"],
    ["role_required", "permission_error"],
    ["model_not_routed", "not_found_error"],
    ["thread_unsupported_request", "invalid_request_error"],
    ["request_interrupted", "invalid_request_error"],
    ["request_timeout", "timeout_error"],
    ["body_too_large", "request_too_large"],
    ["validation_failed", "invalid_request_error"],
    ["upgrade_required", "invalid_request_error"],
    ["ledger_busy", "rate_limit_error"],
    ["internal_error", "api_error"],
    ["upstream_unreachable", "api_error"],
    ["shutting_down", "overloaded_error"],
  ])("%s is Anthropic's %s", (code, type) => {
    expect(errorBody("anthropic", new GatewayError(code, "x"), "req_1")).toHaveProperty("error.type", type);
  });

  test("contains Anthropic's code only for errors that its SDKs recognize by code", () => {
    const details = (code: ErrorCode) => errorBody("anthropic", new GatewayError(code, "x"), "req_1");
    expect(details("thread_unsupported_request")).toHaveProperty("error.details", {
      error_code: "thread_unsupported_request",
    });
    expect(details("validation_failed")).not.toHaveProperty("error.details");
  });
});
