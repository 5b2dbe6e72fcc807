import { expect, test } from "bun:test";
import { readBounded } from "./bounded-reader.ts";

/** A stream of these pieces that records whether more was requested and whether it was cancelled. */
function streamOf(pieces: readonly string[]) {
  const state = { pulled: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[state.pulled];
        if (piece === undefined) return controller.close();
        state.pulled += 1;
        controller.enqueue(Buffer.from(piece));
      },
      cancel() {
        state.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, state };
}

test.each<[string[], string]>([
  [[], ""],
  [["abc"], "abc"],
  [["ab", "", "cd", "é"], "abcdé"],
  [["1234567890"], "1234567890"],
])("reads %j whole", async (pieces, whole) => {
  const read = await readBounded(streamOf(pieces).body, 10);
  expect("bytes" in read && Buffer.from(read.bytes).toString()).toBe(whole);
});

test.each<[string[], number]>([
  [["12345678901"], 1],
  [["12345", "67890", "1", "never asked for"], 3],
])("stops at the first piece over the bound: %j", async (pieces, pulled) => {
  const { body, state } = streamOf(pieces);
  expect(await readBounded(body, 10)).toEqual({ exceeded: true });
  expect(state).toEqual({ pulled, cancelled: true });
});

test("reports every piece that arrives", async () => {
  let heard = 0;
  await readBounded(streamOf(["a", "b", "c"]).body, 10, () => (heard += 1));
  expect(heard).toBe(3);
});

test("rejects if the stream breaks off", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error("broke"));
    },
  });
  expect(readBounded(body, 10)).rejects.toThrow("broke");
});
