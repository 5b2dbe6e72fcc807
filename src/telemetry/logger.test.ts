import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger, type Logger } from "./index.ts";

let folder: string;
let file: string;
let fd: number;

beforeEach(() => {
  jest.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), "tollgate-log-"));
  file = join(folder, "log.jsonl");
  fd = openSync(file, "a");
});
afterEach(() => {
  jest.useRealTimers();
  closeSync(fd);
  rmSync(folder, { recursive: true });
});

const text = (): string => readFileSync(file, "utf8");
const lines = (): Record<string, unknown>[] =>
  text()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

type Level = "info" | "warn" | "error";
const levels: [Level, number][] = [
  ["info", 30],
  ["warn", 40],
  ["error", 50],
];

function write(logger: Logger, level: Level, fields: object, message = "something happened"): void {
  logger[level](fields, message);
  logger.flush();
}

describe.each(levels)("a line of the level %s", (level, number) => {
  test("is JSON with its time, its fields and its message", () => {
    write(createLogger({ level: "info", fd }), level, { request_id: "req_1", status: 200 });
    expect(lines()).toEqual([
      {
        level: number,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        request_id: "req_1",
        status: 200,
        msg: "something happened",
      },
    ]);
  });

  test("shows no secret, should it ever contain one", () => {
    const secrets = { authorization: "Bearer tg_x", api_key: "sk-x", token: "tg_x", secret: "s-x", cookie: "c=x" };
    write(createLogger({ level: "info", fd }), level, { ...secrets, request_id: "req_1" });
    const censored = Object.fromEntries(Object.keys(secrets).map((name) => [name, "[redacted]"]));
    expect(lines()).toMatchObject([{ ...censored, request_id: "req_1" }]);
    expect(text()).not.toContain("tg_x");
  });

  test("is one line, whatever its fields contain", () => {
    write(createLogger({ level: "info", fd }), level, { model: 'a\n{"level":50}\r\u2028' });
    expect(lines()).toMatchObject([{ level: number, model: 'a\n{"level":50}\r\u2028' }]);
  });
});

test.each([
  ["info", ["info", "warn", "error"]],
  ["warn", ["warn", "error"]],
  ["error", ["error"]],
  ["silent", []],
])("at the level %s come %p", (level, expected) => {
  const logger = createLogger({ level, fd });
  for (const [each] of levels) write(logger, each, {}, each);
  expect(lines().map(({ msg }) => msg)).toEqual(expected);
});

test("an error shows facts alone: no address with its query, no row, nothing that an upstream has written", () => {
  const logger = createLogger({ level: "info", fd });
  const members = {
    code: "ECONNREFUSED",
    errno: 1,
    path: "http://a.test/?key=s3cret",
    detail: "Key (s3cret)",
    data: {},
  };
  const fields = { type: "Error", message: "no", stack: expect.stringContaining("Error: no") as string };
  const shown = { ...fields, code: "ECONNREFUSED", errno: 1 };
  write(logger, "error", { err: Object.assign(new Error("no"), members) });
  write(logger, "warn", { err: new AggregateError([Object.assign(new Error("no"), members)], "all") });
  const [first, second] = lines().map(({ err }) => err);
  expect(first).toEqual(shown);
  expect(second).toMatchObject({ type: "AggregateError", message: "all", aggregateErrors: [shown] });
  expect(text()).not.toContain("s3cret");
});

test("an error includes its cause", () => {
  write(createLogger({ level: "info", fd }), "error", { err: new Error("disk full") });
  expect(lines()).toMatchObject([{ err: { type: "Error", message: "disk full" } }]);
});

describe("the log for people", () => {
  const logger = (): Logger => createLogger({ level: "info", format: "text", fd });

  test.each(levels)("has a line of the level %s with its fields", (level) => {
    write(logger(), level, {
      request_id: "req_1",
      status: 200,
      model: "two words",
      files: [{ bytes: 1 }],
      none: undefined,
    });
    const named = level.toUpperCase().padEnd(5);
    expect(text()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z /);
    expect(text().slice("2026-11-27T10:00:00.000Z ".length)).toBe(
      `${named} something happened request_id=req_1 status=200 model="two words" files=[{"bytes":1}]\n`,
    );
  });

  test.each(levels)("is one line of the level %s, whatever its fields contain, and controls no terminal", (level) => {
    const hostile = "a\n2026 ERROR x\r\u001b[31m\u0007\u009b1m\u2028\u007f";
    write(logger(), level, { model: hostile, token: "tg_x", [hostile]: 1 });
    expect(text().split("\n")).toHaveLength(2);
    // oxlint-disable-next-line no-control-regex -- none may be left
    expect(text().slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
    expect(text()).toContain("[redacted]");
    expect(text()).not.toContain("tg_x");
  });

  test("has the stack of an error on lines of their own", () => {
    write(logger(), "error", { err: new TypeError("disk\u001b[2J full") });
    const [first, ...stack] = text().trimEnd().split("\n");
    expect(first).toContain('err={"type":"TypeError"');
    expect(stack.length).toBeGreaterThan(1);
    for (const line of stack) expect(line).toMatch(/^ {4}\S/);
    expect(text()).not.toContain("\u001b");
  });

  test("has the same levels", () => {
    const quiet = createLogger({ level: "warn", format: "text", fd });
    for (const [each] of levels) write(quiet, each, {}, each);
    expect(text().match(/(WARN|ERROR|INFO)/g)).toEqual(["WARN", "ERROR"]);
  });
});

describe("lines are buffered", () => {
  test("and written after a quarter of a second", () => {
    const logger = createLogger({ level: "info", fd });
    logger.info({ n: 1 }, "one");
    logger.warn({ n: 2 }, "two");
    jest.advanceTimersByTime(249);
    expect(text()).toBe("");
    jest.advanceTimersByTime(1);
    expect(lines().map(({ n }) => n)).toEqual([1, 2]);
  });

  test("and written at once if there are many, in order", () => {
    const logger = createLogger({ level: "info", fd });
    for (let n = 0; n < 1_000; n += 1) logger.info({ n }, "x".repeat(100));
    const written = lines();
    expect(written.length).toBeGreaterThan(800);
    logger.flush();
    expect(lines().map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  });

  test("and written once", () => {
    const logger = createLogger({ level: "info", fd });
    logger.info({}, "one");
    logger.flush();
    logger.flush();
    jest.advanceTimersByTime(1_000);
    expect(lines()).toHaveLength(1);
  });
});

test("lines of any length and in any script are unchanged", () => {
  const logger = createLogger({ level: "info", fd });
  const told = ["\u{1f600}".repeat(20_000), "é".repeat(40_000), "\ud800", "", "x".repeat(100_000)];
  for (const model of told) logger.info({ model }, model.slice(0, 3));
  logger.error({ model: told[0] }, "error");
  logger.flush();
  expect(lines().map(({ model }) => model)).toEqual([...told, told[0]]);
});

/** A log into a pipe that is not read until `readUntil` reads and flushes in turn and then closes it. */
function logToPipe() {
  const pipe = join(folder, "pipe");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  const logger = createLogger({ level: "info", fd: writing });
  const readUntil = (isEnough: (read: string) => boolean): string => {
    const room = Buffer.alloc(1_000_000);
    let read = "";
    while (!isEnough(read)) {
      logger.flush();
      read += room.toString("utf8", 0, readSync(reading, room));
    }
    closeSync(writing);
    closeSync(reading);
    return read;
  };
  return { logger, readUntil };
}

test("a slow reader gets all lines, in order", () => {
  const { logger, readUntil } = logToPipe();
  const count = 3_000;
  // More than a pipe can hold.
  for (let n = 0; n < count; n += 1) logger.info({ n, filling: "x".repeat(100) }, "line");
  const read = readUntil((all) => all.split("\n").length > count);
  const numbers = read.split("\n", count).map((line) => (JSON.parse(line) as { n: number }).n);
  expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n));
});

test("for a reader that is too slow, whole lines are dropped, never parts", () => {
  const { logger, readUntil } = logToPipe();
  const count = 40;
  // Fills the pipe up to the middle of a line, and then the waiting bytes.
  for (let n = 0; n < count; n += 1) logger.info({ n, filling: "x".repeat(150_000) }, "line");
  logger.info({ n: count }, "last");
  const read = readUntil((all) => all.includes('"last"'));
  const numbers = read
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { n: number }).n);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(numbers.length).toBeLessThan(count);
});

test("a log without a reader stops nothing", () => {
  const other = openSync(join(folder, "gone.jsonl"), "a");
  const logger = createLogger({ level: "info", fd: other });
  closeSync(other);
  logger.info({}, "lost");
  expect(() => logger.flush()).not.toThrow();
});
