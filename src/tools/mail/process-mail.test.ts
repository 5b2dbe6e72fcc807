import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../core/index.ts";
import { MemoryBudget, Ticker } from "../../streaming/index.ts";
import { ProcessMail } from "./process-mail.ts";
import type { Letter } from "./store.ts";

const MEBIBYTE = 1024 * 1024;

/** Processes with one table, which takes letters in any order and returns the newest first. */
function createPost() {
  let now = 0;
  const ticks: (() => void)[] = [];
  const letters = new Set<Letter>();
  const readers = new Set<() => void>();
  const warnings: unknown[] = [];
  const remove = (isOver: (letter: Letter) => boolean) => {
    for (const letter of letters) if (isOver(letter)) letters.delete(letter);
    return Promise.resolve();
  };
  const store = {
    add: (letter: Letter) => Promise.resolve(void letters.add(letter)),
    take: (recipient: string, limit: number) => {
      const own = [...letters].filter((letter) => letter.recipient === recipient).slice(0, limit);
      for (const letter of own) letters.delete(letter);
      return Promise.resolve(own.toReversed());
    },
    deleteTo: (recipient: string) => remove((letter) => letter.recipient === recipient),
    deleteBefore: (time: number) => remove(({ writtenAt }) => writtenAt < time),
  };
  const sealing = {
    seal: (text: string) => text,
    open: (sealed: string) => (sealed === "of another key" ? expect.unreachable() : sealed),
  };
  const start = () => {
    const got: JsonObject[] = [];
    const mail = new ProcessMail({
      store,
      watch: (read) => (readers.add(read), () => readers.delete(read)),
      sealing,
      memory: new MemoryBudget(12 * MEBIBYTE),
      ticker: new Ticker(1, () => now, { every: (_ms, run) => (ticks.push(run), () => undefined) }),
      clock: () => now,
      randomBytes: (size) => randomBytes(size),
      logger: {
        info: () => undefined,
        warn: (fields) => void warnings.push(fields),
        error: () => undefined,
        flush: () => undefined,
      },
    });
    mail.on("answer", (body) => void got.push(body));
    return { mail, got };
  };
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    for (const tick of ticks) tick();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const deliver = async (): Promise<void> => {
    for (const read of readers) read();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { start, pass, deliver, letters, warnings };
}

test("letters of one sender are read in their order, however many there are", async () => {
  const { start, deliver, letters } = createPost();
  const [one, two] = [start(), start()];
  for (let number = 0; number < 50; number += 1) await one.mail.send(two.mail.process, "answer", { number });
  await deliver();
  expect(two.got.map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect([letters.size, one.got]).toEqual([0, []]);
});

test("a letter that can't be read, or whose reader fails, keeps no other from its reader", async () => {
  const { start, deliver, letters, warnings } = createPost();
  const { mail, got } = start();
  mail.on("leave", () => expect.unreachable());
  letters.add({ id: "a", recipient: mail.process, sealed: "of another key", writtenAt: 0 });
  await mail.send(mail.process, "leave", {});
  await mail.send(mail.process, "answer", { number: 1 });
  await deliver();
  expect(got).toEqual([{ number: 1 }]);
  expect(warnings).toHaveLength(2);
});

test("letters to a process that has ended are deleted after a minute, also if no other is written", async () => {
  const { start, pass, letters } = createPost();
  const { mail } = start();
  await mail.send("gone", "answer", {});
  await pass(30_000);
  await mail.send("gone", "answer", {});
  expect(letters.size).toBe(2);
  await pass(31_000);
  expect(letters.size).toBe(1);
  await mail.send("gone", "answer", {});
  await pass(62_000);
  expect(letters.size).toBe(0);
});

test("a process that stops leaves no letters to itself", async () => {
  const { start, letters } = createPost();
  const [one, two] = [start(), start()];
  await one.mail.send(two.mail.process, "answer", {});
  await two.mail.send(one.mail.process, "answer", {});
  await two.mail.stop();
  expect([...letters].map(({ recipient }) => recipient)).toEqual([one.mail.process]);
});

test("a letter that is being written counts for the memory of all calls", async () => {
  const { start } = createPost();
  const { mail } = start();
  const text = "x".repeat(3 * MEBIBYTE);
  const [first, second] = await Promise.all([1, 2].map(() => mail.send("other", "step", { text })));
  expect([first, second]).toEqual([true, false]);
  expect(await mail.send("other", "step", { text })).toBe(true);
});
