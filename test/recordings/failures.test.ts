/** Every recorded error reaches clients of all three dialects: its status's meaning, its message, its code and its field. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/index.ts";
import { translations } from "../../src/dialects/index.ts";
import { readFault } from "../../src/providers/index.ts";
import { knownFailures } from "./known-differences.ts";
import { bytesOf, type Recording, recordings } from "./recordings.ts";
import { object, parse, text } from "./said.ts";

const failed = recordings
  .filter(({ status }) => status !== 200)
  .map((recording) => ({ name: `${recording.id}, ${recording.status} of ${recording.upstream}`, recording }));

/** A code may be a number. */
const wordOf = (value: unknown): string | null =>
  typeof value === "string" || typeof value === "number" ? String(value) : null;

/** The upstream's error: `error` is an object or a message; Mistral has `detail` instead. Google's code is its status in words. */
function failureIn(recording: Recording) {
  const body = bytesOf(recording).toString("utf8");
  const root = parse(body);
  const isSentence = typeof root["error"] === "string";
  const error: JsonObject = isSentence ? { message: root["error"], code: root["code"] } : object(root["error"]);
  const { message = root["detail"], code: own, param = null, type } = error;
  const code = recording.dialect === "gemini" ? error["status"] : own;
  return { body, message: text(message), code: wordOf(code), param, type: wordOf(type) };
}

const messagesTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

describe.each(failed)("$name", ({ recording }) => {
  const { dialect, status } = recording;
  const { body, message, code, param, type } = failureIn(recording);
  const failure = translations[dialect].readFailure(status, body);

  test("is read by the provider's rules", () => {
    const fault = readFault(body);
    expect(fault.message).toBe(knownFailures.includes(recording.id) ? undefined : message);
    for (const word of [code, type]) if (word !== null) expect(fault.codes).toContain(word);
  });

  test.each(["chat", "responses"] as const)("reaches a client of %s", (client) => {
    const { error } = parse(translations[client].writeFailure(failure, "req_1"));
    const told = object(error);
    expect(message).not.toBe("");
    expect(told["message"]).toBe(message);
    expect(told["param"]).toBe(param);
    // Messages has types in the place of codes.
    expect(told["code"]).toBe(dialect === "messages" ? type : code);
  });

  test("reaches a client of messages", () => {
    const written = parse(translations.messages.writeFailure(failure, "req_1"));
    const expected = { type: messagesTypes[status], message };
    expect(written).toEqual({ type: "error", error: expected, request_id: "req_1" });
  });
});
