import { expect, test } from "bun:test";
import type { JsonObject } from "../core/index.ts";
import { CallTags, type TagOwner } from "./call-tags.ts";
import type { TagValueStore } from "./store.ts";

/** Values by organisation and key, and how often they were asked for. */
function memoryStore() {
  const stored = new Map<string, Set<string>>();
  let asked = 0;
  const store: TagValueStore = {
    add({ organisation, key }, value, valuesMax) {
      asked += 1;
      const values = stored.get(`${organisation}/${key}`) ?? new Set();
      if (values.size < valuesMax) values.add(value);
      stored.set(`${organisation}/${key}`, values);
      return Promise.resolve(new Set(values));
    },
  };
  return { store, asked: () => asked };
}

const acme: TagOwner = {
  organisation: "acme",
  tags: ["env", "team"],
  metadata: { team: "own", cost: "9", env: "dev" },
};
const plain: TagOwner = { organisation: "acme", tags: ["env", "team"] };
/** The tags of a call that was held. */
async function heldTags(tags: CallTags, ...call: Parameters<CallTags["of"]>) {
  const { keep, ...found } = tags.of(...call);
  await keep?.();
  return found;
}

const own = (text: string) => new Headers({ "x-tollgate-tags": text });

interface Row {
  owner: TagOwner;
  headers?: Headers;
  body?: JsonObject;
  tags?: Record<string, string>;
  dropped?: string;
}

test.each<[string, Row]>([
  ["of the token", { owner: acme, tags: { env: "dev", team: "own" } }],
  ["of the body before the token", { owner: acme, body: { metadata: { team: "b" } }, tags: { env: "dev", team: "b" } }],
  [
    "of the header before both",
    { owner: acme, headers: own("team=h"), body: { metadata: { team: "b" } }, tags: { env: "dev", team: "h" } },
  ],
  ["none", { owner: plain, body: { metadata: { user_id: "u" } } }],
  [
    "undeclared ones, named",
    { owner: plain, headers: own("team=a,cost=1,x=2"), tags: { team: "a" }, dropped: "cost, x" },
  ],
  ["a malformed header, named", { owner: plain, headers: own("team"), dropped: "x-tollgate-tags" }],
  ["of no organisation", { owner: { organisation: undefined }, headers: own("team=a"), dropped: "team" }],
  ["none declared", { owner: { ...acme, tags: undefined }, headers: own("team=a"), dropped: "team" }],
  ["values that no tag has", { owner: plain, body: { metadata: { team: "a\nb", env: 7 } } }],
  ["metadata that is no object", { owner: plain, body: { metadata: "team" } }],
  ["names of every object", { owner: { ...plain, tags: ["constructor"] }, body: { metadata: {} } }],
])("%s", async (_, { owner, headers = new Headers(), body, tags, dropped }) => {
  expect(await heldTags(new CallTags(memoryStore().store), owner, headers, body)).toEqual({ tags, dropped });
});

test("the keys of the tags are in one order, whoever names them", async () => {
  const tags = new CallTags(memoryStore().store);
  const texts = ["team=a,env=b", "env=b,team=a", "env=b, team=a"].map(async (text) =>
    JSON.stringify((await heldTags(tags, acme, own(text), undefined)).tags),
  );
  expect(new Set(await Promise.all(texts))).toEqual(new Set(['{"env":"b","team":"a"}']));
});

test("values beyond the bound are `other`; those that are known, and a full key, ask nothing", async () => {
  const { store, asked } = memoryStore();
  const tags = new CallTags(store, 3);
  const valueOf = async (value: string) =>
    (await heldTags(tags, plain, own(`team=${value}`), undefined)).tags?.["team"];
  expect([await valueOf("a"), await valueOf("b"), await valueOf("c"), await valueOf("d")]).toEqual([
    "a",
    "b",
    "c",
    "other",
  ]);
  expect(asked()).toBe(3);
  expect([await valueOf("a"), await valueOf("e"), await valueOf("f")]).toEqual(["a", "other", "other"]);
  expect(asked()).toBe(3);
  // Of another organisation they are others.
  const beta = await heldTags(tags, { ...plain, organisation: "beta" }, own("team=e"), undefined);
  expect(beta.tags).toEqual({ team: "e" });
  expect(tags.of(plain, own("team=a"), undefined).keep).toBeUndefined();
});

test("tags have a bounded length in all, since sums have them in their key", async () => {
  const keys = Array.from({ length: 16 }, (_, index) => `key-${String(index).padStart(2, "0")}`);
  const metadata = Object.fromEntries(keys.map((key) => [key, "\u6f22".repeat(128)]));
  const owner = { organisation: "acme", tags: keys, metadata };
  const { tags, dropped } = await heldTags(new CallTags(memoryStore().store), owner, new Headers(), undefined);
  expect(Object.keys(tags ?? {})).toEqual(["key-00", "key-01"]);
  expect(Buffer.byteLength(JSON.stringify(tags))).toBeLessThanOrEqual(1_024);
  expect(dropped?.split(", ")).toEqual(keys.slice(2));
});

test("calls that are refused use up no values", async () => {
  const { store, asked } = memoryStore();
  const tags = new CallTags(store, 1);
  for (const value of ["x", "y"])
    expect(tags.of(plain, own(`team=${value}`), undefined).tags).toEqual({ team: "other" });
  expect(asked()).toBe(0);
  expect((await heldTags(tags, plain, own("team=z"), undefined)).tags).toEqual({ team: "z" });
});

test("values that have been used last are remembered, and others are asked for again", async () => {
  const { store, asked } = memoryStore();
  const tags = new CallTags(store, 1_000, 4);
  const use = (organisation: string, value: string) =>
    heldTags(tags, { ...plain, organisation }, own(`team=${value}`), undefined);
  for (const value of ["a", "b"]) for (const organisation of ["acme", "beta"]) await use(organisation, value);
  await use("acme", "a");
  await use("gamma", "a");
  expect(asked()).toBe(5);
  await use("acme", "b");
  expect(asked()).toBe(5);
  await use("beta", "a");
  expect(asked()).toBe(6);
});
