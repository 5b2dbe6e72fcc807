import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { recordings, requests } from "./recordings.ts";

const files = readdirSync(join(import.meta.dir, "answers")).map((name) => `answers/${name}`);
const licences = new Set(["MIT", "Apache-2.0", "BSD-3-Clause or Apache-2.0"]);
/** Quoted in public documents, without a licence of their own. */
const captures = new Set(["google", "ark", "openrouter"]);

test("every recorded answer is in the index, and every line of it has its file", () => {
  expect(recordings.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
  expect(new Set(recordings.map(({ id }) => id)).size).toBe(recordings.length);
});

test("every recording names its source and its licence", () => {
  const unnamed = [...recordings, ...requests].filter(
    ({ from, path, license }) => path === "" || !(licences.has(license) || captures.has(from)),
  );
  expect(unnamed).toEqual([]);
});
