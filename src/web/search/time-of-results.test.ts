import { expect, test } from "bun:test";
import { timeOfResults } from "./time-of-results.ts";

const NOW = Date.UTC(2026, 4, 10, 12);

test.each<[string, object]>([
  ["", {}],
  ["qdr:h", { since: NOW - 3_600_000 }],
  ["qdr:d3,sbd:1", { since: NOW - 3 * 86_400_000, isNewestFirst: true }],
  ["qdr:m", { since: NOW - 31 * 86_400_000 }],
  ["cdr:1,cd_min:1/31/2026,cd_max:02/28/2026", { since: Date.UTC(2026, 0, 31), until: Date.UTC(2026, 2, 1) }],
  ["qdr:x, lr:lang_de", { ignored: ["tbs: qdr:x", "tbs: lr:lang_de"] }],
])("%s", (tbs, expected) => {
  expect(timeOfResults(tbs, NOW)).toEqual({ isNewestFirst: false, ignored: [], ...expected });
});
