import { describe, expect, test } from "bun:test";
import { refusalOf } from "./__fixtures__/forms.ts";
import { parsePartHeader } from "./part-header.ts";

const parse = (block: string) => parsePartHeader(Buffer.from(block).toString("latin1"), 2);
const named = (parameters: string) => parse(`Content-Disposition: form-data; ${parameters}`);

describe("names and filenames", () => {
  test.each<[string, string, string | undefined]>([
    ['name="model"', "model", undefined],
    ["name=model", "model", undefined],
    ['NAME="model"', "model", undefined],
    ['name="image[]"; filename="a.png"', "image[]", "a.png"],
    ['name="Ⱐ"', "Ⱐ", undefined],
    ["name=image[]; filename=a.png", "image[]", "a.png"],
    ['filename="a.png"; name="file"', "file", "a.png"],
    ['name="file";filename=""', "file", ""],
    ['name="a;b=c"; filename="d; name=e"', "a;b=c", "d; name=e"],
    ['name="fé😀"; filename="日本.wav"', "fé😀", "日本.wav"],
    ['name="a%22b%0D%0Ac"; filename="%22%0D%0A%41"', 'a"b\r\nc', '"\r\n%41'],
    ['name="file"; filename="a\\"b\\\\c"', "file", 'a"b\\c'],
    ['name="file"; filename="C:\\dir\\a.png"', "file", "C:\\dir\\a.png"],
    ['name="file"; filename="a.png"; filename*=utf-8\'\'%e2%82%ac.png', "file", "€.png"],
    ["name=file; filename=\"=?utf-8?B?4oKs?=\"; filename*=UTF-8'en'%E2%82%AC", "file", "€"],
    ['name="file"; filename=it\'s.png', "file", "it's.png"],
  ])("%s", (parameters, name, filename) => {
    expect(named(parameters)).toMatchObject({ name, filename });
  });
});

test("the order and case of headers, and unknown headers, are ignored", () => {
  const block =
    "X-More: 1\r\ncontent-TYPE:  image/png \r\nCONTENT-DISPOSITION:form-data; name=a; filename=b\r\nX-More: 2";
  expect(parse(block)).toMatchObject({ name: "a", filename: "b", contentType: "image/png" });
});

test("a declared length is found again", () => {
  const block = 'Content-Length: 12\r\nContent-Disposition: form-data; name="a"';
  const { declared } = parse(block);
  expect(declared).toEqual({ size: 12, start: 16, end: 18 });
});

const disposition = 'Content-Disposition: form-data; name="a"';

describe("refused, naming the part's index", () => {
  test.each([
    ["nothing", ""],
    ["no disposition", "Content-Type: image/png"],
    ["another disposition", 'Content-Disposition: attachment; name="a"'],
    ["no name", "Content-Disposition: form-data"],
    ["an empty name", 'Content-Disposition: form-data; name=""'],
    ["only a filename", 'Content-Disposition: form-data; filename="a"'],
    ["a name twice", 'Content-Disposition: form-data; name="a"; name="b"'],
    ["a name twice, in two cases", 'Content-Disposition: form-data; name="a"; NAME="a"'],
    ["two dispositions", `${disposition}\r\n${disposition}`],
    ["two content types", `${disposition}\r\nContent-Type: a/b\r\ncontent-type: a/b`],
    ["a folded line", 'Content-Disposition: form-data;\r\n name="a"'],
    ["a bare line feed", 'Content-Disposition: form-data; name="a"\nContent-Type: image/png'],
    ["a bare carriage return", `${disposition}\rX: y`],
    ["a zero byte", 'Content-Disposition: form-data; name="a\0"'],
    ["a blank before the colon", 'Content-Disposition : form-data; name="a"'],
    ["no colon", `${disposition}\r\nmore`],
    ["an unclosed quote", 'Content-Disposition: form-data; name="a'],
    ["an escaped closing quote", 'Content-Disposition: form-data; name="a\\"'],
    ["blanks around the equals sign", 'Content-Disposition: form-data; name = "a"'],
    ["a semicolon at the end", `${disposition};`],
    ["something behind a quoted name", `${disposition}b`],
    ["a name in single quotes", "Content-Disposition: form-data; name='a'"],
    ["an escape in the name", 'Content-Disposition: form-data; name="mo\\del"'],
    ["an encoded name", 'Content-Disposition: form-data; name="=?utf-8?B?bW9kZWw=?="'],
    ["an extended name", "Content-Disposition: form-data; name=\"a\"; name*=utf-8''b"],
    ["a continued filename", 'Content-Disposition: form-data; name="a"; filename*0="b"'],
    ["a blank at the end of the name", 'Content-Disposition: form-data; name="model "'],
    ["a line break at the end of the name", 'Content-Disposition: form-data; name="model%0A"'],
    ["a name within what may be a filename", 'Content-Disposition: form-data; filename="a\\"; name="model"; name="b"'],
    ["a quote that may end the filename", 'Content-Disposition: form-data; name="a"; filename="b\\"; c="d"'],
  ])("%s", async (_title, block) => {
    expect(await refusalOf(() => parse(block))).toMatchObject({ code: "validation_failed", param: "parts.2" });
  });
});

describe("refused, naming the part", () => {
  test.each([
    ["a transfer encoding", `${disposition}\r\nContent-Transfer-Encoding: base64`],
    ["a filename* alone", "Content-Disposition: form-data; name=\"a\"; filename*=utf-8''b"],
    ["a malformed filename*", "Content-Disposition: form-data; name=\"a\"; filename=b; filename*=utf-8''%ff"],
    ["a field in another character set", `${disposition}\r\nContent-Type: text/plain; charset=utf-16`],
    ["a field with a malformed type", `${disposition}\r\nContent-Type: text/plain; charset`],
    ["a field with the type of a file", `${disposition}\r\nContent-Type: application/octet-stream`],
    ["a malformed length", `${disposition}\r\nContent-Length: +1`],
  ])("%s", async (_title, block) => {
    expect(await refusalOf(() => parse(block))).toMatchObject({ code: "validation_failed", param: "a" });
  });
});

test.each(["7bit", "8BIT", "binary"])("the transfer encoding %s is none", (encoding) => {
  expect(parse(`${disposition}\r\nContent-Transfer-Encoding: ${encoding}`).name).toBe("a");
});

test.each(["text/plain; charset=utf-8", 'text/plain; charset="US-ASCII"', "application/json"])(
  "a field may have the type %s",
  (contentType) => {
    expect(parse(`${disposition}\r\nContent-Type: ${contentType}`)).toMatchObject({ contentType });
  },
);

test("a name in an error is truncated", async () => {
  const refused = await refusalOf(() => named(`name="${"n".repeat(500)}"; filename*=x`));
  expect(refused.param).toBe("n".repeat(80));
});
