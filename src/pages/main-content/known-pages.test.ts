import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { isTag, isText, type ChildNode } from "domhandler";
import { parseHtml } from "../html/parse.ts";
import { mainContent } from "./main-content.ts";
import type { PageType } from "./model/model.ts";

interface KnownPage {
  readonly id: string;
  readonly url: string;
  readonly type: PageType;
  readonly content: string;
}

const folder = resolve(import.meta.dir, "../../../../shared/web-bench");
const truthFile = join(folder, "ground-truth.jsonl.gz");
const present = existsSync(truthFile);
if (!present) console.log(`skipped: the main content of known pages, there is no ${folder}`);

/** Every page would take half a minute. */
const pagesByType = 10;
/** A little below the scores of these pages. */
const floors: Readonly<Record<PageType, number>> = {
  article: 0.9,
  collection: 0.65,
  documentation: 0.85,
  forum: 0.7,
  listing: 0.65,
  product: 0.65,
  service: 0.8,
};

function unzip(path: string): string {
  return gunzipSync(readFileSync(path)).toString("utf8");
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function textOf(nodes: readonly ChildNode[]): string {
  const pieces: string[] = [];
  const waiting = nodes.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isText(node)) pieces.push(node.data);
    else if (isTag(node)) waiting.push(...node.children.toReversed());
  }
  return pieces.join("\n");
}

function f1Of(found: readonly string[], expected: readonly string[]): number {
  if (expected.length === 0) return found.length === 0 ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of expected) left.set(word, (left.get(word) ?? 0) + 1);
  let both = 0;
  for (const word of found) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    both += 1;
  }
  return (2 * both) / (found.length + expected.length);
}

describe.skipIf(!present)("the main content of known pages agrees with what readers call it", () => {
  const known = present
    ? unzip(truthFile)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as KnownPage)
    : [];

  test.each(Object.entries(floors))("of the type %s: a mean F1 of %d at least", (type, floor) => {
    const pages = known.filter((page) => page.type === type);
    const some = pages.filter((_, index) => index % Math.ceil(pages.length / pagesByType) === 0);
    const scores = some.map(({ id, url, content }) => {
      const { nodes } = mainContent(parseHtml(unzip(join(folder, "dev", `${id}.html.gz`))), { url });
      return f1Of(wordsOf(textOf(nodes)), wordsOf(content));
    });
    expect(scores.reduce((sum, score) => sum + score, 0) / scores.length).toBeGreaterThan(floor);
  });
});
