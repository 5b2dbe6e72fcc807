import { randomBytes } from "node:crypto";
import { expect, test } from "bun:test";
import { newSession, ownsSession, sessionCapabilities } from "./session-id.ts";

const random = (size: number) => randomBytes(size);

test.each([
  [{}, {}],
  [{ elicitation: {} }, { elicitation: { form: {} } }],
  [{ elicitation: { url: {} } }, { elicitation: { url: {} } }],
  [
    { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } },
    { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
  ],
  [{ sampling: {}, tasks: {}, elicitation: "yes" }, { sampling: {} }],
  [{ sampling: { tools: {}, context: {} }, elicitation: { form: {}, url: {} }, roots: {} }, undefined],
])("a session knows the questions that its client answers: %j", (declared, known) => {
  const session = newSession("token", random, declared);
  expect(session).toMatch(/^[\x21-\x7e]+$/);
  expect(ownsSession("token", session)).toBe(true);
  expect(sessionCapabilities(session)).toEqual(known ?? declared);
});

test("nobody else has it, or changes its capabilities", () => {
  const session = newSession("token", random, {});
  const more = newSession("token", random, { sampling: {} });
  const forged = session.slice(0, 20) + more.charAt(20) + session.slice(21);
  expect(more.charAt(20)).not.toBe(session.charAt(20));
  expect(ownsSession("token", forged)).toBe(false);
  expect(ownsSession("other", session)).toBe(false);
  for (const none of ["", session.slice(1), `${session}A`]) expect(ownsSession("token", none)).toBe(false);
  expect(sessionCapabilities("")).toEqual({});
});
