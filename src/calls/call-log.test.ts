import { expect, test } from "bun:test";
import type { CallFile } from "../core/index.ts";
import { record } from "./__fixtures__/charge-scene.ts";
import { logCall } from "./call-log.ts";

function lineOf(files: readonly CallFile[]): string {
  const lines: object[] = [];
  const note = (fields: object): void => void lines.push(fields);
  const logger = { info: note, warn: note, error: note, flush: () => undefined };
  const call = { requestId: "req_1", tokenId: "t", modelId: "m", credits: "0", error: undefined };
  logCall(logger, { ...call, record: record(), files });
  return JSON.stringify(lines);
}

function fileOf(name: string): CallFile {
  const read = () => Promise.reject(new Error("a file is not read for the log"));
  return { field: name, filename: name, contentType: name, size: 7, milliseconds: 1_000, read };
}

test("a file's name, type, size and length are told", () => {
  expect(lineOf([fileOf("a.mp3")])).toContain(
    '"files":[{"field":"a.mp3","name":"a.mp3","type":"a.mp3","bytes":7,"sound_ms":1000}]',
  );
});

test("a thousand files with long names make no line of megabytes", () => {
  const line = lineOf(Array.from({ length: 990 }, () => fileOf("x".repeat(4_000))));
  expect(line.length).toBeLessThan(20_000);
  expect(line).toContain('"files_left_out":970');
});
