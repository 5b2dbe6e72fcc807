import { describe, expect, test } from "bun:test";
import { pageOf, pageQuery } from "./page.ts";

const all = Array.from({ length: 25 }, (_, index) => ({ id: `m${index + 1}` }));

function page(query: Parameters<typeof pageOf>[1], items = all) {
  const { data, ...rest } = pageOf(items, query);
  return { ids: data.map(({ id }) => id), ...rest };
}

describe("a page", () => {
  test("has 20 items by default, and says that there are more", () => {
    const { ids, ...rest } = page({});
    expect(ids).toEqual(all.slice(0, 20).map(({ id }) => id));
    expect(rest).toEqual({ has_more: true, first_id: "m1", last_id: "m20" });
  });

  test.each<[Parameters<typeof pageOf>[1], string[], boolean]>([
    [{ limit: 2 }, ["m1", "m2"], true],
    [{ limit: 2, after_id: "m3" }, ["m4", "m5"], true],
    [{ limit: 2, after_id: "m23" }, ["m24", "m25"], false],
    [{ limit: 2, after_id: "m25" }, [], false],
    [{ limit: 2, before_id: "m4" }, ["m2", "m3"], true],
    [{ limit: 2, before_id: "m3" }, ["m1", "m2"], false],
    [{ limit: 2, before_id: "m1" }, [], false],
    [{ after_id: "m3", before_id: "m6" }, ["m4", "m5"], false],
    [{ after_id: "m6", before_id: "m3" }, [], false],
    [{ after_id: "nobody" }, [], false],
    [{ before_id: "nobody" }, [], false],
    [{ limit: 1_000, after_id: "m24" }, ["m25"], false],
  ])("%j has %j", (query, ids, more) => {
    expect(page(query)).toEqual({ ids, has_more: more, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null });
  });

  test("of nothing is empty", () => {
    expect(page({}, [])).toEqual({ ids: [], has_more: false, first_id: null, last_id: null });
  });

  test("following the last id of each page shows every item once", () => {
    const seen: string[] = [];
    let after: string | undefined;
    for (let more = true; more;) {
      const { ids, has_more: hasMore, last_id: last } = page({ limit: 4, ...(after ? { after_id: after } : {}) });
      seen.push(...ids);
      [more, after] = [hasMore, last ?? undefined];
    }
    expect(seen).toEqual(all.map(({ id }) => id));
  });

  test.each(["0", "1001", "1.5", "many"])("of %p items is none", (limit) => {
    expect(pageQuery.safeParse({ limit }).success).toBe(false);
  });
});
