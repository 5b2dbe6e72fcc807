import { expect, test } from "bun:test";
import type { CallRecord } from "../operations.ts";
import { generationColumns, generationValues, toGenerationColumns } from "./generations.ts";

const plain: CallRecord = {
  owner: "ada",
  operation: "chat",
  dialect: undefined,
  provider: "openai",
  model: "gpt-5",
  streamed: true,
  status: 200,
  outcome: "complete",
  usage: { input: 3, output: 5, requests: 1 },
  milliseconds: 11,
  millisecondsToFirstByte: undefined,
  startedAt: 17,
};

const whole: CallRecord = {
  ...plain,
  dialect: "chat",
  listCredits: 7,
  millisecondsToFirstByte: 13,
  terms: { serviceTier: "flex" },
  maxOutputTokens: 19,
  estimated: ["output"],
  parent: "req_parent",
  session: "thread",
  route: "fast",
  upstreamRequestId: "req-of-theirs",
  attempts: [{ number: 1, provider: "openai", model: "gpt-5", key: "k", status: 200, startedAt: 17, milliseconds: 1 }],
  clientRequestId: "theirs",
  endUser: "eve",
  tags: { team: "search" },
  errorCode: "storage_unavailable",
};

test.each([plain, whole])("the values of a record are those of its row, in the order of the columns", (record) => {
  const row = toGenerationColumns(record);
  const values = generationValues(record);
  const named = new Map<string, unknown>(generationColumns.map((name, at) => [name, values[at]]));
  expect(named).toEqual(new Map<string, unknown>(Object.entries(row)));
  expect(values).toHaveLength(generationColumns.length);
});
