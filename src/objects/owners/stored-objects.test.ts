/** The callers who may refer to stored objects, at the targets of one call. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStorage } from "../../../test/kit/storage.ts";
import type { Storage } from "../../storage/index.ts";
import { type ObjectLookup, openObjectOwnerStore, type ObjectOwnerStore, StoredObjects } from "../index.ts";

let storage: Storage;
let looked: (readonly string[])[];
let objects: StoredObjects;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  looked = [];
  const inner = openObjectOwnerStore(storage);
  const owners: ObjectOwnerStore = {
    ...inner,
    find: (providers, ids, at) => {
      looked.push(providers);
      return inner.find(providers, ids, at);
    },
  };
  objects = new StoredObjects({ owners, clock: () => 1 });
});
afterEach(() => storage.close());

const principal = { user: "alice" };
const at = (prefix: string, lookup?: ObjectLookup) => ({ principal, lookup, route: { prefix, sharedStores: false } });
const reference = (id: string) => ({ kind: "file", id, param: "input" }) as const;

test("all providers of a call are looked up at once, and each answers for itself", async () => {
  await objects.record([{ kind: "file", id: "file_1" }], at("xai"), { keyId: "key-1", ttlMs: 1_000 });
  const others = { ...at("openai"), principal: { user: "bob" } };
  await objects.record([{ kind: "file", id: "file_1" }], others, { keyId: "key-2", ttlMs: 1_000 });
  const lookup = objects.lookup(["openai", "xai", "azure", "xai"]);
  const refusals: unknown[] = [];
  for (const prefix of ["openai", "azure"])
    refusals.push(
      await objects.authorize([reference("file_1")], at(prefix, lookup)).catch((thrown: unknown) => thrown),
    );
  expect(refusals).toMatchObject([{ code: "object_not_found" }, { code: "object_not_found" }]);
  expect(await objects.authorize([reference("file_1")], at("xai", lookup))).toBe("key-1");
  expect(looked).toEqual([["openai", "xai", "azure"]]);
  // Another target may be sent other references.
  await objects.authorize([reference("file_1"), reference("file_1")], at("xai", lookup));
  expect(looked).toHaveLength(1);
  expect(await objects.authorize([reference("file_2")], at("xai", lookup)).catch(() => "none")).toBe("none");
  expect(looked).toHaveLength(2);
});

test("a call with one target looks at its provider alone", async () => {
  await objects.record([{ kind: "file", id: "file_1" }], at("xai"), { keyId: "key-1", ttlMs: 1_000 });
  expect(await objects.authorize([reference("file_1")], at("xai"))).toBe("key-1");
  expect(looked).toEqual([["xai"]]);
});
