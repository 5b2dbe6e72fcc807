/** If a reader throws, its body fails, and nothing else: the process survives. */
import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { AskUpstream } from "../core/index.ts";
import { clientOf, RawUpstream, replyOf, requestTo } from "./__fixtures__/raw-upstream.ts";
import { askByFetch } from "./index.ts";

const problem = new Error("a bug");
const partOf = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello";
const encoded = gzipSync("hello");
const gzip = (length: number): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${length}\r\n\r\n`),
    encoded,
  ]);

/** The events received by a reader that throws at the first piece. */
async function toldBy(ask: AskUpstream, url: string): Promise<unknown[]> {
  const { body } = await ask(requestTo(url));
  const told: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const tell = (what: unknown): void => {
    told.push(what);
    resolve();
  };
  body.flowTo({
    onBytes() {
      if (told.length > 0) throw new Error("a piece behind the end");
      throw problem;
    },
    onEnd: () => tell("end"),
    onFailure: tell,
  });
  await promise;
  return told;
}

const viaFetch = askByFetch((url, init) => fetch(url, init));

for (const [what, reply, isWhole] of [
  ["a part of which has come", partOf, false],
  ["all of which has come", replyOf("hello"), true],
  ["that is encoded, a part of which has come", gzip(1_000), false],
  ["that is encoded, all of which has come", gzip(encoded.length), true],
] as const) {
  test(`a body ${what} fails`, async () => {
    using upstream = new RawUpstream(({ send }) => send(reply));
    using client = clientOf();
    expect(await toldBy(client.ask, upstream.url())).toEqual([problem]);
    // Nothing waits for the remainder.
    if (!isWhole) await upstream.until(() => upstream.closed === 1);
  });
}

test("a fetched body fails, and is released", async () => {
  using upstream = new RawUpstream(({ send }) => send(partOf));
  expect(await toldBy(viaFetch, upstream.url())).toEqual([problem]);
  await upstream.until(() => upstream.closed === 1);
});
