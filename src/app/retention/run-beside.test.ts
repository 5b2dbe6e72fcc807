import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { SqliteStorage } from "../../storage/index.ts";
import { openStorage } from "../storage.ts";
import { runBeside } from "./run-beside.ts";

let folder: string;
let storage: SqliteStorage;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-run-beside-"));
  storage = await openStorage(`sqlite:${join(folder, "tollgate.db")}`);
});
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const settings = () => ({
  keptMs: 1,
  everyMs: 1,
  folder,
  now: Date.now(),
  signal: new AbortController().signal,
});

const threads = (): number => readdirSync("/proc/self/task").length;

test.skipIf(process.platform !== "linux")("the thread of each step ends, also of a step that fails", async () => {
  const before = threads();
  for (let steps = 0; steps < 4; steps += 1) {
    expect(await runBeside(storage, { step: "seal" }, settings())).toEqual({ next: undefined });
    const tooLate = runBeside(storage, { step: "remove", before: Date.now() }, settings());
    expect(await tooLate.catch(String)).toContain("the books are not sealed");
  }
  // Of eight threads; a few of them belong to the runtime or are ending.
  while (threads() > before + 4) await setImmediate();
});
