import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cuesOf, srtOf, type TimedWord, turnsOf, vttOf } from "./subtitles.ts";

/** Words of half a second each; a bar is a silence. */
function spoken(text: string): { text: string; words: TimedWord[] } {
  let at = 0;
  const words: TimedWord[] = [];
  for (const word of text.split(" ")) {
    if (word === "|") at += 1.5;
    else words.push({ text: word, start: at, end: (at += 0.5) });
  }
  return { text: words.map((word) => word.text).join(" "), words };
}

const cues = (spokenText: string) => {
  const { text, words } = spoken(spokenText);
  return cuesOf(text, words);
};

describe("cues", () => {
  test("end with a sentence, once they are long enough", () => {
    expect(cues("Yes. We are all of us here today. What now?")).toEqual([
      { start: 0, end: 4_000, text: "Yes. We are all of us here today.", speaker: undefined },
      { start: 4_000, end: 5_000, text: "What now?", speaker: undefined },
    ]);
  });

  test("end at a silence", () => {
    expect(cues("Well | I see").map(({ start, end, text }) => [start, end, text])).toEqual([
      [0, 500, "Well"],
      [2_000, 3_000, "I see"],
    ]);
  });

  test("last seven seconds, or two lines, at most", () => {
    const slow = cues(Array.from({ length: 30 }, () => "a").join(" "));
    expect(slow.map(({ start, end }) => end - start)).toEqual([7_000, 7_000, 1_000]);
    const wide = cues(Array.from({ length: 12 }, () => "incomprehensible").join(" "));
    expect(wide.map(({ text }) => text.length)).toEqual([67, 67, 67]);
  });

  test("end at a change of the speaker", () => {
    const words = [
      { text: "Hi", start: 0, end: 1, speaker: "0" },
      { text: "there", start: 1, end: 2, speaker: "0" },
      { text: "Hello", start: 2, end: 3, speaker: "1" },
    ];
    expect(cuesOf("Hi there. Hello!", words).map(({ text, speaker }) => [speaker, text])).toEqual([
      ["0", "Hi there."],
      ["1", "Hello!"],
    ]);
  });

  test("have the text's punctuation, and no blanks in scripts without them", () => {
    const words = ["你好", "世界"].map((text, index) => ({ text, start: index, end: index + 1 }));
    expect(cuesOf("“你好，世界。”", words).map(({ text }) => text)).toEqual(["“你好，世界。”"]);
  });

  test("consist of the words alone if the text differs from them", () => {
    const words = ["one", "hundred"].map((text, index) => ({ text, start: index, end: index + 1 }));
    expect(cuesOf("100", words).map(({ text }) => text)).toEqual(["one hundred"]);
  });

  test("of an empty text are empty", () => {
    expect(cuesOf("", [])).toEqual([]);
  });
});

test("a turn lasts until the speaker changes, even across silences", () => {
  const words = spoken("This is long. | It goes on. Now me.").words.map((word, index) => ({
    ...word,
    speaker: index < 6 ? "a" : "b",
  }));
  const text = "This is long. It goes on. Now me.";
  expect(turnsOf(text, words)).toEqual([
    { start: 0, end: 4_500, text: "This is long. It goes on.", speaker: "a" },
    { start: 4_500, end: 5_500, text: "Now me.", speaker: "b" },
  ]);
});

describe("as a file", () => {
  const two = [
    { start: 0, end: 1_500, text: "Tom & <Jerry> --> cheese", speaker: undefined },
    {
      start: 3_661_007,
      end: 3_662_000,
      text: "A line that is too long to be shown as one of them",
      speaker: undefined,
    },
  ];

  test("SubRip has numbers and commas", () => {
    expect(srtOf(two)).toBe(
      "1\n00:00:00,000 --> 00:00:01,500\nTom & <Jerry> -> cheese\n\n" +
        "2\n01:01:01,007 --> 01:01:02,000\nA line that is too long to\nbe shown as one of them\n",
    );
  });

  test("WebVTT has a header, points, and escaped characters", () => {
    expect(vttOf(two)).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nTom &amp; &lt;Jerry&gt; --&gt; cheese\n\n" +
        "01:01:01.007 --> 01:01:02.000\nA line that is too long to\nbe shown as one of them\n",
    );
  });

  test("of silence is empty", () => {
    expect([srtOf([]), vttOf([])]).toEqual(["", "WEBVTT\n"]);
  });
});

const time = fc.oneof(fc.double({ min: -5, max: 90_000 }), fc.constantFrom(Number.NaN, 0, Number.POSITIVE_INFINITY));
const word = fc.record({
  text: fc.string({
    unit: fc.constantFrom("a", "é", "你", ".", "!", "-", ">", "<", "&", "b"),
    minLength: 1,
    maxLength: 50,
  }),
  start: time,
  end: time,
  speaker: fc.constantFrom("0", "1"),
});

test("cues are in order, don't overlap and contain each word once, whatever an upstream reports", () => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), fc.boolean(), (words, isTextOfWords) => {
      const text = words.map(({ text: wordText }) => wordText).join(" ");
      const shown = cuesOf(isTextOfWords ? text : "something else", words);
      let last = 0;
      for (const cue of shown) {
        expect(cue.start).toBeGreaterThanOrEqual(last);
        expect(cue.end).toBeGreaterThan(cue.start);
        expect(Number.isSafeInteger(cue.end)).toBe(true);
        last = cue.end;
      }
      expect(shown.map((cue) => cue.text).join(" ")).toBe(text);
      for (const file of [srtOf(shown), vttOf(shown)]) {
        expect(file.match(/-->/g)?.length ?? 0).toBe(shown.length);
        expect(file).not.toContain("\n\n\n");
        for (const [, from = "", to = ""] of file.matchAll(
          /^(\d+:\d\d:\d\d[,.]\d{3}) --> (\d+:\d\d:\d\d[,.]\d{3})$/gm,
        )) {
          expect(from < to || from.length < to.length).toBe(true);
        }
      }
    }),
  );
});
