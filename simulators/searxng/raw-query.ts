/** The commands that SearXNG takes out of a query, wherever they stand, and the text that is left. */
export interface RawQuery {
  readonly text: string;
  /** Categories and engines chosen by `!images` or `!alpha`. */
  readonly bangs: readonly string[];
  /** Chosen by `:de`; null without one. */
  readonly language: string | null;
  /** The foreign engine that `!!wp` redirects to; null without one. */
  readonly external: string | null;
}

export const categories = ["general", "news", "images"];
export const engineNames = ["alpha", "beta", "gamma"];
const shortcuts: { readonly [name: string]: string } = { al: "alpha", be: "beta", ga: "gamma", im: "images" };
const externals = new Set(["g", "ddg", "wp", "gh"]);
const languages = new Set(["all", "en", "de", "fr", "en-us", "en-gb", "de-de", "fr-fr"]);

/** A word that looks like a command but names nothing known stays in the text. */
export function readRawQuery(query: string): RawQuery {
  const kept: string[] = [];
  const bangs: string[] = [];
  let language: string | null = null;
  let external: string | null = null;
  for (const word of query.split(/\s+/)) {
    const bang = word.startsWith("!") ? bangOf(word.slice(1)) : undefined;
    if (word.startsWith("!!") && externals.has(word.slice(2))) external = word.slice(2);
    else if (bang !== undefined) bangs.push(bang);
    else if (word.startsWith(":") && languages.has(word.slice(1).toLowerCase())) language = word.slice(1).toLowerCase();
    // `<3` sets the time-out in seconds, which changes nothing here.
    else if (!/^<\d{1,3}$/.test(word)) kept.push(word);
  }
  return { text: kept.join(" "), bangs, language, external };
}

function bangOf(name: string): string | undefined {
  const known = Object.hasOwn(shortcuts, name) ? shortcuts[name] : name;
  return [...categories, ...engineNames].find((one) => one === known);
}
