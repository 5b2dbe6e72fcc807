/** The guides: the documents in `docs/` as pages. */
import { Marked, type Tokens } from "marked";
import { codeBlock } from "./highlight.ts";
import { escapeHtml, slugOf } from "./html.ts";

export interface Guide {
  /** The name of its file, and of its page. */
  name: string;
  title: string;
  html: string;
  headings: readonly Heading[];
  /** The words before the first heading below the title, for the search. */
  words: string;
}

interface Heading {
  depth: number;
  text: string;
  slug: string;
  /** The words of the part below it, each once, for the search. */
  words: string;
}

export interface GuideGroup {
  title: string;
  guides: readonly { name: string; title: string; about: string }[];
}

/** The groups in which the table of contents names guides of this folder; links to other places are left out. */
export function guideGroups(contents: string): GuideGroup[] {
  const groups: { title: string; guides: { name: string; title: string; about: string }[] }[] = [];
  for (const line of contents.split("\n")) {
    const title = /^\*\*(.+)\*\*$/.exec(line)?.[1];
    if (title !== undefined) groups.push({ title, guides: [] });
    const [, text, name, about] = /^- \[([^\]]+)\]\(([\w-]+)\.md\): (.+)$/.exec(line) ?? [];
    if (text !== undefined && name !== undefined && about !== undefined)
      groups.at(-1)?.guides.push({ name, title: text, about });
  }
  return groups.filter(({ guides }) => guides.length > 0);
}

/** A document as a page. `names` are the guides that have pages: links to them lead there, links to other files are plain text. */
export function guideOf(name: string, markdown: string, names: ReadonlySet<string>): Guide {
  const headings: Omit<Heading, "words">[] = [];
  const slugs = new Map<string, number>();
  const uniqueSlug = (text: string): string => {
    const slug = slugOf(text);
    const seen = slugs.get(slug) ?? 0;
    slugs.set(slug, seen + 1);
    return seen === 0 ? slug : `${slug}-${seen}`;
  };
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const plain = text.replaceAll(/[`*]/g, "").replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");
        const slug = uniqueSlug(plain);
        if (depth > 1) headings.push({ depth, text: plain, slug });
        const anchor = depth > 1 ? ` <a class="anchor" href="#${slug}" aria-label="Link to this heading">#</a>` : "";
        return `<h${depth} id="${slug}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      code({ text, lang = "" }: Tokens.Code) {
        return codeBlock(text, lang);
      },
      link({ href, tokens }: Tokens.Link) {
        const target = targetOf(href, names);
        const text = this.parser.parseInline(tokens);
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      table(token: Tokens.Table) {
        // A header without words is no header of its column.
        const cellOf = ({ tokens, text }: Tokens.TableCell, tag: string): string => {
          const kind = text.trim() === "" ? "td" : tag;
          return `<${kind}>${this.parser.parseInline(tokens)}</${kind}>`;
        };
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map((cell) => cellOf(cell, tag)).join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="wide" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      // The documents contain no HTML but comments of generators.
      html: () => "",
    },
  });
  const html = marked.parse(markdown, { async: false });
  const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
  const [first = "", ...parts] = html.split(/(?=<h[2-6] id=)/);
  const withWords = headings.map((heading, at) => ({ ...heading, words: wordsOf(parts[at] ?? "") }));
  return { name, title, html, headings: withWords, words: wordsOf(first) };
}

/** The words of a part of a page, as the search compares them. */
function wordsOf(html: string): string {
  const text = html.replaceAll(/<[^>]*>/g, " ").replaceAll(/&(?:lt|gt|amp|quot|#39);/g, " ");
  const words = text.toLowerCase().split(/[\s"'`,;:()[\]{}<>|]+/);
  return [...new Set(words.map((word) => word.replaceAll(/^[.?!]+|[.?!]+$/g, "")))]
    .filter((word) => word.length > 1)
    .join(" ");
}

/** The address of a link; undefined for a file that is not served. */
function targetOf(href: string, names: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href.startsWith("#") ? `#${slugOf(href)}` : href;
  const [, name, fragment] = /^([\w-]+)\.md(?:#(.+))?$/.exec(href) ?? [];
  if (name === undefined || !names.has(name)) return undefined;
  return `/docs/${name}${fragment === undefined ? "" : `#${slugOf(fragment)}`}`;
}
