/** The contract of every `CatalogStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openCatalogStore } from "../../src/pricing/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

function describeCatalogStore(name: string, open: () => Promise<Storage>): void {
  describe(`the operator's price catalog on ${name}`, () => {
    let storage: Storage;

    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());

    test("is found by its location, by any process", async () => {
      expect(await openCatalogStore(storage).find("a")).toBeUndefined();
      await openCatalogStore(storage).put("a", { text: '{"ä": "\u{1f642}"}', readAt: 2 ** 42 });
      expect(await openCatalogStore(storage).find("a")).toEqual({ text: '{"ä": "\u{1f642}"}', readAt: 2 ** 42 });
      expect(await openCatalogStore(storage).find("b")).toBeUndefined();
      expect(await openCatalogStore(storage).readAt("a")).toBe(2 ** 42);
      expect(await openCatalogStore(storage).readAt("b")).toBeUndefined();
    });

    test("is replaced by the next one, also of another location", async () => {
      const store = openCatalogStore(storage);
      await store.put("a", { text: "1", readAt: 1 });
      await store.put("a", { text: "2", readAt: 2 });
      expect(await store.find("a")).toEqual({ text: "2", readAt: 2 });
      await store.put("b", { text: "3", readAt: 3 });
      expect(await store.find("a")).toBeUndefined();
      expect(await store.find("b")).toEqual({ text: "3", readAt: 3 });
    });

    test("may be large", async () => {
      const text = "x".repeat(4 * 1024 * 1024);
      await openCatalogStore(storage).put("a", { text, readAt: 1 });
      expect((await openCatalogStore(storage).find("a"))?.text).toBe(text);
    });
  });
}

describeCatalogStore("sqlite", () => openStorage("sqlite::memory:"));

describe("with a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  describeCatalogStore("postgres", async () => openStorage(await server.createDatabase()));
});
