import { expect, test } from "bun:test";
import { join } from "node:path";
import { readHeadline, withHeadline, writeHeadline } from "./headline.ts";

const root = join(import.meta.dir, "../..");
const performance = await Bun.file(join(root, "docs/performance.md")).text();
const readme = await Bun.file(join(root, "README.md")).text();

const other = {
  cpuMicroseconds: "55",
  addedMilliseconds: "0.08",
  timesNginx: "4.5",
  timesLessThanPortkey: "21.0",
  commit: "abcdef1",
  date: "2027-01-02",
};

test("README names the figures of docs/performance.md", () => {
  expect(withHeadline(readme, performance)).toBe(readme);
});

test("written figures are read again, and appear in the summary and in README", () => {
  const written = writeHeadline(performance, other);
  expect(readHeadline(written)).toEqual(other);
  expect(written).toContain("| chat, CPU beside Portkey's | 12 × less | 21.0 × less |");
  const taken = withHeadline(readme, written);
  expect(taken).not.toBe(readme);
  for (const figure of Object.values(other)) expect(taken).toContain(figure);
});

test("a summary that names another figure is refused", () => {
  const changed = performance.replace(/^(\| chat, CPU beside nginx's \| [^|]* \| )[^|]*/m, "$13.0 × ");
  expect(() => readHeadline(changed)).toThrow("differ");
});
