import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { UploadCheck } from "./upload-check.ts";

const file = Buffer.from("RIFF and then some samples, with \r\n--lines and RIFF in them");
const expected = { bytes: file.length, checksum: crc32(file) };
const form = formOf(file);

function formOf(content: Buffer): Buffer {
  const model = "--b\r\ncontent-disposition: form-data; name=model\r\n\r\nm\r\n";
  const head = "--b\r\ncontent-disposition: form-data; name=file; filename=a.wav\r\n\r\n";
  return Buffer.concat([Buffer.from(model + head), content, Buffer.from("\r\n--b--\r\n")]);
}

function problemOf(body: Buffer, pieceBytes: number): string | null {
  const check = new UploadCheck(expected);
  for (let at = 0; at < body.length; at += pieceBytes) check.add(body.subarray(at, at + pieceBytes));
  return check.problem();
}

describe("an upload", () => {
  test.each([1, 2, 7, 64, 1_000])("is whole, in pieces of %d bytes", (pieceBytes) => {
    expect(problemOf(form, pieceBytes)).toBeNull();
  });

  test.each([1, 7, 1_000])("that breaks off is reported with its length, in pieces of %d bytes", (pieceBytes) => {
    const cut = form.subarray(0, form.indexOf("samples"));
    expect(problemOf(cut, pieceBytes)).toBe(`19 bytes of the file instead of ${file.length}`);
  });

  test.each([1, 7, 1_000])("with one other byte is reported, in pieces of %d bytes", (pieceBytes) => {
    const other = Buffer.from(file);
    other.write("S", other.indexOf("s"));
    expect(problemOf(formOf(other), pieceBytes)).toBe("a file with other bytes");
  });

  test("without a file is reported", () => {
    expect(problemOf(formOf(Buffer.from("no sound")), 7)).toBe("no file in the form");
  });
});
