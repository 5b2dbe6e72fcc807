import { expect, test } from "bun:test";
import { globsMeet } from "../../core/index.ts";
import { canMeet } from "./budgets-beside.ts";

/** As the definition says: every pair of so many lists has globs that meet. */
function canMeetByPairs(lists: readonly (readonly string[])[], count: number): boolean {
  if (count === 0) return true;
  return lists.some((list, index) => {
    const further = lists
      .slice(index + 1)
      .filter((other) => list.some((glob) => other.some((each) => globsMeet(glob, each))));
    return further.length >= count - 1 && canMeetByPairs(further, count - 1);
  });
}

test("lists meet as their pairs do", () => {
  let seed = 7;
  const below = (count: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % count;
  };
  const words = ["openai/", "openai/gpt", "xai/", "anthropic/claude", "a", ""];
  const ends = ["", "*", "-5", "*mini", "*-5*"];
  const outcomes = new Set<boolean>();
  for (let turn = 0; turn < 3_000; turn += 1) {
    const glob = (): string => `${words[below(words.length)]}${ends[below(ends.length)]}` || "*";
    const lists = Array.from({ length: 1 + below(8) }, () => Array.from({ length: 1 + below(3) }, glob));
    const count = 2 + below(4);
    const expected = canMeetByPairs(lists, count);
    expect([lists, count, canMeet(lists, count)]).toEqual([lists, count, expected]);
    outcomes.add(expected);
  }
  expect(outcomes.size).toBe(2);
});

test("many lists are judged by what they have in common", () => {
  const lists = Array.from({ length: 5_000 }, (_, index) => [`p${index}/*`, `q/${index}-*`, `q/${index}`]);
  expect(canMeet([...lists, ["*"], ["q/*"]], 5)).toBe(false);
  expect(canMeet([...lists, ["*"], ["*"], ["*"], ["*"]], 5)).toBe(true);
});
