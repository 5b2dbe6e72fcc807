import { expect, test } from "bun:test";
import type { JsonObject } from "../../core/index.ts";
import { ServerQuestions } from "./server-questions.ts";

const ping = { method: "ping", params: {} };

function listening() {
  let now = 0;
  const answers: JsonObject[] = [];
  const answer = (message: JsonObject): void => void answers.push(message);
  const questions = new ServerQuestions({ ask: undefined, answer, clock: () => now });
  return { answers, questions, pass: (milliseconds: number) => void (now += milliseconds) };
}

test("every ping of a server that pings each second has an answer, for hours", () => {
  const { answers, questions, pass } = listening();
  for (let id = 0; id < 10_000; id += 1) {
    questions.onRequest({ id, ...ping });
    pass(1_000);
  }
  expect(answers).toHaveLength(10_000);
  expect(answers.at(-1)).toEqual({ id: 9_999, result: {} });
});

test("a flood of pings is not answered with a flood, and takes no answer from other requests", async () => {
  const { answers, questions, pass } = listening();
  for (let id = 0; id < 10_000; id += 1) questions.onRequest({ id, ...ping });
  expect(answers).toHaveLength(100);
  pass(1_000);
  for (let id = 0; id < 10_000; id += 1) questions.onRequest({ id, ...ping });
  expect(answers).toHaveLength(110);
  questions.onRequest({ id: "a", method: "roots/list", params: {} });
  await Promise.resolve();
  expect(answers.at(-1)).toMatchObject({ id: "a", error: { code: -32_601 } });
});
