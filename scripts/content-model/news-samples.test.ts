import { expect, test } from "bun:test";
import { scoreSnippets } from "../../bench/extraction/news.ts";
import { articleSample, completed, snippetSample } from "./news-samples.ts";

const html = `<article><p>The council met on Monday, and took a decision about the bridge.</p><p>Nobody was against it.</p></article>
  <ul><li><a href=/a>Another story about a ship</a></li><li><a href=/b>A third story</a></li></ul><footer>Imprint</footer>`;
const page = {
  id: "1",
  url: "https://news.test/1",
  html,
  with: ["took a decision"],
  without: ["story about a ship", "Absent"],
};

test("snippets label their blocks and those at the same place of the template", () => {
  const sample = snippetSample(page);
  expect(sample.known.map(({ label }) => label)).toEqual([1, 1, 0, 0, undefined]);
  expect(sample.known.map(({ hasSnippet }) => hasSnippet)).toEqual([true, false, true, false, false]);
});

test("the opinion of a model fills the gaps, and counts less", () => {
  const { labels, weights } = completed(snippetSample(page), Float32Array.of(0.5, 0.5, 0.5, 0.5, 0.25));
  expect([...labels]).toEqual([1, 1, 0, 0, 0.25]);
  expect(weights[4]).toBeLessThan(weights[3] ?? 0);
});

test("an article teaches nothing about its title", () => {
  const words = "Sentences of some length are what a reader looks for. ".repeat(15);
  const sample = articleSample({
    name: "a-1",
    html: `<h1>The title</h1><p>${words}</p><p>Share this</p>`,
    expected: `<p>${words}</p>`,
    title: "The title",
  });
  expect(sample?.weights[0]).toBe(0);
  expect([...(sample?.labels ?? [])].slice(1)).toEqual([1, 0]);
});

test("snippets are found by their words, whatever the marks", () => {
  const score = scoreSnippets(
    [page],
    () => "# The *council*\n\nIt took a [decision](https://x.test/story-about-a-ship).",
  );
  expect(score).toEqual({ precision: 1, recall: 1, f1: 1 });
  expect(scoreSnippets([page], () => "Took a decision. Another story about a ship").precision).toBe(0.5);
});
