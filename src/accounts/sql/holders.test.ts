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

/** Of projects alone. */
const members = [
  "CORRELATED SCALAR SUBQUERY 2",
  "CO-ROUTINE (subquery-1)",
  "SEARCH project_members USING PRIMARY KEY (project_id=?)",
  "SCAN (subquery-1)",
];

test("one holder, and the users of an organisation, are found without reading all users", () => {
  expect(planOf(selectHolder("user", "ann"))).toEqual([
    "SEARCH account_holders USING PRIMARY KEY (kind=? AND id=?)",
    "SCALAR SUBQUERY 3",
    "SEARCH account_holders USING INDEX account_holders_by_name (kind=? AND name=?)",
    ...members,
  ]);
  expect(planOf(selectHolders("user", { limit: 10, after: "", organisation: "acme" }))).toEqual([
    "SEARCH account_holders USING INDEX account_holders_by_organisation (organisation_id=? AND id>?)",
    ...members,
  ]);
  expect(planOf(selectHolders("project", { limit: 10, after: "", member: "ann" }))).not.toContain(
    "SCAN account_holders",
  );
});
