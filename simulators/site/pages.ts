import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { asArray, asObject, isObject, type JsonObject, stringOr } from "../shared/json.ts";

const contentFolder = join(import.meta.dir, "content");

/** The sections of the demo site; each has a folder of content and a layout. */
export type Section = "" | "docs" | "blog" | "shop" | "forum";

/** One page of the demo site, as it was written. */
export interface SitePage {
  /** The path of its address, for example `/docs/quickstart` or `/docs/`. */
  readonly path: string;
  readonly section: Section;
  readonly title: string;
  readonly description: string;
  /** The text without its front matter. The posts of a thread are appended to it. */
  readonly markdown: string;
  /** The day of publication (`2026-04-28`), if the page has one. */
  readonly date: string | null;
  /** Everything that the front matter contains. */
  readonly front: JsonObject;
}

/** One contribution to a thread of the forum. */
export interface ThreadPost {
  readonly author: string;
  readonly date: string;
  readonly text: string;
}

let pages: readonly SitePage[] | undefined;

/** All pages, by their paths; read from the disk at the first call. */
export function sitePages(): readonly SitePage[] {
  pages ??= readPages();
  return pages;
}

/** The pages of a section, without its overview; articles begin with the newest. */
export function pagesOf(section: Section): readonly SitePage[] {
  const found = sitePages().filter((page) => page.section === section && !page.path.endsWith("/"));
  return found.toSorted((a, b) => (b.date ?? "").localeCompare(a.date ?? ""));
}

/** The posts of a thread, oldest first; none for any other page. */
export function postsOf({ front }: SitePage): readonly ThreadPost[] {
  return asArray(front["posts"]).map((entry) => {
    const { author, date, text } = asObject(entry);
    return { author: stringOr(author, ""), date: timeText(date) ?? "", text: stringOr(text, "") };
  });
}

function readPages(): SitePage[] {
  const files = readdirSync(contentFolder, { recursive: true, encoding: "utf8" });
  const documents = files.filter((file) => file.endsWith(".md")).toSorted();
  return documents.map((file) => readPage(file, readFileSync(join(contentFolder, file), "utf8")));
}

function readPage(file: string, text: string): SitePage {
  const [, header = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const parsed: unknown = Bun.YAML.parse(header);
  const front = asObject(parsed);
  const name = file.replace(/\.md$/, "");
  const folder = name.includes("/") ? name.slice(0, name.indexOf("/")) : "";
  const page = {
    path: `/${name.replace(/(^|\/)index$/, "$1")}`,
    section: sectionOf(folder),
    title: stringOr(front["title"], name),
    description: stringOr(front["description"], ""),
    markdown: body.trim(),
    date: timeText(front["date"])?.slice(0, 10) ?? null,
    front,
  };
  return { ...page, markdown: wholeMarkdown(page) };
}

function wholeMarkdown(page: SitePage): string {
  const heading = page.markdown.startsWith("# ") ? [] : [`# ${page.title}`];
  const posts = postsOf(page).map(({ author, date, text }) => `**${author}**, ${date.slice(0, 10)}\n\n${text.trim()}`);
  return [...heading, page.markdown, ...posts].filter((part) => part !== "").join("\n\n");
}

function sectionOf(folder: string): Section {
  if (folder === "docs" || folder === "blog" || folder === "shop" || folder === "forum") return folder;
  return "";
}

/** YAML readers differ in whether they make a date of `2026-04-28`. */
function timeText(value: unknown): string | null {
  if (value instanceof Date) return value.toISOString();
  return typeof value === "string" ? value : null;
}

/** A file of `content/assets`, by its name. Throws if there is none. */
export function readAsset(name: string): Buffer {
  return readFileSync(join(contentFolder, "assets", name));
}

/** The names of the files in `content/assets`. */
export function assetNames(): string[] {
  return readdirSync(join(contentFolder, "assets")).toSorted();
}

/** The table of a product's properties, in its order. */
export function specsOf({ front }: SitePage): [name: string, value: string][] {
  const { specs } = front;
  return isObject(specs) ? Object.entries(specs).map(([name, value]) => [name, String(value)]) : [];
}
