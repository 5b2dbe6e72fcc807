import { isInteger, isOneOf } from "../shared/check.ts";
import type { Corpus, Entry } from "../shared/search/corpus.ts";
import { searchDay } from "../shared/search/corpus.ts";
import { parseQuery, type Understanding, understandsAll } from "../shared/search/query.ts";
import { notOlder, searchCorpus } from "../shared/search/search.ts";
import { values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { searxngErrors } from "./errors.ts";
import { categories, engineNames, type RawQuery, readRawQuery } from "./raw-query.ts";

/** SearXNG asks several engines, and not all of them understand the operators of a query. */
const engines: { readonly [name: string]: Understanding } = {
  alpha: understandsAll,
  beta: { phrases: true, negation: true, operators: [] },
  gamma: { phrases: false, negation: false, operators: [] },
};

const resultsPerPage = 10;
const periodDays: { readonly [range: string]: number } = { day: 1, week: 7, month: 31, year: 366 };

/** The routes of an instance with JSON, and of one without. Forms and query strings are taken alike. */
export function searchRoutes(corpus: () => Corpus): readonly Route[] {
  return (["GET", "POST"] as const).flatMap((method): Route[] => [
    { method, path: "/searxng/search", handle: (call) => answer(call, corpus()) },
    { method, path: "/searxng/html-only/search", handle: (call) => answerHtmlOnly(call, corpus()) },
  ]);
}

function answerHtmlOnly(call: Call, corpus: Corpus): Answer {
  if (parametersOf(call).get("format") === "json") return errorAnswer(searxngErrors.forStatus(403));
  return answer(call, corpus);
}

function parametersOf({ method, query, bytes }: Call): URLSearchParams {
  return method === "GET" ? query : new URLSearchParams(Buffer.from(bytes).toString("utf8"));
}

const shapes = values({
  pageno: (value) => isInteger(1, 1_000)(Number(value)),
  safesearch: isOneOf("0", "1", "2"),
  time_range: isOneOf("", "day", "week", "month", "year"),
  format: isOneOf("html", "json"),
});

function answer(call: Call, corpus: Corpus): Answer {
  const parameters = parametersOf(call);
  for (const [name, shape] of Object.entries(shapes)) {
    const given = parameters.get(name);
    const problem = given === null ? null : shape(given, name);
    if (problem !== null) return errorAnswer(searxngErrors.forProblem(problem));
  }
  const query = parameters.get("q") ?? "";
  if (query.trim() === "") {
    return errorAnswer(searxngErrors.forProblem({ kind: "bad-value", field: "q", message: "", value: query }));
  }
  const raw = readRawQuery(query);
  if (raw.external !== null) return redirectTo(raw);
  const found = findAll(raw, parameters, corpus);
  if (parameters.get("format") !== "json") return htmlAnswer(found.results);
  return jsonAnswer({ query: raw.text, ...found, answers: [], corrections: [], infoboxes: [], suggestions: [] });
}

function redirectTo({ external, text }: RawQuery): Answer {
  const location = `https://${external ?? ""}.example/search?q=${encodeURIComponent(text)}`;
  return { kind: "bytes", status: 302, contentType: "text/html", bytes: Buffer.of(), headers: { location } };
}

interface Found {
  readonly results: readonly object[];
  readonly unresponsive_engines: readonly (readonly [engine: string, reason: string])[];
}

interface Merged {
  readonly entry: Entry;
  readonly engines: string[];
  readonly positions: number[];
  score: number;
}

/** Merges the pages of all engines. `engines:down` in a query lets them all fail, `engines:partly` the first one. */
function findAll(raw: RawQuery, parameters: URLSearchParams, corpus: Corpus): Found {
  const asked = enginesOf(raw, parameters);
  const failing = failingEngines(raw.text, asked);
  const from = (Number(parameters.get("pageno") ?? 1) - 1) * resultsPerPage;
  const eligible = corpus.filter((entry) => isEligible(entry, raw, parameters));
  const merged = new Map<string, Merged>();
  for (const engine of asked.filter((name) => !failing.includes(name))) {
    const matches = searchCorpus(eligible, parseQuery(raw.text, engines[engine] ?? understandsAll));
    for (const [index, { entry }] of matches.slice(from, from + resultsPerPage).entries()) {
      const known = merged.get(entry.url) ?? { entry, engines: [], positions: [], score: 0 };
      known.engines.push(engine);
      known.positions.push(index + 1);
      known.score += 1 / (index + 1);
      merged.set(entry.url, known);
    }
  }
  const results = [...merged.values()].toSorted((a, b) => b.score - a.score).map(resultOf);
  return { results, unresponsive_engines: failing.map((name) => [name, "timeout"]) };
}

function enginesOf({ bangs }: RawQuery, parameters: URLSearchParams): string[] {
  const wanted = [...bangs, ...listIn(parameters, "engines")].filter((name) => engineNames.includes(name));
  return wanted.length > 0 ? [...new Set(wanted)] : engineNames;
}

function failingEngines(text: string, asked: readonly string[]): readonly string[] {
  if (text.includes("engines:down")) return asked;
  return text.includes("engines:partly") ? asked.slice(0, 1) : [];
}

const kindOf: { readonly [category: string]: Entry["kind"] } = { general: "page", news: "news", images: "image" };

function isEligible(entry: Entry, { bangs, language }: RawQuery, parameters: URLSearchParams): boolean {
  const named = [...bangs, ...listIn(parameters, "categories")].filter((name) => categories.includes(name));
  const kinds = (named.length > 0 ? named : ["general"]).map((category) => kindOf[category]);
  if (!kinds.includes(entry.kind)) return false;
  const [spoken = ""] = (language ?? parameters.get("language") ?? "all").split("-");
  if (!["all", "auto", "", entry.language].includes(spoken)) return false;
  const days = periodDays[parameters.get("time_range") ?? ""];
  return days === undefined || notOlder(entry, days, searchDay);
}

function listIn(parameters: URLSearchParams, name: string): string[] {
  return (parameters.get(name) ?? "").split(",").map((word) => word.trim());
}

function resultOf({ entry, engines: found, positions, score }: Merged): object {
  const { url, title, description, date, kind } = entry;
  const { protocol, host, pathname, search, hash } = new URL(url);
  const isImage = kind === "image";
  return {
    url,
    title,
    content: description,
    engine: found[0],
    engines: found,
    template: isImage ? "images.html" : "default.html",
    parsed_url: [protocol.slice(0, -1), host, pathname, "", search.slice(1), hash.slice(1)],
    img_src: isImage ? `${url}.jpg` : "",
    thumbnail: "",
    priority: "",
    score,
    positions,
    category: Object.entries(kindOf).find(([, one]) => one === kind)?.[0],
    publishedDate: date === null ? null : `${date}T00:00:00`,
    pubdate: date === null ? "" : `${date} 00:00:00`,
  };
}

function htmlAnswer(results: readonly object[]): Answer {
  const bytes = Buffer.from(`<!DOCTYPE html><html lang="en"><title>SearXNG</title><p>${results.length} results`);
  return { kind: "bytes", contentType: "text/html; charset=utf-8", bytes };
}
