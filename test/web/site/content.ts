/** The pages with a written expectation: every text of `expected/` in every theme of its section, and the special pages. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blogThemes } from "./themes/blogs.ts";
import { docsThemes } from "./themes/docs.ts";
import { forumThemes } from "./themes/forums.ts";
import { shopThemes } from "./themes/shops.ts";
import type { Theme } from "./themes/theme.ts";

/** A page of the site and the Markdown that its scrape should give. */
export interface ContentPage {
  readonly path: string;
  readonly html: string;
  /** The main content; `SITE` stands for scheme, host and port of the site. */
  readonly expected: string;
  /** Texts of its margins. */
  readonly forbidden: readonly string[];
  /** Blocks that may be there as well. */
  readonly extraBlocksMax: number;
}

const folder = import.meta.dir;

/** The text of a file in `expected/`, without the line break at its end. */
function readExpected(name: string): string {
  return readFileSync(join(folder, "expected", `${name}.md`), "utf8").trimEnd();
}

function namesIn(section: string): string[] {
  const files = readdirSync(join(folder, "expected", section));
  return files
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.slice(0, -3))
    .toSorted();
}

/** All of them, in the order of their addresses. */
export function contentPages(): ContentPage[] {
  const themes = [...docsThemes, ...blogThemes, ...shopThemes, ...forumThemes];
  return [...themes.flatMap(pagesOfTheme), ...specialPages()];
}

function pagesOfTheme(theme: Theme): ContentPage[] {
  return namesIn(theme.section).map((name, index) => {
    const markdown = readExpected(`${theme.section}/${name}`);
    const [, title = ""] = /^# (.*)$/m.exec(markdown) ?? [];
    const path = `/${theme.name}/${name}`;
    const html = Bun.markdown.html(markdown.replaceAll("SITE/", "/"), { headings: { ids: true } });
    return {
      path,
      html: theme.render({ title, html, path, index }),
      expected: withLanguages(markdown, theme.languages ?? {}),
      forbidden: theme.forbidden,
      extraBlocksMax: theme.extraBlocksMax,
    };
  });
}

function withLanguages(markdown: string, languages: Readonly<Record<string, string>>): string {
  return markdown.replaceAll(/^```(\w+)$/gm, (fence, name: string) =>
    name in languages ? `\`\`\`${languages[name] ?? ""}` : fence,
  );
}

/** Pages written by hand, each of which shows one thing. */
function specialPages(): ContentPage[] {
  return namesIn("special").map((name) => ({
    path: `/special/${name}`,
    html: readFileSync(join(folder, "__fixtures__", `${name}.html`), "utf8"),
    expected: readExpected(`special/${name}`),
    forbidden: ["All rights reserved by nobody", "Cookie settings"],
    extraBlocksMax: 0,
  }));
}
