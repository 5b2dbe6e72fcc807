import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../core/index.ts";
import {
  bodyOf,
  boundary,
  cut,
  cutEvery,
  fieldPart,
  filePart,
  formOf,
  madeParts,
  rawPart,
  refusalOf,
} from "./__fixtures__/forms.ts";
import { FormScanner } from "./form-scanner.ts";

function scan(pieces: readonly Uint8Array[]) {
  const scanner = new FormScanner(boundary);
  for (const piece of pieces) scanner.push(piece);
  scanner.end();
  return scanner.parts;
}

const MB = 1024 * 1024;

describe("a form cut anywhere", () => {
  test("has its parts at their offsets", () => {
    const property = fc.property(madeParts, fc.array(fc.nat(), { maxLength: 12 }), (parts, offsets) => {
      const body = bodyOf(parts);
      const scanned = scan(cut(body, offsets));
      expect(scanned.map(({ name }) => name)).toEqual(parts.map(({ name }) => name));
      for (const [index, { contentStart, contentEnd }] of scanned.entries()) {
        expect(body.subarray(contentStart, contentEnd)).toEqual(Buffer.from(parts[index]?.content ?? []));
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("reads the same in one piece, in two at each offset, and byte by byte", () => {
    const body = Buffer.concat([
      Buffer.from("a preamble\r\n"),
      formOf(fieldPart("a", "1\r\n--"), fieldPart("b", ""), filePart("c", "\r\n\r\n------boun\r\n")),
      Buffer.from("an epilogue"),
    ]);
    const whole = scan([body]);
    expect(whole.map(({ name, contentStart, contentEnd }) => [name, contentEnd - contentStart])).toEqual([
      ["a", 5],
      ["b", 0],
      ["c", 16],
    ]);
    expect(scan(cutEvery(body, 1))).toEqual(whole);
    for (let offset = 0; offset <= body.length; offset += 1) expect(scan(cut(body, [offset]))).toEqual(whole);
  });

  test("is refused equally, wherever it is cut", async () => {
    const body = formOf(fieldPart("a", `text\n--${boundary}\r\n`));
    for (let offset = 0; offset <= body.length; offset += 1) {
      const { code, param } = await refusalOf(() => scan(cut(body, [offset])));
      expect([code, param]).toEqual(["validation_failed", "a"]);
    }
  });
});

test.each([
  ["no parts", formOf()],
  ["no parts, and a preamble", Buffer.concat([Buffer.from("hello\r\n"), formOf()])],
  ["no line break at its end", Buffer.from(`--${boundary}--`)],
])("a form of %s is valid", (_title, body) => {
  expect(scan([body])).toEqual([]);
});

const field = 'Content-Disposition: form-data; name="x"';

describe("forms that readers understand differently are refused", () => {
  test.each<[string, string, string | undefined]>([
    ["a boundary behind a bare line feed", `--B\r\n${field}\r\n\r\na\n--B\r\n${field}\r\n\r\nb\r\n--B--\r\n`, "x"],
    [
      "a boundary behind a bare carriage return",
      `--B\r\n${field}\r\n\r\na\r--B\r\n${field}\r\n\r\nb\r\n--B--\r\n`,
      "x",
    ],
    ["a boundary within a line", `--B\r\n${field}\r\n\r\na--B\r\n${field}\r\n\r\nb\r\n--B--\r\n`, "x"],
    ["a boundary with something behind it", `--B\r\n${field}\r\n\r\na\r\n--BX\r\n\r\n--B--\r\n`, "x"],
    ["a boundary with blanks behind it", `--B \t\r\n${field}\r\n\r\na\r\n--B--\r\n`, undefined],
    ["a boundary ended by a line feed", `--B\n${field}\r\n\r\na\r\n--B--\r\n`, undefined],
    ["content that begins with the boundary", `--B\r\n${field}\r\n\r\n--B\r\n${field}\r\n\r\nb\r\n--B--\r\n`, "x"],
    ["content whose line break is the header's", `--B\r\n${field}\r\n\r\n--B--\r\n`, "x"],
    ["a final boundary with something behind it", `--B\r\n${field}\r\n\r\na\r\n--B--X\r\n`, undefined],
    ["a final boundary ended by a line feed", `--B\r\n${field}\r\n\r\na\r\n--B--\n--`, undefined],
    ["a boundary within the preamble", `xx--B\r\n${field}\r\n\r\na\r\n--B--\r\n`, undefined],
    ["a boundary in the epilogue", `--B--\r\n--B\r\n${field}\r\n\r\na\r\n--B--\r\n`, undefined],
    ["no header", "--B\r\n\r\na\r\n--B--\r\n", "parts.0"],
    ["a header that does not end", `--B\r\n${field}\r\n--B\r\n${field}\r\n\r\nb\r\n--B--\r\n`, "parts.0"],
    ["lines that end in line feeds", `--B\r\n${field}\n\na\r\n--B\r\n\r\n`, "parts.0"],
  ])("%s", async (_title, written, param) => {
    const body = Buffer.from(written.replaceAll("--B", `--${boundary}`));
    const whole = await refusalOf(() => scan([body]));
    expect(whole).toMatchObject({ code: "validation_failed", status: 422, param });
    expect(await refusalOf(() => scan(cutEvery(body, 1)))).toEqual(whole);
  });
});

describe("a form that breaks off", () => {
  const body = formOf(fieldPart("a", "1"), filePart("file", "content"));

  test("anywhere before its final boundary is refused", async () => {
    for (let length = 0; length < body.length - "\r\n".length; length += 1) {
      const { code, message } = await refusalOf(() => scan([body.subarray(0, length)]));
      expect(code).toBe("validation_failed");
      expect(message).toContain("breaks off");
    }
  });

  test("within content names the part", async () => {
    const { param, message } = await refusalOf(() => scan([body.subarray(0, body.indexOf("content") + 3)]));
    expect(param).toBe("file");
    expect(message).toBe('The part "file" breaks off: the final boundary is missing.');
  });

  test("without bytes is not a form", async () => {
    expect((await refusalOf(() => scan([]))).message).toBe("The form breaks off: its final boundary is missing.");
  });
});

describe("bounds", () => {
  test("the number of parts", async () => {
    const parts = Array.from({ length: limits.formPartsMax }, (_, index) => fieldPart(`p${index}`, ""));
    expect(scan([formOf(...parts)])).toHaveLength(limits.formPartsMax);
    const { message } = await refusalOf(() => scan([formOf(...parts, fieldPart("more", ""))]));
    expect(message).toContain("1000 parts");
  });

  test.each([1, 7, 100_000])("the bytes of a part's headers, in pieces of %d", async (size) => {
    const exact = `${field}\r\nX-More: `;
    const header = exact + "x".repeat(limits.formHeaderBytesMax - exact.length);
    expect(scan(cutEvery(formOf(rawPart(header, "a")), size))).toHaveLength(1);
    const refused = await refusalOf(() => scan(cutEvery(formOf(rawPart(`${header}x`, "a")), size)));
    expect(refused).toMatchObject({ code: "validation_failed", param: "parts.0" });
  });

  test("the bytes of a field, known before its end", async () => {
    const text = Buffer.alloc(limits.formTextBytesMax + 1, "a");
    expect(scan([formOf(fieldPart("prompt", text.subarray(1)))])).toHaveLength(1);
    expect(await refusalOf(() => scan([formOf(fieldPart("prompt", text))]))).toMatchObject({ param: "prompt" });
    const scanner = new FormScanner(boundary);
    scanner.push(fieldPart("prompt", text));
    expect(await refusalOf(() => scanner.push(Buffer.alloc(100, "a")))).toMatchObject({ param: "prompt" });
  });

  test("the bytes of all fields; files don't count", async () => {
    const part = Buffer.alloc(limits.formReadBytesMax / 4, "a");
    const three = ["a", "b", "c"].map((name) => fieldPart(name, part));
    expect(scan([formOf(...three, filePart("file", Buffer.alloc(8 * MB)))])).toHaveLength(4);
    expect(await refusalOf(() => scan([formOf(...three, fieldPart("d", part))]))).toMatchObject({ param: "d" });
  });
});

// Each finishes in time only if every byte is read a few times at most.
describe("hostile contents take no more time than others", () => {
  const almost = `\r\n--${boundary.slice(0, -1)}`;
  test.each([
    ["dashes", "-"],
    ["line breaks", "\r\n"],
    ["blank lines", "\r\n\r\n\r\n"],
    ["carriage returns", "\r"],
    ["boundaries but for their last character", almost],
  ])("%s", (_title, unit) => {
    const content = Buffer.alloc(16 * MB, unit);
    const [part] = scan(cutEvery(formOf(filePart("file", content)), 1_000));
    expect(part && part.contentEnd - part.contentStart).toBe(content.length);
  });

  test("a form byte by byte", () => {
    const content = Buffer.alloc(MB / 2, almost);
    expect(scan(cutEvery(formOf(filePart("file", content)), 1))).toHaveLength(1);
  });

  test("a header of blanks", async () => {
    for (const unit of [" ", ";", "; ", '"', '\\"', "a=", ";a=b"]) {
      const header = `${field}${unit.repeat(15_000 / unit.length)}`;
      expect((await refusalOf(() => scan([formOf(rawPart(`${header}x`, ""))]))).param).toBe("parts.0");
    }
  });
});
