import { expect, test } from "bun:test";
import { answeredLine, type LineResult } from "./line-result.ts";
import { ResultWriter } from "./result-writer.ts";
import type { BatchStore, ResultWrite, StoredBatch } from "./store.ts";

const batch = {
  id: "batch_1",
  kind: "calls",
  outputFileId: "output",
  errorFileId: "errors",
  usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
} as StoredBatch;

const resultAt = (position: number): LineResult =>
  answeredLine(
    { position, customId: `line-${position}` },
    { status: 200, requestId: "req_1", text: '{"usage":{"prompt_tokens":3,"completion_tokens":2}}' },
  );

/** Its writes are rejected while `fails` is set, but are stored all the same if that is `late`. */
class Results implements Pick<BatchStore, "write" | "ended"> {
  readonly stored: ResultWrite[] = [];
  fails: "early" | "late" | undefined;

  async write(_run: unknown, results: ResultWrite): Promise<boolean> {
    if (this.fails !== "early") this.stored.push(results);
    if (this.fails !== undefined) throw new Error("no storage");
    return true;
  }

  async ended(): Promise<number[]> {
    return this.stored.flatMap(({ parts }) => parts.flatMap(({ lines }) => [...lines]));
  }
}

test.each(["early", "late"] as const)("results whose write fails %s are stored once", async (fails) => {
  const results = new Results();
  const writer = new ResultWriter(results, batch, () => 0);
  writer.add(resultAt(0));
  results.fails = fails;
  const failing = writer.flush();
  // One that ends meanwhile.
  writer.add(resultAt(1));
  expect(await failing.catch((reason: Error) => reason.message)).toBe("no storage");
  results.fails = undefined;
  expect(await writer.flush()).toBe(true);
  expect(await writer.flush()).toBe(true);
  expect(await results.ended()).toEqual([0, 1]);
  expect(results.stored.at(-1)?.usage).toEqual({ input: 6, cached: 0, output: 4, reasoning: 0 });
  expect(results.stored.reduce((sum, { counts }) => sum + counts.succeeded, 0)).toBe(2);
});
