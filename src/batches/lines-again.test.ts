import { expect, test } from "bun:test";
import { MemoryBudget } from "../streaming/index.ts";
import { checkInput } from "./files/check-input.ts";
import { LinesAgain } from "./lines-again.ts";

const lineOf = (position: number, bytes: number) => ({ position, bytes: Buffer.alloc(bytes), failures: 0 });

test("lines of all batches share the memory of the process, however small, until they end", () => {
  const memory = new MemoryBudget(100);
  const [one, other] = [new LinesAgain(memory), new LinesAgain(memory)];
  expect([one.hold(lineOf(0, 60)), one.hold(lineOf(0, 60)), other.hold(lineOf(0, 60))]).toEqual([true, true, false]);
  one.add(lineOf(0, 60), 5);
  expect([one.takeDue(4), one.takeDue(5)?.position, memory.used]).toEqual([undefined, 0, 60]);
  one.release(lineOf(0, 60));
  expect([other.hold(lineOf(0, 60)), other.hold(lineOf(1, 40)), memory.used]).toEqual([true, true, 100]);
  other.add(lineOf(0, 60), 0);
  other.close();
  expect(memory.used).toBe(40);
  // It was still called when its run was over.
  other.add(lineOf(1, 40), 0);
  expect([memory.used, other.isEmpty]).toEqual([0, true]);
});

test("lines that wait are bounded, and the one that could not be called is the next", () => {
  const again = new LinesAgain(new MemoryBudget(1_000));
  for (let position = 0; position < 16; position += 1) {
    expect(again.isFull).toBe(false);
    again.add(lineOf(position, 1), 0);
  }
  expect(again.isFull).toBe(true);
  const first = again.takeDue(0);
  expect([first?.position, again.isFull]).toEqual([0, false]);
  again.addFirst(lineOf(99, 1));
  expect(again.takeDue(0)?.position).toBe(99);
});

const mebibyte = 1024 * 1024;

test.each([
  ["a line beyond the bound", Buffer.alloc(5 * mebibyte, "x"), "line_too_long"],
  ["a long blank line", Buffer.alloc(3 * mebibyte, " "), "invalid_json_line"],
])("%s is a fault with its number", async (_, line, code) => {
  const content = Buffer.concat([Buffer.from(" \t\r\n"), line, Buffer.from("\n")]);
  const part = 256 * 1024;
  const file = { id: "f", parts: Math.ceil(content.length / part) };
  const checked = await checkInput(
    {
      files: { part: async (__, number) => content.subarray(number * part, (number + 1) * part) },
      bounds: { linesMax: 10, lineBytesMax: 4 * mebibyte },
      resolve: () => undefined,
      signal: new AbortController().signal,
    },
    {
      ...file,
      owner: "a",
      purpose: "batch",
      filename: "",
      bytes: content.length,
      createdAt: 0,
      keptUntil: 1,
      isListed: true,
    },
    { kind: "calls", endpoint: "/v1/chat/completions" },
  );
  expect(checked).toMatchObject({ errors: [{ code, line: 2 }] });
});
