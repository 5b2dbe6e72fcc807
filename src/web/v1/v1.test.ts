import { describe, expect, test } from "bun:test";
import { mapV1, scrapeV1, searchV1 } from "./bodies.ts";
import { errorsForV1, jobFromV1, statusForV1, storedDocumentForV1 } from "./jobs.ts";

const schema = { type: "object" };

describe("the options of a page", () => {
  test.each([
    [{ url: "u" }, { url: "u", maxAge: 0 }],
    [
      { url: "u", maxAge: 5 },
      { url: "u", maxAge: 5 },
    ],
    [{ formats: ["markdown", "screenshot@fullPage"] }, { maxAge: 0, formats: ["markdown", "screenshot@fullPage"] }],
    [{ parsePDF: false }, { maxAge: 0, parsers: [] }],
    [{ parsePDF: true }, { maxAge: 0 }],
    [
      { formats: ["json"], jsonOptions: { schema, systemPrompt: "Be exact.", prompt: "The title." } },
      { maxAge: 0, formats: [{ type: "json", schema, prompt: "Be exact.\n\nThe title." }] },
    ],
    [
      { formats: ["extract"], extract: { schema } },
      { maxAge: 0, formats: [{ type: "json", schema }] },
    ],
    [
      { formats: ["extract", "json"], jsonOptions: { prompt: "x" } },
      { maxAge: 0, formats: [{ type: "json", prompt: "x" }] },
    ],
    [
      { formats: ["changeTracking"], changeTrackingOptions: { modes: ["git-diff"] } },
      { maxAge: 0, formats: [{ type: "changeTracking", modes: ["git-diff"] }] },
    ],
    // Left for v2 to refuse, by its name.
    [{ jsonOptions: { schema } }, { maxAge: 0, jsonOptions: { schema } }],
    [{ formats: "markdown" }, { maxAge: 0, formats: "markdown" }],
    [{ formats: [7, null] }, { maxAge: 0, formats: [7, null] }],
  ])("%j", (given, expected) => {
    expect(scrapeV1.request(given)).toEqual(expected);
  });
});

test("a page's object has the name that was asked for", () => {
  const answer = { success: true, data: { json: { a: 1 } } };
  expect(scrapeV1.answer(answer, { formats: ["json"] })["data"]).toEqual({ json: { a: 1 } });
  expect(scrapeV1.answer(answer, { formats: ["extract"] })["data"]).toEqual({ json: { a: 1 }, extract: { a: 1 } });
  expect(storedDocumentForV1('{"json":1}', true)).toBe('{"extract":1,"json":1}');
  // Stored by both names, and not read.
  expect(storedDocumentForV1('{"extract":1,"json":', true)).toBe('{"extract":1,"json":');
});

test("a map has addresses alone", () => {
  expect(mapV1.request({ url: "u", sitemapOnly: true, useIndex: false })).toEqual({ url: "u", sitemap: "only" });
  expect(mapV1.request({ url: "u", ignoreSitemap: true })).toEqual({ url: "u", sitemap: "skip" });
  expect(mapV1.answer({ success: true, links: [{ url: "a", title: "A" }] }, {})).toEqual({
    success: true,
    links: ["a"],
  });
});

test("a search without formats reads no page", () => {
  expect(searchV1.request({ query: "q", scrapeOptions: { formats: [] } })).toEqual({ query: "q", limit: 5 });
  expect(searchV1.request({ query: "q", limit: 2, scrapeOptions: { formats: ["links"] } })).toEqual({
    query: "q",
    limit: 2,
    scrapeOptions: { maxAge: 0, formats: ["links"] },
  });
  const answer = { success: true, data: { web: [{ url: "a" }] }, warning: null };
  expect(searchV1.answer(answer, {})).toEqual({ success: true, data: [{ url: "a" }] });
});

describe("a crawl", () => {
  const excluded = (body: object): RegExp => {
    const { excludePaths } = jobFromV1("crawl", { ...body }) as { excludePaths: string[] };
    return new RegExp(excludePaths.at(-1) ?? "");
  };

  test("has the names of v2", () => {
    const body = { url: "u", ignoreSitemap: true, allowBackwardLinks: true, scrapeOptions: { formats: ["links"] } };
    expect(jobFromV1("crawl", body)).toMatchObject({
      url: "u",
      sitemap: "skip",
      crawlEntireDomain: true,
      scrapeOptions: { formats: ["links"], maxAge: 0 },
    });
  });

  test("maxDepth counts the segments below the start", () => {
    const pattern = excluded({ url: "https://a.org/docs/", maxDepth: 1, excludePaths: ["x"] });
    expect(["/docs/a/b", "/docs/a/b/c"].every((path) => pattern.test(path))).toBe(true);
    expect(["/", "/docs/", "/docs/a", "/docs/a/"].some((path) => pattern.test(path))).toBe(false);
    const full = excluded({ url: "a.org", maxDepth: 1, regexOnFullURL: true });
    expect(full.test("https://a.org/b/c")).toBe(true);
    expect(full.test("https://a.org/b?c=/d/e")).toBe(false);
    expect(jobFromV1("crawl", { url: "a.org", maxDepth: 500 })["excludePaths"]).toBeUndefined();
  });
});

test("a batch has its options beside the addresses", () => {
  const body = { urls: ["u"], webhook: "w", formats: ["json"], jsonOptions: { prompt: "p" } };
  expect(jobFromV1("batch", body)).toEqual({
    ignoreInvalidURLs: false,
    urls: ["u"],
    webhook: "w",
    maxAge: 0,
    formats: [{ type: "json", prompt: "p" }],
  });
});

test("the status of a job has no next without more, and whole credits for Python", () => {
  expect(statusForV1({ status: "completed", next: null }, undefined, 0.5)).toEqual({
    status: "completed",
    creditsUsed: 0.5,
  });
  expect(statusForV1({ next: "n" }, "python-sdk@2.16.5", 1.5)).toEqual({ creditsUsed: 1, next: "n" });
  expect(errorsForV1({ errors: [{ url: "u", count: 2 }], robotsBlocked: [] })).toEqual({
    errors: [{ url: "u" }],
    robotsBlocked: [],
  });
});
