import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MarkedText, type TextPiece } from "./marked-text.ts";
import { Sources } from "./sources.ts";

function sourcesOf(count: number): Sources {
  const sources = new Sources();
  for (let number = 1; number <= count; number += 1)
    sources.add({ url: `https://${number}.example/`, title: `T${number}`, text: "t" });
  return sources;
}

/** In short: text, and the numbers of the sources before a passage. */
function shown(pieces: readonly TextPiece[]): string {
  return pieces
    .map((piece) =>
      piece.type === "text"
        ? piece.text
        : piece.type === "open"
          ? `{${piece.sources.map(({ number }) => number).join(",")}:`
          : "}",
    )
    .join("");
}

function read(chunks: readonly string[], count = 3): string {
  const marked = new MarkedText(sourcesOf(count));
  return shown([...chunks.flatMap((chunk) => marked.push(chunk)), ...marked.end()]);
}

describe("marks", () => {
  test.each([
    ['It is <cite id="1">high</cite>.', "It is {1:high}."],
    ["<cite id='2, 3'>a</cite><cite id=1>b</cite>", "{2,3:a}{1:b}"],
    ['cut <cite id="1">off', "cut {1:off}"],
    ['<cite id="9">unknown</cite>', '<cite id="9">unknown</cite>'],
    ["a < b, <b>bold</b>, <cite>none</cite> </cite>", "a < b, <b>bold</b>, <cite>none</cite> </cite>"],
    ['<cite id="1">within <cite id="2">another</cite> end', '{1:within <cite id="2">another} end'],
    ["ends with <cit", "ends with <cit"],
  ])("%j", (text, expected) => {
    expect(read([text])).toBe(expected);
    expect(read(Array.from(text))).toBe(expected);
  });

  test("are the same wherever the text is cut", () => {
    const words = fc.constantFrom(
      '<cite id="1">',
      "</cite>",
      "<cite id=",
      "<",
      "a ",
      "</",
      '<cite id="7">',
      "b>",
      "<c",
    );
    fc.assert(
      fc.property(
        fc.array(words, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        (parts, sizes) => {
          const text = parts.join("");
          const chunks: string[] = [];
          for (let at = 0; at < text.length;) {
            const size = Number(sizes.next().value);
            chunks.push(text.slice(at, at + size));
            at += size;
          }
          expect(read(chunks)).toBe(read([text]));
        },
      ),
    );
  });

  test("nothing is held back but what may become one", () => {
    const marked = new MarkedText(sourcesOf(1));
    expect(shown(marked.push("a long text without any"))).toBe("a long text without any");
    expect(shown(marked.push(" mark <ci"))).toBe(" mark ");
    expect(shown(marked.push("rcle>"))).toBe("<circle>");
  });

  test("mean nothing before there are sources", () => {
    expect(read(['<cite id="1">a</cite>'], 0)).toBe('<cite id="1">a</cite>');
  });
});
