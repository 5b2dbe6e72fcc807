import { expect, test } from "bun:test";
import { withBroughtIn, withToolRuns, type WorkBound } from "./work-bound.ts";

const bound: WorkBound = { inputTokens: 100, outputTokens: 10, choices: 1, unsizedParts: { parts: 1, tokens: 40 } };

test.each([
  [0, 100],
  [1, 8_100],
  [3, 24_100],
  [6, 48_100],
  [7, 50_100],
  [1_000_000, 50_100],
])(
  "%d searches bring in what is documented for each, but no more than is held for a file",
  (webSearches, inputTokens) => {
    const held = withBroughtIn({ ...bound, toolUnits: { webSearches } });
    const isMore = webSearches > 0;
    expect(held.inputTokens).toBe(inputTokens);
    expect(held.unsizedParts).toEqual({ parts: isMore ? 2 : 1, tokens: inputTokens - 60 });
  },
);

test("each kind of search is counted, and no other work of tools", () => {
  const toolUnits = { webSearches: 1, previewSearches: 1, storageSearches: 1, containerGb: 64 };
  expect(withBroughtIn({ ...bound, toolUnits }).inputTokens).toBe(24_100);
});

test("the runs that the gateway allows are added to those that the request allows", () => {
  const own = withBroughtIn({ ...bound, toolUnits: { storageSearches: 2 } });
  const asked = { ...own, toolRuns: { most: 3, each: { toolUnits: { webSearches: 1 } } } };
  const held = withBroughtIn(withToolRuns(asked, 3), asked.toolUnits);
  expect(held.toolUnits).toEqual({ storageSearches: 2, webSearches: 3 });
  expect([own.inputTokens, held.inputTokens]).toEqual([16_100, 40_100]);
  expect(held.unsizedParts).toEqual({ parts: 2, tokens: 40_040 });
});
