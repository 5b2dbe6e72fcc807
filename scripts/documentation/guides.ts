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
  /** The text before the first heading below the title, for the search. */
  introduction: string;
}

interface Heading {
  depth: number;
  text: string;
  slug: string;
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
  const headings: Heading[] = [];
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
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("");
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="wide" tabindex="0"><table><thead><tr>${cells(token.header, "th")}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      // The documents contain no HTML but comments of generators.
      html: () => "",
    },
  });
  const html = marked.parse(markdown, { async: false });
  const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
  const [, introduction = ""] = /^# .+\n+([^#|`]+)/.exec(markdown) ?? [];
  return { name, title, html, headings, introduction: introduction.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").trim() };
}

/** The address of a link; undefined for a file that is not served. */
function targetOf(href: string, names: ReadonlySet<string>): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href.startsWith("#") ? `#${slugOf(href)}` : href;
  const [, name, fragment] = /^([\w-]+)\.md(?:#(.+))?$/.exec(href) ?? [];
  if (name === undefined || !names.has(name)) return undefined;
  return `/docs/${name}${fragment === undefined ? "" : `#${slugOf(fragment)}`}`;
}
