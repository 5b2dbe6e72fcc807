/** The contract of every `WebhookSecretStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { inOneCommit, type Steps, type Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { openWebhookSecretStore } from "../../src/webhooks/index.ts";
import { type PostgresServer, startPostgres } from "../kit/index.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)("webhook secrets on %s", (_engine, newStorage) => {
  const madeAt = 2 ** 42;
  const first = { owner: "alice", secret: "one", madeAt };
  let storage: Storage;
  let store: ReturnType<typeof openWebhookSecretStore>;

  beforeEach(async () => {
    storage = await openStorage(await newStorage());
    store = openWebhookSecretStore(storage);
  });
  afterEach(() => storage.close());

  const commit = <Result>(steps: () => Steps<Result>): Promise<Result> => inOneCommit(storage, steps);

  test("are inserted once for each user", async () => {
    expect(await store.find("alice")).toBeUndefined();
    expect(await commit(() => store.insert(first))).toBe(true);
    expect(await commit(() => store.insert({ ...first, secret: "two" }))).toBe(false);
    expect(await commit(() => store.insert({ ...first, owner: "bob", secret: "three" }))).toBe(true);
    expect(await store.find("alice")).toEqual({ secret: "one", previous: undefined, madeAt });
    expect(await store.find("bob")).toMatchObject({ secret: "three" });
    expect(await store.find("Alice")).toBeUndefined();
  });

  test("keep the previous one at a rotation", async () => {
    expect(
      await commit(() =>
        store.rotate({ ...first, secret: "two" }, { previousUntil: madeAt + 9, notAfter: madeAt + 5 }),
      ),
    ).toBe(false);
    expect(await store.find("alice")).toBeUndefined();
    await commit(() => store.insert(first));
    await commit(() => store.insert({ ...first, owner: "bob" }));
    expect(
      await commit(() =>
        store.rotate(
          { owner: "alice", secret: "two", madeAt: madeAt + 5 },
          { previousUntil: madeAt + 9, notAfter: madeAt + 5 },
        ),
      ),
    ).toBe(true);
    const previous = { secret: "one", until: madeAt + 9 };
    expect(await store.find("alice")).toEqual({ secret: "two", previous, madeAt: madeAt + 5 });
    expect(await store.find("bob")).toMatchObject({ secret: "one", previous: undefined });
    await commit(() =>
      store.rotate(
        { owner: "alice", secret: "three", madeAt: madeAt + 6 },
        { previousUntil: madeAt + 10, notAfter: madeAt + 5 },
      ),
    );
    const again = { owner: "alice", secret: "four", madeAt: madeAt + 7 };
    expect(await commit(() => store.rotate(again, { previousUntil: madeAt + 10, notAfter: madeAt + 5 }))).toBe(false);
    expect(await store.find("alice")).toMatchObject({
      secret: "three",
      previous: { secret: "two", until: madeAt + 10 },
    });
  });

  test("are the user's last ones after simultaneous writes", async () => {
    const secrets = Array.from({ length: 8 }, (_, index) => `s${index}`);
    const inserted = await Promise.all(secrets.map((secret) => commit(() => store.insert({ ...first, secret }))));
    expect(inserted.filter(Boolean)).toHaveLength(1);
    await Promise.all(
      secrets.map((secret) =>
        commit(() => store.rotate({ ...first, secret: `r-${secret}` }, { previousUntil: madeAt, notAfter: madeAt })),
      ),
    );
    const found = await store.find("alice");
    expect(found?.secret).toStartWith("r-");
    expect(found?.previous?.secret).toStartWith("r-");
    expect(found?.previous?.secret).not.toBe(found?.secret);
  });
});
