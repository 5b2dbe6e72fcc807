import { expect, test } from "bun:test";
import { generationColumns, generationValues, toGenerationColumns } from "./generations.ts";

test("the values of a row are in the order of its columns", () => {
  const row = toGenerationColumns({
    parent: "req_parent",
    session: "thread",
    owner: "ada",
    operation: "chat",
    dialect: "chat",
    provider: "openai",
    model: "gpt-5",
    streamed: true,
    status: 200,
    outcome: "complete",
    usage: { input: 3, output: 5, requests: 1 },
    listCredits: 7,
    milliseconds: 11,
    millisecondsToFirstByte: 13,
    startedAt: 17,
    route: "fast",
    upstreamRequestId: "req-of-theirs",
    attempts: [
      { number: 1, provider: "openai", model: "gpt-5", key: "k", status: 200, startedAt: 17, milliseconds: 1 },
    ],
  });
  const values = generationValues(row);
  const named = new Map<string, unknown>(generationColumns.map((name, at) => [name, values[at]]));
  expect(named).toEqual(new Map<string, unknown>(Object.entries(row)));
});
