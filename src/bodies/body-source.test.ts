import { describe, expect, test } from "bun:test";
import { deflateSync, gzipSync } from "node:zlib";
import { inflated } from "./body-source.ts";

const text = JSON.stringify({ text: "äöü ".repeat(50_000) });

const sourceOf = (bytes: Uint8Array, encoding: string): Request =>
  new Request("http://x.test", {
    method: "POST",
    body: Uint8Array.from(bytes),
    headers: { "content-encoding": encoding },
  });

describe("a body", () => {
  test.each([
    ["gzip", gzipSync(text)],
    ["X-GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["identity", Buffer.from(text)],
  ])("compressed with %s is inflated, in one piece and as a stream", async (encoding, bytes) => {
    expect(Buffer.from(await inflated(sourceOf(bytes, encoding)).bytes()).toString()).toBe(text);
    const { body, headers } = inflated(sourceOf(bytes, encoding));
    expect(await new Response(body).text()).toBe(text);
    if (encoding !== "identity")
      expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual([null, null]);
  });

  test("that is not compressed as declared, or cut, is refused", async () => {
    for (const bytes of [Buffer.from(text), gzipSync(text).subarray(0, 100)]) {
      expect(inflated(sourceOf(bytes, "gzip")).bytes()).rejects.toThrow("content-encoding: the body is not valid gzip");
    }
  });

  test("compressed otherwise is refused, with what is taken", () => {
    expect(() => inflated(sourceOf(Buffer.from(text), "br"))).toThrow('gzip or deflate, not with "br"');
  });

  test("that breaks off keeps its own error", async () => {
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) });
    const source = {
      headers: new Headers({ "content-encoding": "gzip" }),
      body,
      bytes: () => new Response(body).bytes(),
    };
    expect(inflated(source).bytes()).rejects.toThrow("gone");
  });
});
