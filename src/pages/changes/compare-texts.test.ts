import { expect, test } from "bun:test";
import { compareTexts } from "./compare-texts.ts";

const compare = (previous: string, current: string, wantsChunks = true) => {
  const [one, other] = [Buffer.from(previous), Buffer.from(current)];
  return compareTexts(Buffer.concat([one, other]), { previousBytes: one.byteLength, wantsChunks });
};

test.each([
  ["space", "# Title\n\nTwo  words\n", "# Title\nTwo words"],
  ["the order of the lines", "one\ntwo\nthree", "three\none\ntwo"],
])("%s makes no difference", (_, previous, current) => {
  expect(compare(previous, current)).toEqual({ isSame: true });
});

test("a line that is there twice is another text", () => {
  expect(compare("one\ntwo", "one\ntwo\ntwo", false)).toEqual({ isSame: false });
});

test("the changed lines have their numbers and what is around them", () => {
  const { chunks } = compare("ä\nb\nc\nd\ne\nf", "ä\nb\nc\nD\ne\nf\ng");
  expect(chunks).toEqual([
    {
      content: "@@ -1,6 +1,7 @@",
      oldStart: 1,
      oldLines: 6,
      newStart: 1,
      newLines: 7,
      changes: [
        { type: "normal", normal: true, ln1: 1, ln2: 1, content: " ä" },
        { type: "normal", normal: true, ln1: 2, ln2: 2, content: " b" },
        { type: "normal", normal: true, ln1: 3, ln2: 3, content: " c" },
        { type: "del", del: true, ln: 4, content: "-d" },
        { type: "add", add: true, ln: 4, content: "+D" },
        { type: "normal", normal: true, ln1: 5, ln2: 5, content: " e" },
        { type: "normal", normal: true, ln1: 6, ln2: 6, content: " f" },
        { type: "add", add: true, ln: 7, content: "+g" },
      ],
    },
  ]);
});

test("texts of which too much differs have no list", () => {
  const lines = (name: string): string => Array.from({ length: 3_000 }, (_, index) => `${name} ${index}`).join("\n");
  expect(compare(lines("old"), lines("new"))).toEqual({ isSame: false });
});
