import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Statement, Storage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { selectHolder, selectHolders } from "./holders.ts";

let storage: Storage;
beforeAll(async () => {
  storage = await openStorage("sqlite::memory:");
});
afterAll(() => storage.close());

function planOf({ template, values }: Statement): string[] {
  if (storage.engine !== "sqlite") throw new Error("a plan of SQLite is expected");
  const rows = storage.handle
    .query<{ detail: string }, (typeof values)[number][]>(`EXPLAIN QUERY PLAN ${template.textFor("sqlite")}`)
    .all(...values);
  return rows.map(({ detail }) => detail);
}

test("one holder, and the users of an organisation, are found without reading all users", () => {
  expect(planOf(selectHolder("user", "ann"))).toEqual([
    "SEARCH account_holders USING PRIMARY KEY (kind=? AND id=?)",
    "SCALAR SUBQUERY 1",
    "SEARCH account_holders USING INDEX account_holders_by_name (kind=? AND name=?)",
  ]);
  expect(planOf(selectHolders("user", { limit: 10, after: "", organisation: "acme" }))).toEqual([
    "SEARCH account_holders USING INDEX account_holders_by_organisation (organisation_id=? AND id>?)",
  ]);
});
