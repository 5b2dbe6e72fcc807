/** The text that a theme puts into a page. */
interface Article {
  readonly title: string;
  /** The content as plain HTML, beginning with its `<h1>`. */
  readonly html: string;
  readonly path: string;
  /** Counts the articles of a section from 0. */
  readonly index: number;
}

/** The markup of one kind of web site around an article. */
export interface Theme {
  readonly name: string;
  /** The folder of `expected/` whose texts it shows. */
  readonly section: "docs" | "blog" | "shop" | "forum";
  render(article: Article): string;
  /** Texts of its navigation, footer and margins, none of which is content. */
  readonly forbidden: readonly string[];
  /** Blocks beside the text that are content as well, such as a byline or a price. */
  readonly extraBlocksMax: number;
  /** Its names of the languages of code, if they differ from the usual ones. */
  readonly languages?: Readonly<Record<string, string>>;
}

/** The content without its heading, for themes that write the title somewhere else. */
export function withoutHeading(html: string): string {
  return html.replace(/<h1[^>]*>[\s\S]*?<\/h1>\s*/, "");
}

/** A whole page. */
export function wholePage(title: string, head: string, body: string): string {
  return `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${title}</title>\n${head}\n</head>\n${body}\n</html>\n`;
}
