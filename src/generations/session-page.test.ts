import { expect, test } from "bun:test";
import fc from "fast-check";
import { SessionPage } from "./session-page.ts";

test("has the first sessions after the cursor with all of their calls, in whatever order these come", () => {
  const names = fc.integer({ min: 0, max: 4_000 }).map((number) => `s${number}`);
  fc.assert(
    fc.property(
      fc.array(names, { maxLength: 9_000, size: "max" }),
      fc.integer({ min: 1, max: 500 }),
      fc.option(names, { nil: undefined }),
      (calls, groupsMax, after) => {
        const groups = new Map<string, number>();
        const page = new SessionPage(groups, { groupsMax, ...(after !== undefined && { after }) });
        for (const [index, session] of calls.entries()) {
          if (!page.excludes(session)) groups.set(session, (groups.get(session) ?? 0) + 1);
          if (index % 100 === 0) page.trim();
          expect(groups.size).toBeLessThanOrEqual(groupsMax + 1 + 1_000 + 100);
        }
        const counts = new Map<string, number>();
        for (const session of calls) counts.set(session, (counts.get(session) ?? 0) + 1);
        const later = [...counts].filter(([name]) => after === undefined || name > after);
        const wanted = later.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, groupsMax + 1);
        const got = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, groupsMax + 1);
        expect(got).toEqual(wanted);
      },
    ),
    { numRuns: 20 },
  );
});

test("has no calls without a session", () => {
  expect(new SessionPage(new Map(), { groupsMax: 1 }).excludes("")).toBe(true);
});
