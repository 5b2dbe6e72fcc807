import { beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openStorage } from "../../../test/kit/storage.ts";
import { limits } from "../../core/index.ts";
import { KeptThoughts } from "./kept-thoughts.ts";
import { openThoughtStore } from "./sql/open.ts";
import type { SealedThought, ThoughtStore } from "./store.ts";

const ann = { user: "ann" };
const bob = { user: "bob" };

let now: number;
let rows: SealedThought[];
let store: ThoughtStore;
let kept: KeptThoughts;

beforeEach(async () => {
  now = 1_000;
  rows = [];
  const own = openThoughtStore(await openStorage("sqlite::memory:"));
  store = {
    ...own,
    put: (thoughts, until) => {
      rows.push(...thoughts);
      return own.put(thoughts, until);
    },
  };
  kept = new KeptThoughts({ thoughts: store, clock: () => now, randomBytes });
});

const found = async (callIds: readonly string[], caller = ann) => {
  const thoughts = await kept.find(callIds, caller);
  return thoughts && [...thoughts];
};

test("a thought is found under the ids of its calls, by its user alone", async () => {
  await kept.keep("Hm é.", ["call_1", "call_2"], ann);
  await kept.keep("Other.", ["call_3"], ann);
  expect(await found(["call_1", "call_3"])).toEqual([
    ["call_1", "Hm é."],
    ["call_3", "Other."],
  ]);
  expect(await found(["call_2"])).toEqual([["call_2", "Hm é."]]);
  expect(await found(["call_1"], bob)).toBeUndefined();
});

test("all or nothing is found", async () => {
  await kept.keep("Hm.", ["call_1"], ann);
  expect(await found(["call_1", "call_9"])).toBeUndefined();
});

test("the newest thought under an id counts", async () => {
  await kept.keep("First.", ["call_1"], ann);
  await kept.keep("Second.", ["call_1"], ann);
  expect(await found(["call_1"])).toEqual([["call_1", "Second."]]);
});

test("the storage has neither the thought nor the id of its call, and opens nothing", async () => {
  await kept.keep("My secret thought.", ["call_00_abcdefgh"], ann);
  const [row] = rows;
  const stored = `${row?.id} ${Buffer.from(row?.sealed ?? []).toString("latin1")}`;
  expect(stored).not.toContain("secret");
  expect(stored).not.toContain("call_00");
  expect(stored).not.toContain("ann");
});

test("a row that was changed or moved does not open", async () => {
  await kept.keep("One.", ["call_1"], ann);
  await kept.keep("Two.", ["call_2"], ann);
  const [one, two] = rows;
  if (one === undefined || two === undefined) throw new Error("nothing was stored");
  await store.put([{ id: one.id, sealed: two.sealed }], now + 1_000);
  expect(await found(["call_1"])).toBeUndefined();
  await store.put([{ id: two.id, sealed: two.sealed.slice(0, 5) }], now + 1_000);
  expect(await found(["call_2"])).toBeUndefined();
});

describe("bounds", () => {
  test("a day", async () => {
    await kept.keep("Hm.", ["call_1"], ann);
    now += limits.keptThoughtTtlMs - 1;
    expect(await found(["call_1"])).toEqual([["call_1", "Hm."]]);
    now += 1;
    expect(await found(["call_1"])).toBeUndefined();
    await kept.deleteExpired();
    now -= 1;
    expect(await found(["call_1"])).toBeUndefined();
  });

  test("all expired ones are deleted at once, however many there are", async () => {
    for (let number = 0; number < 70; number += 1) {
      const callIds = Array.from({ length: limits.keptThoughtCallsMax }, (_, index) => `call_${number}_${index}`);
      await kept.keep("Hm.", callIds, ann);
    }
    now += limits.keptThoughtTtlMs;
    await kept.deleteExpired();
    expect(rows.length).toBeGreaterThan(1_000);
    expect(
      await store.find(
        rows.map(({ id }) => id),
        0,
      ),
    ).toEqual([]);
  });

  test("256 KiB of one thought", async () => {
    const most = "é".repeat(limits.keptThoughtBytesMax / 2);
    await kept.keep(most, ["call_1"], ann);
    await kept.keep(`${most}.`, ["call_2"], ann);
    await kept.keep("", ["call_3"], ann);
    expect(await found(["call_1"])).toEqual([["call_1", most]]);
    expect(rows).toHaveLength(1);
  });

  test("the thoughts of one request", async () => {
    const long = "x".repeat(limits.keptThoughtBytesMax);
    const most = limits.keptThoughtsReadMax / long.length;
    const ids = Array.from({ length: most + 1 }, (_, index) => `call_${index}`);
    for (const id of ids) await kept.keep(long, [id], ann);
    expect((await found(ids.slice(0, most)))?.length).toBe(most);
    expect(await found(ids)).toBeUndefined();
  });

  test("the calls of one answer", async () => {
    await kept.keep(
      "Hm.",
      Array.from({ length: 100 }, (_, index) => `call_${index}`),
      ann,
    );
    expect(rows).toHaveLength(limits.keptThoughtCallsMax);
  });
});
