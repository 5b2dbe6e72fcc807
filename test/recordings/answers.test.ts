/**
 * Every recorded answer is read by the reader of its dialect and written for clients of each dialect; the client's content
 * is compared with the recording's, both read by extractors of this folder.
 */
import { describe, expect, test } from "bun:test";
import type { Dialect } from "../../src/core/index.ts";
import { answersTo, isTakenForFailure, originOf, saidBy, usagesOf } from "./answered.ts";
import { isKnownCharge, knownAspects, knownDifferences } from "./known-differences.ts";
import { type Recording, recordings } from "./recordings.ts";
import type { Counts } from "./said.ts";
import { differencesOf, shownIn } from "./shown.ts";

const answers = recordings.filter(({ status }) => status === 200);
const dialects: readonly Dialect[] = ["chat", "messages", "responses", "gemini"];

const nameOf = ({ id, upstream, dialect, stream }: Recording): string =>
  `${id}, ${stream ? "a stream" : "an answer"} of ${upstream} in ${dialect}`;

describe.each(dialects)("a client of %s gets the upstream's content", (dialect) => {
  test.each(answers.map((recording) => ({ name: nameOf(recording), recording })))("$name", ({ recording }) => {
    const expected = shownIn({ dialect, own: dialect === recording.dialect }, saidBy(recording));
    const known = knownAspects(recording.id, dialect);
    for (const said of answersTo(dialect, recording)) {
      const differences = differencesOf(expected, shownIn({ dialect, own: true }, said), originOf(recording));
      for (const [aspect, values] of differences) if (!known.includes(aspect)) expect({ aspect, ...values }).toBeNull();
      const gone = known.filter((aspect) => !differences.has(aspect));
      expect(gone, "no longer differs: take it out of known-differences.ts").toEqual([]);
    }
  });
});

/** Counts beside those of tokens. */
const others: ReadonlySet<string> = new Set(["requests", "webSearches", "storageSearches", "containerGb"]);

/** The counts of tokens; undefined if nothing is counted. */
function filled(counts: Counts | undefined): Counts | undefined {
  const entries = Object.entries(counts ?? {}).filter(([name, tokens]) => tokens !== 0 && !others.has(name));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** A stream that breaks off is charged by an estimate. */
const whole = answers.filter((recording) => saidBy(recording).failure === undefined);

describe("the charge follows the upstream's counts, whether its bytes pass or are translated", () => {
  test.each(whole.map((recording) => ({ name: nameOf(recording), recording })))("$name", ({ recording }) => {
    const expected = filled(saidBy(recording).usage);
    for (const observed of usagesOf(recording)) {
      const charged = filled(observed?.usage);
      if (!isKnownCharge(recording.id)) expect(charged).toEqual(expected);
      else expect(charged, "no longer differs: take it out of known-differences.ts").not.toEqual(expected);
    }
  });
});

test("searches of the web are counted", () => {
  const searches = whole.flatMap((recording) =>
    usagesOf(recording).flatMap((observed): [number, number][] => {
      const count = observed?.usage.webSearches ?? 0;
      return count === 0 ? [] : [[recording.id, count]];
    }),
  );
  // As their `web_search_requests`, `num_requests` and `num_server_side_tools_used` say, and OpenAI's and DeepSeek's by their items.
  expect(Object.fromEntries(searches)).toEqual({
    281: 1,
    322: 2,
    323: 1,
    394: 1,
    396: 2,
    399: 1,
    596: 2,
    620: 1,
    623: 1,
    642: 10,
    644: 10,
    645: 5,
    2142: 1,
    2144: 1,
    2145: 1,
    2148: 2,
    2150: 2,
    2775: 6,
    // For each answer, not for each query, before the third generation.
    3017: 1,
    3018: 1,
    3019: 1,
    3029: 1,
  });
});

test("no whole answer is taken for a failure", () => {
  const taken = answers.filter(({ stream }) => !stream).filter(isTakenForFailure);
  expect(taken.map(nameOf)).toEqual([]);
});

test("known differences name existing recordings", () => {
  const ids = new Set(answers.map(({ id }) => id));
  expect(knownDifferences.flatMap((known) => known.ids.filter((id) => !ids.has(id)))).toEqual([]);
});
