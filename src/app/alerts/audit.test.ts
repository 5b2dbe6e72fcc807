import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLedgerStore } from "../../ledger/index.ts";
import { query } from "../../../test/kit/engines.ts";
import { auditOf } from "./audit.ts";
import { openStorage } from "../storage.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each(["a file", "memory"])("the books in %s are audited while a gateway has them open", async (place) => {
  const storage = await openStorage(place === "memory" ? "sqlite::memory:" : `sqlite:${join(folder, "a.db")}`);
  const nobody = { parentId: undefined, prepaid: true, maxBudget: undefined, period: undefined };
  await openLedgerStore(storage).createAccount({ ...nobody, id: "user:u", kind: "user", name: "u" }, 0);
  expect(await auditOf(storage)).toEqual([]);
  await query(storage, "UPDATE accounts SET debits_posted = 5");
  expect(await auditOf(storage)).toEqual([
    { accountId: "user:u", counter: "debits_posted", recorded: 5n, recomputed: 0n },
  ]);
  await storage.close();
});
