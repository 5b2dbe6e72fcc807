import { expect, test } from "bun:test";
import { CallAborter } from "../../../../core/index.ts";
import type { StoredBytes, StoredBytesStore } from "../../../stored-bytes/index.ts";
import { ScanTexts } from "./scan-texts.ts";

function scanTexts() {
  const kept = new Map<string, StoredBytes>();
  const store: StoredBytesStore = {
    put: (bytes) => Promise.resolve(void kept.set(bytes.id, bytes)),
    find: (_, id, at) => {
      const found = kept.get(id);
      return Promise.resolve(found !== undefined && found.keptUntil > at ? found : undefined);
    },
    trim: () => Promise.resolve(),
    deleteExpired: () => Promise.resolve(),
  };
  let now = 0;
  const asked: number[][] = [];
  const logger = { warn: () => undefined };
  const texts = new ScanTexts({ store, clock: () => now, logger, model: "a/model" });
  /** Reads pages; each reading ends when its gate is opened. */
  const gates: PromiseWithResolvers<void>[] = [];
  const read = (
    numbers: readonly number[],
    { owner = "alice", keeps = true, left = (): number => 60_000, fails = false } = {},
  ) => {
    const signal = new CallAborter();
    const time = { left, signal, owner };
    const result = texts.read(numbers, { document: "d", keeps, time }, async (own) => {
      asked.push([...own]);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      if (fails) throw new Error("no credits");
      return new Map(own.map((number) => [number, `text ${number}`]));
    });
    return { result, signal };
  };
  return { texts, asked, gates, read, kept, wait: (ms: number) => (now += ms) };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const textsOf = (...numbers: number[]) => new Map(numbers.map((number) => [number, `text ${number}`]));

test("two requests at the same time read each page once, and later ones none", async () => {
  const { asked, gates, read, kept, wait } = scanTexts();
  const first = read([1, 2]);
  const second = read([2, 3]);
  await turn();
  expect(asked.map(String).toSorted()).toEqual(["1,2", "3"]);
  for (const gate of gates) gate.resolve();
  expect(await first.result).toEqual(textsOf(1, 2));
  expect(await second.result).toEqual(textsOf(2, 3));
  expect(await read([1, 2, 3]).result).toEqual(textsOf(1, 2, 3));
  expect([asked.length, kept.size]).toEqual([2, 3]);
  wait(2 * 24 * 3_600_000);
  const late = read([1]);
  await turn();
  gates.at(-1)?.resolve();
  expect(await late.result).toEqual(textsOf(1));
  expect(asked).toHaveLength(3);
});

test("another user shares nothing, and a request that keeps nothing stores nothing", async () => {
  const { asked, gates, read, kept } = scanTexts();
  const results = [read([1], { keeps: false }), read([1], { owner: "bob", keeps: false }), read([1], { keeps: false })];
  await turn();
  expect(asked).toEqual([[1], [1]]);
  for (const gate of gates) gate.resolve();
  for (const { result } of results) expect(await result).toEqual(textsOf(1));
  expect(kept.size).toBe(0);
});

test("a request that may keep a text which it has got from one that may not, does so", async () => {
  const { gates, read, kept } = scanTexts();
  const results = [read([1], { keeps: false }), read([1])];
  await turn();
  for (const gate of gates) gate.resolve();
  for (const { result } of results) expect(await result).toEqual(textsOf(1));
  expect(kept.size).toBe(1);
});

test("after the failure of the one that reads, another one does", async () => {
  const { asked, gates, read } = scanTexts();
  const failing = read([1], { fails: true });
  const waiting = [read([1]), read([1])];
  await turn();
  gates[0]?.resolve();
  expect(failing.result).rejects.toThrow("no credits");
  await turn();
  await turn();
  expect(asked).toEqual([[1], [1]]);
  gates[1]?.resolve();
  for (const { result } of waiting) expect(await result).toEqual(textsOf(1));
});

test("who waits for another one does so for its own time, and until it is aborted", async () => {
  const { gates, read } = scanTexts();
  const reading = read([1]);
  let looks = 0;
  const late = read([1], { left: () => ((looks += 1) > 2 ? 1 : 2) });
  const aborted = read([1]);
  aborted.signal.abort(new Error("gone"));
  expect(aborted.result).rejects.toThrow("gone");
  expect(await late.result).toEqual(new Map());
  gates[0]?.resolve();
  expect(await reading.result).toEqual(textsOf(1));
});

test("a document is named by its bytes and by the model", async () => {
  const { texts } = scanTexts();
  const one = await texts.documentOf(Uint8Array.of(1));
  expect(await texts.documentOf(Uint8Array.of(1))).toBe(one);
  expect(await texts.documentOf(Uint8Array.of(2))).not.toBe(one);
});
