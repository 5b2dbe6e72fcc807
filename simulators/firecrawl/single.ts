import { badValue, type Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, isObject, type JsonObject, stringOr } from "../shared/json.ts";
import { type Corpus, type Entry, searchDay } from "../shared/search/corpus.ts";
import { parseQuery, understandsAll } from "../shared/search/query.ts";
import { notOlder, searchCorpus } from "../shared/search/search.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { type Desk, noCredits, teamOf, withBody } from "./desk.ts";
import { firecrawlErrors, scrapeError } from "./errors.ts";
import { mapShape, scrapeShape, searchShape } from "./options.ts";
import { creditsOf, documentOf, pageAt } from "./pages.ts";
import { linksOfSite } from "./site-links.ts";

/** What ends with its answer: scrape, map, search, and the state of the account. */
export function singleRoutes(desk: Desk): readonly Route[] {
  return [
    {
      method: "POST",
      path: "/firecrawl/v2/scrape",
      handle: (call) => withBody(call, scrapeShape, (body) => scrape(body, call, desk)),
    },
    {
      method: "POST",
      path: "/firecrawl/v2/map",
      handle: (call) => withBody(call, mapShape, (body) => map(body, call, desk)),
    },
    {
      method: "POST",
      path: "/firecrawl/v2/search",
      handle: (call) => withBody(call, searchShape, (body) => search(body, call, desk)),
    },
    { method: "GET", path: "/firecrawl/v2/team/credit-usage", handle: (call) => jsonAnswer(creditUsage(call, desk)) },
    { method: "GET", path: "/firecrawl/v2/concurrency-check", handle: (call) => jsonAnswer(concurrency(call, desk)) },
    { method: "GET", path: "/firecrawl/v2/team/queue-status", handle: (call) => jsonAnswer(queueStatus(call, desk)) },
  ];
}

function scrape(body: JsonObject, call: Call, desk: Desk): Answer {
  const url = stringOr(body["url"], "");
  const problem = scrapeProblem(body);
  if (problem !== null) return errorAnswer(firecrawlErrors.forProblem(problem));
  const { hostname, searchParams } = new URL(url);
  const code = hostname.endsWith(".invalid") ? "SCRAPE_DNS_RESOLUTION_ERROR" : searchParams.get("sim-code");
  const error = code === null ? undefined : scrapeError(code);
  if (error !== undefined) return errorAnswer(error);
  const page = pageAt(url, desk.corpus());
  const credits = creditsOf(page, body);
  const team = teamOf(desk, call);
  if (team.remaining < credits) return noCredits();
  team.spend(credits);
  return jsonAnswer({ success: true, data: documentOf(page, body) });
}

function scrapeProblem({ waitFor, timeout, formats }: JsonObject): Problem | null {
  if (typeof waitFor === "number" && waitFor > (typeof timeout === "number" ? timeout : 60_000) / 2) {
    return badValue("waitFor", "waitFor must not exceed half of timeout", waitFor);
  }
  const isBare = asArray(formats).some(
    (format) =>
      isObject(format) && format["type"] === "json" && !isGiven(format["schema"]) && !isGiven(format["prompt"]),
  );
  return isBare ? badValue("formats", "json needs a schema or a prompt") : null;
}

const mapLimit = 5_000;

function map(body: JsonObject, call: Call, desk: Desk): Answer {
  const team = teamOf(desk, call);
  if (team.remaining < 1) return noCredits();
  team.spend(1);
  const { limit = mapLimit, search: words } = body;
  const links = linksOfSite(stringOr(body["url"], ""), desk.corpus());
  const ranked = typeof words === "string" ? links.toSorted((a, b) => rankOf(b, words) - rankOf(a, words)) : links;
  return jsonAnswer({ success: true, links: ranked.slice(0, Number(limit)) });
}

function rankOf({ url, title = "" }: { url: string; title?: string }, words: string): number {
  const text = `${url} ${title}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => text.includes(word)).length;
}

const searchLimit = 10;
const creditsPerTen = 2;

function search(body: JsonObject, call: Call, desk: Desk): Answer {
  if (isGiven(body["includeDomains"]) && isGiven(body["excludeDomains"])) {
    return errorAnswer(
      firecrawlErrors.forProblem(
        badValue("includeDomains", "includeDomains and excludeDomains are mutually exclusive"),
      ),
    );
  }
  const found = findAll(body, desk.corpus());
  const scraped = scrapedResults(found, body, desk.corpus());
  const count = Object.values(scraped.data).reduce((sum, results) => sum + results.length, 0);
  const creditsUsed = creditsPerTen * Math.ceil(count / searchLimit) + scraped.credits;
  const team = teamOf(desk, call);
  if (team.remaining < Math.max(1, creditsUsed)) return noCredits();
  team.spend(creditsUsed);
  return jsonAnswer({
    success: true,
    data: scraped.data,
    warning: null,
    id: call.identity.uuid("search"),
    creditsUsed,
  });
}

type Results = { readonly [source: string]: readonly JsonObject[] };

function findAll(body: JsonObject, corpus: Corpus): Results {
  const { query, limit = searchLimit, sources = ["web"], tbs } = body;
  const terms = parseQuery(stringOr(query, "") + domainOperators(body), understandsAll);
  const period = /qdr:([hdwmy])/.exec(stringOr(tbs, ""))?.[1];
  const kinds = asArray(sources).map((source) => stringOr(isObject(source) ? source["type"] : source, "web"));
  const results = kinds.map((source): [string, JsonObject[]] => {
    const { kind, write } = writers[source] ?? webWriter;
    const eligible = corpus.filter((entry) => entry.kind === kind && (source !== "web" || isFresh(entry, period)));
    const matches = searchCorpus(eligible, terms).slice(0, Number(limit));
    return [source, matches.map(({ entry }, index) => write(entry, index + 1))];
  });
  return Object.fromEntries(results);
}

/** Of several hosts at least one has to match, which the corpus' own conditions cannot express: one is enough here. */
function domainOperators({ includeDomains, excludeDomains }: JsonObject): string {
  const [included] = asArray(includeDomains);
  const without = asArray(excludeDomains).map((host) => ` -site:${String(host)}`);
  return (typeof included === "string" ? ` site:${included}` : "") + without.join("");
}

const periodDays: { readonly [period: string]: number } = { h: 0, d: 1, w: 7, m: 31, y: 366 };

function isFresh(entry: Entry, period: string | undefined): boolean {
  return period === undefined || notOlder(entry, periodDays[period] ?? 0, searchDay);
}

interface Writer {
  readonly kind: Entry["kind"];
  readonly write: (entry: Entry, position: number) => JsonObject;
}

const webWriter: Writer = {
  kind: "page",
  write: ({ url, title, description }, position) => ({ url, title, description, position }),
};

const writers: { readonly [source: string]: Writer } = {
  web: webWriter,
  news: {
    kind: "news",
    write: ({ url, title, description, date }, position) => ({
      title,
      snippet: description,
      url,
      date: date ?? "",
      imageUrl: "",
      position,
    }),
  },
  images: {
    kind: "image",
    write: ({ url, title }, position) => ({
      title,
      imageUrl: `${url}.jpg`,
      imageWidth: 1_920,
      imageHeight: 1_080,
      url,
      position,
    }),
  },
};

/** Adds the pages if `scrapeOptions` names at least one format. */
function scrapedResults(
  found: Results,
  { scrapeOptions }: JsonObject,
  corpus: Corpus,
): { data: Results; credits: number } {
  const options = asObject(scrapeOptions);
  const { web } = found;
  if (web === undefined || !isObject(scrapeOptions) || asArray(options["formats"]).length === 0)
    return { data: found, credits: 0 };
  const pages = web.map(({ url }) => pageAt(String(url), corpus));
  const credits = pages.reduce((sum, page) => sum + creditsOf(page, options), 0);
  const withPages = web.map((result, index) => ({
    ...result,
    ...documentOf(pages[index] ?? pageAt(String(result["url"]), corpus), options),
  }));
  return { data: { ...found, web: withPages }, credits };
}

function creditUsage(call: Call, desk: Desk): JsonObject {
  const remainingCredits = teamOf(desk, call).remaining;
  const [billingPeriodStart, billingPeriodEnd] = ["2026-06-01T00:00:00.000Z", "2026-07-01T00:00:00.000Z"];
  return { success: true, data: { remainingCredits, planCredits: 100_000, billingPeriodStart, billingPeriodEnd } };
}

const concurrencyMax = 50;

function concurrency(call: Call, desk: Desk): JsonObject {
  return { success: true, concurrency: runningJobs(call, desk), maxConcurrency: concurrencyMax };
}

function queueStatus(call: Call, desk: Desk): JsonObject {
  const running = runningJobs(call, desk);
  const queue = { jobsInQueue: running, activeJobsInQueue: running, waitingJobsInQueue: 0 };
  return { success: true, ...queue, maxConcurrency: concurrencyMax, mostRecentSuccess: null };
}

function runningJobs(call: Call, desk: Desk): number {
  const team = teamOf(desk, call);
  return team.jobs.filter((job) => !team.isEnded(job)).length;
}
