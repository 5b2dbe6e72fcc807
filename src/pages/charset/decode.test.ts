import { describe, expect, test } from "bun:test";
import { decodePieces, decodeText } from "./decode.ts";

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

const russian =
  "Эта страница написана по-русски и сохранена в старой кодировке, которую до сих пор используют многие сайты";

function windows1251(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    return code >= 0x410 && code <= 0x44f ? code - 0x410 + 0xc0 : code;
  });
}

/** "هذه صفحة عربية عن الطقس" in Windows-1256, ten times: statistics find it more like Hebrew. */
const arabic = Uint8Array.fromHex("e5d0e520d5ddcdc920dad1c8edc920dae420c7e1d8ded320".repeat(10));

describe("the encoding of a document", () => {
  const cases: readonly [name: string, bytes: Uint8Array, label: string | undefined, encoding: string, text: string][] =
    [
      ["a byte order mark wins", Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3, 0xa4), "latin1", "utf-8", "ä"],
      ["UTF-16 with a mark", Uint8Array.of(0xff, 0xfe, 0xe4, 0), undefined, "utf-16le", "ä"],
      ["the header", latin1("\u00e4"), "ISO-8859-1", "windows-1252", "ä"],
      ["an unknown label is none", new TextEncoder().encode("ä"), "utf8000", "utf-8", "ä"],
      ["the page's own tag", latin1('<meta charset="iso-8859-15">\u00a4'), undefined, "iso-8859-15", "€"],
      [
        "the older tag",
        latin1('<meta http-equiv=Content-Type content="text/html; charset=iso-8859-2">\u00b1'),
        undefined,
        "iso-8859-2",
        "ą",
      ],
      [
        "a tag after 6,000 bytes",
        latin1(`<!-- ${"x".repeat(6_000)} --><meta charset="iso-8859-15">\u00a4`),
        undefined,
        "iso-8859-15",
        "€",
      ],
      ["UTF-8 proves itself", new TextEncoder().encode("Füße"), undefined, "utf-8", "Füße"],
      ["a header that adds UTF-8 to everything", latin1("<meta charset=latin1>\u00e4"), "utf-8", "windows-1252", "ä"],
      [
        "a header that adds Latin-1 to everything",
        new TextEncoder().encode("<meta charset=utf-8>ä"),
        "latin1",
        "utf-8",
        "ä",
      ],
      [
        "a page that has moved to UTF-8 and declares Latin-1 still",
        new TextEncoder().encode("<meta charset=iso-8859-1>Füße – „ja“"),
        "iso-8859-1",
        "utf-8",
        "Füße – „ja“",
      ],
      ["few bytes that could be either", latin1("<meta charset=latin1>\u00c3\u00a9"), undefined, "windows-1252", "Ã©"],
      ["statistics", windows1251(`${russian}. ${russian}`), undefined, "windows-1251", russian],
      ["statistics, but for what it has no characters for", arabic, undefined, "windows-1256", "هذه صفحة عربية"],
      ["Western Europe as a last resort", latin1("\u00a92026 x"), undefined, "windows-1252", "©2026 x"],
    ];
  for (const [name, bytes, label, encoding, text] of cases) {
    test(name, () => {
      const decoded = decodeText(bytes, { label });
      expect(decoded.encoding).toBe(encoding);
      expect(decoded.text).toContain(text);
    });
  }

  test("XML declares its own", () => {
    const bytes = latin1('<?xml version="1.0" encoding="iso-8859-15"?><a>\u00a4</a>');
    expect(decodeText(bytes, { label: undefined, xml: true }).text).toContain("€");
  });

  test("a plain text declares nothing", () => {
    const bytes = new TextEncoder().encode("<meta charset=latin1> ä");
    expect(decodeText(bytes, { label: undefined, plain: true }).text).toContain("ä");
  });
});

describe("a long document is decoded piece by piece", () => {
  const long = "ж€ and more, ".repeat(20_000);
  const cases: [string, Uint8Array, string][] = [
    ["UTF-8 without a declaration", new TextEncoder().encode(long), long],
    ["nothing but two bytes each", new TextEncoder().encode("ж".repeat(200_001)), "ж".repeat(200_001)],
    ["UTF-16 with its mark", Buffer.from(`\uFEFF${long}`, "utf16le"), long],
    ["Windows-1251, declared", windows1251(`<?xml version="1.0" encoding="windows-1251"?>${russian}`), russian],
    ["nothing", new Uint8Array(), ""],
  ];
  for (const [name, bytes, text] of cases) {
    test(name, () => {
      expect([...decodePieces(bytes, { label: undefined, xml: true })].join("").endsWith(text)).toBe(true);
    });
  }
});
