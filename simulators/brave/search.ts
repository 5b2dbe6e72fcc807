import { badValue, type Check, isInteger, isLike, isOneOf, type Problem } from "../shared/check.ts";
import { asObject } from "../shared/json.ts";
import { type Corpus, type Entry, searchDay } from "../shared/search/corpus.ts";
import { parseQuery, type Term, understandsAll } from "../shared/search/query.ts";
import { notOlder, searchCorpus } from "../shared/search/search.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { braveErrors } from "./errors.ts";

type Parameters = { readonly [name: string]: string };

/** Web, news and images, each by GET and POST. */
export function searchRoutes(corpus: () => Corpus): readonly Route[] {
  return (["GET", "POST"] as const).flatMap((method): Route[] => [
    { method, path: "/brave/res/v1/web/search", handle: (call) => answer(call, corpus(), web) },
    { method, path: "/brave/res/v1/news/search", handle: (call) => answer(call, corpus(), news) },
    { method, path: "/brave/res/v1/images/search", handle: (call) => answer(call, corpus(), images) },
  ]);
}

/** Of the query string, or of the JSON body of a POST. */
export function parametersOf({ method, query, body }: Call): Parameters {
  if (method === "GET") return Object.fromEntries(query);
  return Object.fromEntries(Object.entries(asObject(body)).map(([name, value]) => [name, String(value)]));
}

/** One kind of search. */
interface Vertical {
  readonly kind: Entry["kind"];
  readonly countMax: number;
  readonly write: (found: FoundPage) => object;
}

interface FoundPage {
  readonly results: readonly object[];
  readonly query: object;
}

const web: Vertical = {
  kind: "page",
  countMax: 20,
  // Without results there is no `web` at all.
  write: ({ results, query }) => ({
    type: "search",
    query,
    ...(results.length === 0
      ? {}
      : { web: { type: "search", results, family_friendly: true }, mixed: { type: "mixed" } }),
  }),
};

const news: Vertical = {
  kind: "news",
  countMax: 50,
  write: ({ results, query }) => ({ type: "news", query, results }),
};

const images: Vertical = {
  kind: "image",
  countMax: 200,
  write: ({ results, query }) => ({ type: "images", query, results }),
};

const queryCharactersMax = 400;
const queryWordsMax = 50;
/** In pages, not in results. */
const offsetMax = 9;
const flag = isOneOf("true", "false", "0", "1");

function checksOf({ countMax }: Vertical): { readonly [name: string]: Check } {
  return {
    count: (value) => isInteger(1, countMax)(Number(value)),
    offset: (value) => isInteger(0, offsetMax)(Number(value)),
    country: isLike(/^([A-Z]{2}|ALL)$/i, "a country code, or ALL"),
    safesearch: isOneOf("off", "moderate", "strict"),
    freshness: isLike(/^(p[dwmy]|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d)$/, "pd, pw, pm, py, or two days"),
    text_decorations: flag,
    spellcheck: flag,
    operators: flag,
    extra_snippets: flag,
  };
}

function answer(call: Call, corpus: Corpus, vertical: Vertical): Answer {
  const parameters = parametersOf(call);
  const problem = problemOf(parameters, checksOf(vertical));
  if (problem !== null) return errorAnswer(braveErrors.forProblem(problem));
  const filter = parameters["result_filter"];
  const isWanted = vertical !== web || filter === undefined || filter.split(",").includes("web");
  return jsonAnswer(vertical.write(find(parameters, isWanted ? corpus : [], vertical)));
}

function problemOf(parameters: Parameters, checks: { readonly [name: string]: Check }): Problem | null {
  const { q = "" } = parameters;
  if (q.trim() === "") return { kind: "missing", field: "q" };
  if (q.length > queryCharactersMax) return badValue("q", `at most ${queryCharactersMax} characters`, q);
  if (q.trim().split(/\s+/).length > queryWordsMax) return badValue("q", `at most ${queryWordsMax} words`, q);
  for (const [field, check] of Object.entries(checks)) {
    const value = parameters[field];
    const expected = value === undefined ? null : check(value);
    if (expected !== null) return badValue(field, `expected ${expected}`, value);
  }
  return null;
}

function find(parameters: Parameters, corpus: Corpus, { kind, countMax }: Vertical): FoundPage {
  const { q = "", count = String(Math.min(20, countMax)), offset = "0" } = parameters;
  const plain = ["false", "0"].includes(parameters["operators"] ?? "true");
  const terms = parseQuery(q, plain ? { phrases: false, negation: false, operators: [] } : understandsAll);
  const eligible = corpus.filter((entry) => entry.kind === kind && isFresh(entry, parameters["freshness"]));
  const matches = searchCorpus(eligible, terms);
  const from = Number(offset) * Number(count);
  const page = matches.slice(from, from + Number(count)).map(({ entry }) => entry);
  const mark = ["false", "0"].includes(parameters["text_decorations"] ?? "true") ? same : markerOf(terms);
  return {
    results: page.map((entry) => resultOf(entry, mark)),
    query: { original: q, more_results_available: matches.length > from + page.length, show_strict_warning: false },
  };
}

const periodDays: { readonly [period: string]: number } = { pd: 1, pw: 7, pm: 31, py: 366 };

function isFresh(entry: Entry, freshness: string | undefined): boolean {
  if (freshness === undefined) return true;
  const days = periodDays[freshness];
  if (days !== undefined) return notOlder(entry, days, searchDay);
  const [from = "", to = ""] = freshness.split("to");
  return entry.date !== null && entry.date >= from && entry.date <= to;
}

type Mark = (text: string) => string;
const same: Mark = (text) => text;

/** Sets the words of the query in bold, as Brave does unless `text_decorations` is false. */
function markerOf(terms: readonly Term[]): Mark {
  const words = terms.filter(({ kind, negated }) => !negated && (kind === "word" || kind === "phrase"));
  const escaped = words.map(({ text }) => text.replaceAll(/[^\w\s]/g, String.raw`\$&`)).filter((text) => text !== "");
  if (escaped.length === 0) return same;
  const pattern = new RegExp(escaped.join("|"), "gi");
  return (text) => text.replaceAll(pattern, "<strong>$&</strong>");
}

function resultOf({ url, title, description, date, language, kind }: Entry, mark: Mark): object {
  const { protocol, hostname, pathname } = new URL(url);
  return {
    title: mark(title),
    url,
    is_source_local: false,
    is_source_both: false,
    description: mark(description),
    ...(date === null ? {} : { page_age: `${date}T00:00:00`, age: date }),
    profile: { name: hostname, url, long_name: hostname, img: `https://icons.example/${hostname}.png` },
    ...(kind === "image" && { properties: { url: `${url}.jpg`, width: 1_920, height: 1_080 } }),
    language,
    family_friendly: true,
    type: "search_result",
    subtype: "generic",
    meta_url: {
      scheme: protocol.slice(0, -1),
      netloc: hostname,
      hostname,
      favicon: "",
      path: `› ${pathname.slice(1)}`,
    },
  };
}
