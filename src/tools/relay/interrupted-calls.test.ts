import { randomBytes } from "node:crypto";
import { expect, test } from "bun:test";
import { CallAborter, GatewayError, type JsonObject } from "../../core/index.ts";
import { MemoryBudget, Ticker } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { ProcessMail } from "../mail/process-mail.ts";
import type { Letter } from "../mail/store.ts";
import { type Asker, InterruptedCalls, type CallStep } from "./interrupted-calls.ts";
import { RequestStates } from "./request-states.ts";

/** Processes with one table of letters and one clock. */
function createProcesses({ isAlone = false } = {}) {
  let now = 0;
  const ticks: (() => void)[] = [];
  const letters = new Set<Letter>();
  const readers = new Set<() => void>();
  /** Letters are written once this is. */
  const writing = { isOpen: Promise.resolve() };
  const store = {
    add: async (letter: Letter) => {
      await writing.isOpen;
      letters.add(letter);
      for (const read of readers) read();
    },
    take: (recipient: string, limit: number) => {
      const own = [...letters].filter((letter) => letter.recipient === recipient).slice(0, limit);
      for (const letter of own) letters.delete(letter);
      return Promise.resolve(own);
    },
    deleteTo: (recipient: string) => {
      for (const letter of letters) if (letter.recipient === recipient) letters.delete(letter);
      return Promise.resolve();
    },
    deleteBefore: (time: number) => {
      for (const letter of letters) if (letter.writtenAt < time) letters.delete(letter);
      return Promise.resolve();
    },
  };
  const random = (size: number) => randomBytes(size);
  const key = { find: () => "the key", findOrMake: () => "the key" };
  const logger = { warn: (fields: unknown) => expect.unreachable(JSON.stringify(fields)) } as unknown as Logger;
  const start = () => {
    const ticker = new Ticker(1, () => now, { every: (_ms, run) => (ticks.push(run), () => undefined) });
    const mail = new ProcessMail({
      store: isAlone ? undefined : store,
      watch: (read) => (readers.add(read), () => readers.delete(read)),
      sealing: new RequestStates({ key, randomBytes: random }),
      memory: new MemoryBudget(64 * 1024 * 1024),
      ticker,
      clock: () => now,
      randomBytes: random,
      logger,
    });
    return { mail, calls: new InterruptedCalls({ ticker, randomBytes: random, clock: () => now, mail }) };
  };
  const pass = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 1_000) {
      now += 1_000;
      for (const tick of ticks) tick();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { start, pass, letters, writing };
}

const owner = { user: "ann", key: "ann's call" };
const staying = () => ({ signal: new AbortController().signal, onProgress: undefined, log: undefined });
const question = { method: "roots/list", params: {} };

/** Asks once, and returns the answer. */
const asking = async ({ ask, signal }: { ask: Asker; signal: AbortSignal }) => {
  const over = new CallAborter();
  signal.addEventListener("abort", () => over.abort(signal.reason));
  const result = await ask({ ...question, signal: over });
  return { result };
};

/** The reason of a rejection; the clock may have to go on first. */
const reasonOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((reason: unknown) => reason);

const callOf = (step: CallStep) => ("call" in step ? step.call : expect.unreachable("it has ended"));

test("a question that nobody answers ends the call after ten minutes", async () => {
  const { start, pass } = createProcesses();
  const { calls } = start();
  let reason: unknown;
  const step = await calls.begin(
    owner,
    (running) => {
      running.signal.addEventListener("abort", () => {
        reason = running.signal.reason;
      });
      return asking(running);
    },
    staying(),
  );
  expect(step).toMatchObject({ questions: { q1: question } });
  await pass(9 * 60_000);
  expect(await calls.resume(callOf(step), owner, {}, staying())).toMatchObject({ questions: { q1: question } });
  await pass(9 * 60_000);
  expect(reason).toBeUndefined();
  await pass(2 * 60_000);
  expect(reason).toMatchObject({ code: "upstream_timeout" });
  expect(calls.resume(callOf(step), owner, { q1: {} }, staying())).rejects.toMatchObject({ code: -32_602 });
});

test("a user has a number of calls that wait, and others have theirs", async () => {
  const { start } = createProcesses();
  const { calls } = start();
  const first = await Promise.all(Array.from({ length: 20 }, () => calls.begin(owner, asking, staying())));
  expect(calls.begin(owner, asking, staying())).rejects.toMatchObject({
    message: expect.stringContaining("Too many") as string,
  });
  const other = { user: "bob", key: "bob's call" };
  expect(await calls.begin(other, asking, staying())).toHaveProperty("questions");
  const [step] = first;
  if (step === undefined) throw new Error("no call");
  const end = await calls.resume(callOf(step), owner, { q1: { roots: [] } }, staying());
  expect(end).toEqual({ end: { result: { roots: [] } } });
  expect(await calls.begin(owner, asking, staying())).toHaveProperty("questions");
});

test("another process goes on with a call, however long that takes, and has its errors", async () => {
  const { start, pass, letters } = createProcesses();
  const [one, two] = [start(), start()];
  const going = Promise.withResolvers<{ result: JsonObject }>();
  const run = async (running: { ask: Asker; signal: AbortSignal }) => {
    await asking(running);
    return going.promise;
  };
  const step = await one.calls.begin(owner, run, staying());
  const ended = two.calls.resume(callOf(step), owner, { q1: { roots: [] } }, staying());
  await pass(120_000);
  going.resolve({ result: { content: [] } });
  expect(await ended).toMatchObject({ end: { result: { content: [] } } });
  const failing = await one.calls.begin(
    owner,
    async (running) => {
      await asking(running);
      throw new GatewayError("insufficient_credits", "no credits");
    },
    staying(),
  );
  const failed = reasonOf(two.calls.resume(callOf(failing), owner, { q1: {} }, staying()));
  await pass(5_000);
  expect(await failed).toMatchObject({ code: "insufficient_credits", message: "no credits" });
  expect(letters.size).toBe(0);
});

test("a call of another owner, and one of a process that has ended, are not there", async () => {
  const { start, pass } = createProcesses();
  const [one, two] = [start(), start()];
  const step = await one.calls.begin(owner, asking, staying());
  const eve = { user: "eve", key: "eve's call" };
  const stranger = reasonOf(two.calls.resume(callOf(step), eve, { q1: {} }, staying()));
  const named = { ...callOf(step), process: "gone" };
  const gone = reasonOf(two.calls.resume(named, owner, { q1: {} }, staying()));
  await pass(20_000);
  expect(await stranger).toMatchObject({ code: -32_602 });
  expect(await gone).toMatchObject({ code: -32_602 });
  expect(await one.calls.resume(callOf(step), owner, {}, staying())).toHaveProperty("questions");
});

test("a call whose process ends while another one waits is lost", async () => {
  const { start, pass } = createProcesses();
  const [one, two] = [start(), start()];
  const step = await one.calls.begin(
    owner,
    async (running) => {
      await asking(running);
      return new Promise<never>(() => undefined);
    },
    staying(),
  );
  const lost = reasonOf(two.calls.resume(callOf(step), owner, { q1: {} }, staying()));
  await pass(6_000);
  one.mail.send = () => Promise.resolve(true);
  await pass(20_000);
  expect(await lost).toMatchObject({ code: "upstream_interrupted" });
});

test("answers that are too long, or come too late, are not passed on", async () => {
  const { start, pass, letters } = createProcesses();
  const [one, two] = [start(), start()];
  const step = await one.calls.begin(owner, asking, staying());
  const long = { q1: { roots: "x".repeat(1024 * 1024) } };
  for (const { calls } of [one, two])
    expect(await reasonOf(calls.resume(callOf(step), owner, long, staying()))).toMatchObject({ code: -32_602 });
  await pass(11 * 60_000 + 1_000);
  expect(await reasonOf(two.calls.resume(callOf(step), owner, {}, staying()))).toMatchObject({ code: -32_602 });
  expect(letters.size).toBe(0);
});

test("a user has a number of clients that wait for other processes", async () => {
  const { start } = createProcesses();
  const [one, two] = [start(), start()];
  const waiting = async (running: { ask: Asker; signal: AbortSignal }) => {
    await asking(running);
    return new Promise<never>(() => undefined);
  };
  const step = await one.calls.begin(owner, waiting, staying());
  for (let count = 0; count < 20; count += 1) void two.calls.resume(callOf(step), owner, { q1: {} }, staying());
  const message = expect.stringContaining("Too many") as string;
  expect(await reasonOf(two.calls.resume(callOf(step), owner, {}, staying()))).toMatchObject({ message });
  const bob = { user: "bob", key: "bob's call" };
  const other = await one.calls.begin(bob, asking, staying());
  expect(await two.calls.resume(callOf(other), bob, { q1: { roots: [] } }, staying())).toHaveProperty("end");
});

test("without other processes, a call from before a restart is not there, at once", async () => {
  const { start } = createProcesses({ isAlone: true });
  const [before, after] = [start(), start()];
  const step = await before.calls.begin(owner, asking, staying());
  expect(await reasonOf(after.calls.resume(callOf(step), owner, {}, staying()))).toMatchObject({ code: -32_602 });
});

test("a client that leaves while its answers are being written has left, and harms nobody", async () => {
  const { start, pass, writing } = createProcesses();
  const [one, two] = [start(), start()];
  const step = await one.calls.begin(owner, asking, staying());
  const { promise, resolve } = Promise.withResolvers<void>();
  writing.isOpen = promise;
  const client = new AbortController();
  const resumed = reasonOf(two.calls.resume(callOf(step), owner, {}, { ...staying(), signal: client.signal }));
  const late = reasonOf(two.calls.resume(callOf(step), owner, {}, staying()));
  client.abort(new Error("the client left"));
  // A rejection that nobody handles by now fails the test.
  await pass(20_000);
  resolve();
  expect(await resumed).toMatchObject({ message: "the client left" });
  expect(await late).toMatchObject({ code: -32_602 });
  const gone = { ...staying(), signal: AbortSignal.abort(new Error("it was gone")) };
  expect(await reasonOf(two.calls.resume(callOf(step), owner, {}, gone))).toMatchObject({ message: "it was gone" });
});

test("a server that stops ends the calls that wait", async () => {
  const { start } = createProcesses();
  const { calls } = start();
  let reason: unknown;
  await calls.begin(
    owner,
    (running) => {
      running.signal.addEventListener("abort", () => {
        reason = running.signal.reason;
      });
      return asking(running);
    },
    staying(),
  );
  calls.close();
  expect(reason).toMatchObject({ code: "shutting_down" });
});

test("progress and log messages reach the client at another process, few letters at a time", async () => {
  const { start, pass, letters } = createProcesses();
  const [here, there] = [start(), start()];
  const finish = Promise.withResolvers<undefined>();
  const reporting = { report: (_progress: number): void => undefined, log: (_level: string): void => undefined };
  const step = await here.calls.begin(
    owner,
    async ({ ask, signal, onProgress, log }) => {
      const answered = await asking({ ask, signal });
      reporting.report = (progress) => onProgress?.({ progress });
      reporting.log = (level) => log?.send({ level, data: "x".repeat(level === "error" ? 100_000 : 10) });
      await finish.promise;
      for (const progress of [998, 999]) reporting.report(progress);
      return answered;
    },
    { ...staying(), onProgress: () => undefined, log: { level: "warning", send: () => undefined } },
  );
  const got: unknown[] = [];
  const attending = {
    ...staying(),
    onProgress: ({ progress }: JsonObject) => void got.push(progress),
    log: { level: "warning" as const, send: ({ level }: JsonObject) => void got.push(level) },
  };
  const resumed = there.calls.resume(callOf(step), owner, { q1: { roots: [] } }, attending);
  await pass(1_000);
  expect(got).toEqual([]);
  for (let progress = 1; progress < 50; progress += 1) reporting.report(progress);
  // Lower levels are not wanted, and a huge message is dropped.
  for (const level of ["info", "error", "warning", "critical"]) reporting.log(level);
  expect(letters.size).toBe(0);
  await pass(2_000);
  expect(got).toEqual(["warning", "critical", 49]);
  for (let count = 0; count < 150; count += 1) reporting.log("alert");
  finish.resolve(undefined);
  await pass(2_000);
  expect(await resumed).toEqual({ end: { result: { roots: [] } } });
  expect(got.slice(3)).toEqual([...Array.from({ length: 100 }, () => "alert"), 999]);
});

test("a client without interest in reports gets none from another process", async () => {
  const { start, pass } = createProcesses();
  const [here, there] = [start(), start()];
  const step = await here.calls.begin(
    owner,
    async ({ ask, signal, onProgress, log }) => {
      const answered = await asking({ ask, signal });
      onProgress?.({ progress: 1 });
      log?.send({ level: "error", data: "x" });
      return answered;
    },
    { ...staying(), onProgress: () => undefined, log: { level: undefined, send: () => undefined } },
  );
  const resumed = there.calls.resume(callOf(step), owner, { q1: { roots: [] } }, staying());
  await pass(2_000);
  expect(await resumed).toEqual({ end: { result: { roots: [] } } });
});
