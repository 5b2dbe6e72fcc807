import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endOfEvents, endsWithEvent, eventAround, eventsOf, eventsWith } from "./events.ts";

describe("the event around a byte, and the events with a word", () => {
  const event = fc
    .tuple(
      fc.constantFrom("data: ", "event: x\ndata: ", ": "),
      fc.stringMatching(/^[a-cU ]{0,12}$/),
      fc.constantFrom("\n", "\r\n"),
    )
    .map(([field, text, end]) => `${field.replaceAll("\n", end)}${text}${end}${end}`);
  const words = [Buffer.from("U"), Buffer.from("ab")];

  test("are those of the parsed block", () => {
    const property = fc.property(fc.array(event, { maxLength: 8 }), (written) => {
      const block = Buffer.from(written.join(""));
      const events = [...eventsOf(block)];
      expect(events.map(String)).toEqual(written);
      let start = 0;
      for (const one of events) {
        for (let at = start; at < start + one.length; at += 1) {
          expect(eventAround(block, at)).toEqual({ start, end: start + one.length });
        }
        start += one.length;
      }
      const holding = events.filter((one) => words.some((word) => one.includes(word)));
      expect([...eventsWith(block, words)].map(String)).toEqual(holding.map(String));
    });
    fc.assert(property);
  });

  test("end where the last one that fits ends, but not before the first one", () => {
    const property = fc.property(fc.array(event, { maxLength: 5 }), (written) => {
      const block = Buffer.from(written.join(""));
      const ends = written.map((_, index) => written.slice(0, index + 1).join("").length);
      for (const [index, first] of ends.entries()) {
        const start = ends[index - 1] ?? 0;
        for (let below = start - 1; below <= block.length + 1; below += 1) {
          const fitting = ends.filter((end) => end > start && end < below);
          expect(endOfEvents(block, start, below)).toBe(fitting.at(-1) ?? first);
          expect(endOfEvents(block, start, below - 0.5)).toBe(fitting.at(-1) ?? first);
        }
      }
    });
    fc.assert(property);
    expect(endOfEvents(Buffer.from("data: a\n\ndata: U"), 9, 12)).toBe(16);
  });

  test("include the last one, which has not ended", () => {
    const block = Buffer.from("data: a\n\ndata: U");
    expect(eventAround(block, 15)).toEqual({ start: 9, end: 16 });
    expect([...eventsWith(block, words)].map(String)).toEqual(["data: U"]);
  });
});

test.each([
  ["data: a\n\n", true],
  ["data: a\r\n\r\n", true],
  [": comment\n\ndata: b\n\n", true],
  ["data: a\n", false],
  ["data: a\n\ndata: b", false],
  ["\n", false],
  ["", false],
])("whether %j ends with an event: %p", (text, ends) => {
  expect(endsWithEvent(Buffer.from(text))).toBe(ends);
});
