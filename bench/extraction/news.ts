import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { plainText } from "./score.ts";

/** Beside the checkout, or in `data/`; `TOLLGATE_NEWS_DEV` names another place. Its README describes the files. */
const places = [resolve(import.meta.dir, "../../../shared/news-dev"), resolve(import.meta.dir, "../../data/news-dev")];
export const newsFolder =
  process.env["TOLLGATE_NEWS_DEV"] ?? places.find((place) => existsSync(place)) ?? places[0] ?? "";

const snippetPages = "mixed-dev.tar.zst";
const articlePages = "readability-pages.tar.zst";

/** A page with texts that its content must have, and texts that it must not. */
export interface SnippetPage {
  readonly id: string;
  readonly url: string;
  readonly html: string;
  readonly with: readonly string[];
  readonly without: readonly string[];
}

/** An article with what another extractor took for its content. */
export interface ExtractedArticle {
  readonly name: string;
  readonly html: string;
  readonly expected: string;
  readonly title: string;
}

export function hasNews(): boolean {
  return existsSync(join(newsFolder, snippetPages));
}

export function readSnippetPages(): SnippetPage[] {
  return unpacked(snippetPages, (folder) =>
    readFileSync(join(folder, "truth.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Omit<SnippetPage, "html">)
      .map((page) => ({ ...page, html: readFileSync(join(folder, `${page.id}.html`), "utf8") })),
  );
}

export function readArticles(): ExtractedArticle[] {
  return unpacked(articlePages, (folder) => {
    const pages = join(folder, "test-pages");
    const read = (name: string, file: string): string => readFileSync(join(pages, name, file), "utf8");
    return readdirSync(pages)
      .filter((name) => existsSync(join(pages, name, "expected.html")))
      .map((name) => {
        const { title = "" } = JSON.parse(read(name, "expected-metadata.json")) as { title?: string | null };
        const html = read(name, "source.html");
        return { name, html, expected: read(name, "expected.html"), title: title ?? "" };
      });
  });
}

function unpacked<T>(archive: string, read: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-news-"));
  try {
    const program = "--use-compress-program=zstd -d --long=27";
    const { success } = Bun.spawnSync(["tar", program, "-xf", join(newsFolder, archive), "-C", folder]);
    if (!success) throw new Error(`tar and zstd could not unpack ${archive}`);
    return read(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** How many of the snippets that must be in a text are in it, how many of all that are in it may be, and both as one figure. */
export interface SnippetScore {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** As `evaluate.mjs` of the pages counts: by words, so that the marks of Markdown don't matter. */
export function scoreSnippets(pages: readonly SnippetPage[], textOf: (page: SnippetPage) => string): SnippetScore {
  let right = 0;
  let wrong = 0;
  let wanted = 0;
  for (const page of pages) {
    const text = wordsIn(textOf(page));
    const isIn = (snippet: string): boolean => text.includes(wordsIn(snippet));
    const asked = page.with.filter((snippet) => wordsIn(snippet).trim() !== "");
    wanted += asked.length;
    right += asked.filter(isIn).length;
    wrong += page.without.filter((snippet) => wordsIn(snippet).trim() !== "" && isIn(snippet)).length;
  }
  const precision = right / (right + wrong);
  const recall = right / wanted;
  return { precision, recall, f1: (2 * precision * recall) / (precision + recall) };
}

/** The words of a text between single spaces, with one at each end. */
export function wordsIn(text: string): string {
  const words = plainText(text.replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")).toLowerCase();
  return ` ${(words.match(/[\p{L}\p{N}]+/gu) ?? []).join(" ")} `;
}
