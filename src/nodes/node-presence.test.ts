import { expect, test } from "bun:test";
import { NodePresence } from "./node-presence.ts";
import type { NodeStore } from "./store.ts";

test("a store that throws at once ends nothing, neither at the start nor at a beat nor at the end", async () => {
  const asked: string[] = [];
  const store = new Proxy(
    {},
    {
      get: (_, name) => () => {
        asked.push(String(name));
        throw new Error("the database is locked");
      },
    },
  ) as NodeStore;
  const presence = new NodePresence({
    store,
    clock: () => 0,
    node: { host: "h", pid: 1, version: "1", port: undefined },
    fingerprint: () => ({}),
    perform: () => Promise.resolve({}),
    every: () => () => undefined,
  });
  expect(await presence.beat()).toBe(false);
  await presence.leave();
  expect(asked).toEqual(["announce", "beat", "leave"]);
});
