import { expect } from "bun:test";

/** The required content of a refusal; `message` is a part of its text. */
export interface Refusal {
  status: number;
  code: string;
  type?: string;
  param?: string | null;
  message?: string | RegExp;
}

/** The common part of an answer, whichever client read it. */
export interface AnswerLike {
  status: number;
  headers: Headers;
}

/** Traces of the inside of the gateway that no caller may see. */
const INSIDE = /\bat .+:\d+|\.ts\b|node_modules|\/src\/|bun:|SQLITE|sqlite|Error:|undefined is not|internal_error/;

export const requestIdShape = /^req_[0-9a-z]{25}$/;

/** Fails if a body reveals internals of the gateway. */
export function expectNoInside(body: string): void {
  expect(body).not.toMatch(INSIDE);
}

/** Checks one of our own errors on the OpenAI surface, completely, and returns its message. */
export function expectRefusal(answer: AnswerLike, body: string, expected: Refusal): string {
  const { status, code, type = "invalid_request_error", param = null, message } = expected;
  // Both together, so that a wrong status shows the message.
  expect([answer.status, body.includes(`"${code}"`), body]).toEqual([status, true, body]);
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  expect(answer.headers.get("x-request-id")).toMatch(requestIdShape);
  const parsed = JSON.parse(body) as { error: { message: string } };
  const { message: said } = parsed.error;
  expect(parsed).toEqual({ error: { message: said, type, code, param } } as never);
  expect(said).toBeString();
  if (message instanceof RegExp) expect(said).toMatch(message);
  else if (message !== undefined) expect(said).toContain(message);
  expectNoInside(body);
  return said;
}
