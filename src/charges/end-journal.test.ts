import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallRecord, Release, Settle } from "../ledger/index.ts";
import { EndJournal } from "./end-journal.ts";

let directory: string;
let journal: EndJournal;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
  journal = new EndJournal(directory);
});
afterEach(() => {
  journal.close();
  rmSync(directory, { recursive: true, force: true });
});

const record: CallRecord = {
  owner: "Ω'\\",
  operation: "chat",
  dialect: undefined,
  provider: "up",
  model: "m",
  streamed: true,
  status: 200,
  outcome: "complete",
  usage: { input: 3 },
  milliseconds: 1.5,
  millisecondsToFirstByte: undefined,
  startedAt: 1,
};
const answer = { status: 200, headers: [["a", "b"]] as [string, string][], body: Buffer.from([0, 255, 10]) };
const settle: Settle = { kind: "settle", id: "s", amount: 2n ** 62n, at: 5, tokens: 7, record, answer };
const release: Release = { kind: "release", id: "r", at: 6 };

const files = (): string[] => readdirSync(directory).filter((name) => name.endsWith(".journal"));

/** The journal of a process that has just started, after the one before has been killed. */
function afterKill(): EndJournal {
  journal.close();
  journal = new EndJournal(directory);
  return journal;
}

test("without an outage there is no file, nor a directory", async () => {
  const other = new EndJournal(join(directory, "sub"));
  expect(other.takeOver()).toEqual([]);
  other.close();
  expect(readdirSync(directory)).toEqual([]);
});

test("ends come back as they were, in their order", async () => {
  await Promise.all([journal.write(settle), journal.write(release)]);
  await journal.write({ ...settle, id: "s2", answer: undefined } as never);
  expect([journal.has("s"), journal.has("other")]).toEqual([true, false]);
  const [first, second, third] = afterKill().takeOver();
  expect(first).toEqual(settle);
  expect(second).toEqual(release);
  expect(third).toMatchObject({ kind: "settle", id: "s2", amount: 2n ** 62n });
});

describe("an end that the store has accepted", () => {
  test("is forgotten, and with the last one its file is", async () => {
    await Promise.all([journal.write(settle), journal.write(release)]);
    expect(files()).toHaveLength(1);
    await journal.remove("s");
    await journal.remove("unknown");
    expect(files()).toHaveLength(1);
    await journal.remove("r");
    expect(readdirSync(directory)).toEqual([]);
    expect(afterKill().takeOver()).toEqual([]);
  });

  test("is forgotten by the process that took it over", async () => {
    await Promise.all([journal.write(settle), journal.write(release)]);
    expect(afterKill().takeOver()).toHaveLength(2);
    await journal.remove("s");
    expect(afterKill().takeOver()).toEqual([release]);
    await journal.remove("r");
    expect(readdirSync(directory)).toEqual([]);
  });
});

test("the file of a running process is not taken over, by this process or another", async () => {
  await journal.write(settle);
  expect(new EndJournal(directory).takeOver()).toEqual([]);
  const script = `import { EndJournal } from ${JSON.stringify(join(import.meta.dir, "end-journal.ts"))};
    console.log(new EndJournal(${JSON.stringify(directory)}).takeOver().length);`;
  const count = (): string => Bun.spawnSync([process.execPath, "-e", script]).stdout.toString().trim();
  expect(count()).toBe("0");
  journal.close();
  expect(count()).toBe("1");
});

test("two starts at once take each end over once", async () => {
  await Promise.all([journal.write(settle), journal.write(release)]);
  journal.close();
  const [one, other] = [new EndJournal(directory), new EndJournal(directory)];
  expect([one.takeOver().length, other.takeOver().length]).toEqual([2, 0]);
  one.close();
  other.close();
});

test("a write that the disk refuses is rejected, and a later one may succeed", async () => {
  const place = join(directory, "journal");
  writeFileSync(place, "a file in place of the directory");
  const blocked = new EndJournal(place);
  const reason: unknown = await blocked.write(settle).catch((thrown: unknown) => thrown);
  expect(reason).toBeInstanceOf(Error);
  expect(blocked.has("s")).toBe(false);
  rmSync(place);
  await blocked.write(settle);
  expect(blocked.has("s")).toBe(true);
  blocked.close();
});
