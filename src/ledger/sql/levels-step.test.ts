import { expect, test } from "bun:test";
import { openStorage } from "../../../test/kit/storage.ts";
import type { Account } from "../accounts.ts";
import { LEVELS } from "./levels-step.ts";
import { openLedgerStore } from "./open.ts";

const account = (id: string, parentId: string | undefined): Account => {
  const [kind, name = ""] = id.split(":");
  return { id, kind: kind as Account["kind"], name, parentId, prepaid: false, maxBudget: undefined, period: undefined };
};

test("calls that are open during the step count in all accounts above them", async () => {
  const storage = await openStorage("sqlite::memory:");
  if (storage.engine !== "sqlite") throw new Error("this is no SQLite");
  const store = openLedgerStore(storage);
  for (const [id, parentId] of [
    ["organisation:o", undefined],
    ["user:a", "organisation:o"],
    ["user:b", "organisation:o"],
    ["user:c", undefined],
    ["token:a1", "user:a"],
    ["token:a2", "user:a"],
    ["token:b1", "user:b"],
    ["token:c1", "user:c"],
    ["token:s", undefined],
  ] as const)
    await store.putAccount(account(id, parentId), 1);
  const call = { operation: "chat", provider: "up", model: "m", dialect: undefined, streamed: false } as const;
  const owners = ["token:a1", "token:a1", "token:a2", "token:b1", "token:s"];
  await store.commit(
    owners.map((accountId, index) => ({
      id: `h${index}`,
      accountId,
      amount: 1n,
      at: 1_000,
      leaseUntil: 60_000,
      ...call,
      kind: "hold",
    })),
  );
  const counts = () => storage.handle.query("SELECT id, open_calls FROM accounts ORDER BY id").all();
  const before = counts();
  // As the previous version left them.
  storage.handle.run("UPDATE accounts SET open_calls = 0 WHERE kind <> 'token'");
  storage.handle.run(LEVELS.sqlite);
  expect(counts()).toEqual(before);
  expect(counts()).toContainEqual({ id: "organisation:o", open_calls: 4n });
  expect((await openLedgerStore(storage).audit()).drifts).toEqual([]);
  await storage.close();
});
