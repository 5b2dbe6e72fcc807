import { asArray, asObject, isObject, type JsonObject, stringOr } from "../shared/json.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { badValue } from "../shared/check.ts";
import { type Desk, noCredits, teamOf, withBody } from "./desk.ts";
import { firecrawlErrors } from "./errors.ts";
import { batchShape, crawlShape } from "./options.ts";
import { creditsOf, documentOf, pageAt } from "./pages.ts";
import { linksOfSite } from "./site-links.ts";
import type { Job, JobPage, Team } from "./team.ts";

/** Crawls and batches: creation, status, errors, cancel, and the list of those that run. */
export function jobRoutes(desk: Desk): readonly Route[] {
  const base = "/firecrawl/v2";
  return [
    {
      method: "POST",
      path: `${base}/crawl`,
      handle: (call) => withBody(call, crawlShape, (body) => startCrawl(body, call, desk)),
    },
    {
      method: "POST",
      path: `${base}/batch/scrape`,
      handle: (call) => withBody(call, batchShape, (body) => startBatch(body, call, desk)),
    },
    { method: "GET", path: `${base}/crawl/active`, handle: (call) => jsonAnswer(activeCrawls(call, desk)) },
    ...(["crawl", "batch/scrape"] as const).flatMap((kind): Route[] => [
      {
        method: "GET",
        path: `${base}/${kind}/:id`,
        handle: (call) => withJob(kind, call, desk, (job, team) => statusOf(job, team, call, desk)),
      },
      { method: "GET", path: `${base}/${kind}/:id/errors`, handle: (call) => withJob(kind, call, desk, errorsOf) },
      { method: "DELETE", path: `${base}/${kind}/:id`, handle: (call) => withJob(kind, call, desk, cancel) },
    ]),
  ];
}

const crawlLimit = 10_000;

function startCrawl(body: JsonObject, call: Call, desk: Desk): Answer {
  const team = teamOf(desk, call);
  const { limit = crawlLimit } = body;
  // The whole limit has to be affordable before anything is read.
  if (team.remaining < Number(limit)) return noCredits();
  const patterns = patternsOf(body);
  if (patterns === undefined)
    return errorAnswer(firecrawlErrors.forProblem(badValue("includePaths", "Invalid regular expression")));
  const url = stringOr(body["url"], "");
  const links = linksOfSite(url, desk.corpus()).map((link) => link.url);
  const wanted = links.filter((link) => !isAccount(link) && isIncluded(new URL(link), patterns));
  const options = asObject(body["scrapeOptions"]);
  const pages = wanted.slice(0, Number(limit)).map((link) => jobPage(link, options, desk));
  return create({ kind: "crawl", url, options: body, pages, robotsBlocked: links.filter(isAccount) }, call, team);
}

/** The addresses that the robots.txt of every site forbids. */
function isAccount(link: string): boolean {
  return new URL(link).pathname.startsWith("/account/");
}

interface Patterns {
  readonly included: readonly RegExp[];
  readonly excluded: readonly RegExp[];
  readonly onFullUrl: boolean;
}

/** Undefined if one of them cannot be compiled. */
function patternsOf({ includePaths, excludePaths, regexOnFullURL }: JsonObject): Patterns | undefined {
  try {
    return { included: compile(includePaths), excluded: compile(excludePaths), onFullUrl: regexOnFullURL === true };
  } catch {
    return undefined;
  }
}

function compile(paths: unknown): RegExp[] {
  return asArray(paths).map((path) => new RegExp(String(path)));
}

function isIncluded({ href, pathname }: URL, { included, excluded, onFullUrl }: Patterns): boolean {
  const text = onFullUrl ? href : pathname;
  return (
    !excluded.some((pattern) => pattern.test(text)) &&
    (included.length === 0 || included.some((pattern) => pattern.test(text)))
  );
}

/** The thirteenth page of every made-up site cannot be read. */
function jobPage(url: string, options: JsonObject, desk: Desk): JobPage {
  const { hostname, pathname } = new URL(url);
  const failure = hostname.endsWith(".invalid")
    ? "SCRAPE_DNS_RESOLUTION_ERROR"
    : pathname === "/page-13"
      ? "SCRAPE_TIMEOUT"
      : undefined;
  return { url, failure, credits: failure === undefined ? creditsOf(pageAt(url, desk.corpus()), options) : 0 };
}

function startBatch(body: JsonObject, call: Call, desk: Desk): Answer {
  const team = teamOf(desk, call);
  const urls = asArray(body["urls"]).map(String);
  const valid = urls.filter((url) => /^https?:/.test(url) && URL.canParse(url));
  const invalid = urls.filter((url) => !valid.includes(url));
  if (valid.length === 0 || (invalid.length > 0 && body["ignoreInvalidURLs"] === false)) {
    return errorAnswer(firecrawlErrors.forProblem(badValue("urls", "Invalid URL", invalid)));
  }
  const pages = valid.map((url) => jobPage(url, body, desk));
  if (team.remaining < pages.reduce((sum, page) => sum + page.credits, 0)) return noCredits();
  const [url = ""] = valid;
  return create({ kind: "batch/scrape", url, options: body, pages, robotsBlocked: [] }, call, team, {
    invalidURLs: invalid,
  });
}

type NewJob = Omit<Job, "id" | "createdAt" | "cancelledAt">;

/** Equal requests make different jobs: the id contains their number. */
function create(job: NewJob, call: Call, team: Team, more: JsonObject = {}): Answer {
  const id = call.identity.uuid(`job ${team.jobs.length}`);
  team.add({ ...job, id, createdAt: team.now, cancelledAt: undefined });
  return jsonAnswer({ success: true, id, url: `${originOf(call)}/firecrawl/v2/${job.kind}/${id}`, ...more });
}

function originOf({ headers }: Call): string {
  return `http://${headers["host"] ?? "localhost"}`;
}

function withJob(kind: Job["kind"], call: Call, desk: Desk, answer: (job: Job, team: Team) => Answer): Answer {
  const team = teamOf(desk, call);
  const id = call.parameters["id"] ?? "";
  const job = team.job(kind, id);
  if (job === undefined) {
    const isForeign = desk.teams.hasJob(kind, id);
    return isForeign
      ? { kind: "json", status: 403, body: { error: "Forbidden" } }
      : errorAnswer(firecrawlErrors.forStatus(404));
  }
  if (team.isExpired(job)) return { kind: "json", status: 404, body: { success: false, error: "Job expired" } };
  return answer(job, team);
}

const documentsPerAnswer = 10;
/** A crawl knows of so many pages more than it has read. */
const pagesAhead = 5;

function statusOf(job: Job, team: Team, call: Call, desk: Desk): Answer {
  const read = team.readPages(job);
  const isEnded = team.isEnded(job);
  const good = read.filter(({ failure }) => failure === undefined);
  const skip = Number(call.query.get("skip") ?? 0);
  const shown = good.slice(skip, skip + documentsPerAnswer);
  const hasMore = !isEnded || good.length > skip + shown.length;
  const options = job.kind === "crawl" ? asObject(job.options["scrapeOptions"]) : job.options;
  return jsonAnswer({
    success: true,
    status: statusName(job, isEnded),
    total: isEnded ? read.length : Math.min(job.pages.length, read.length + pagesAhead),
    completed: good.length,
    creditsUsed: read.reduce((sum, { credits }) => sum + credits, 0),
    expiresAt: new Date(team.expiresAt(job)).toISOString(),
    createdAt: new Date(job.createdAt).toISOString(),
    ...(isEnded ? { completedAt: new Date(team.endOf(job)).toISOString() } : {}),
    duration: ((isEnded ? team.endOf(job) : team.now) - job.createdAt) / 1_000,
    next: hasMore ? `${originOf(call)}/firecrawl/v2/${job.kind}/${job.id}?skip=${skip + shown.length}` : null,
    data: shown.map(({ url }) => documentOf(pageAt(url, desk.corpus()), options)),
  });
}

function statusName({ cancelledAt }: Job, isEnded: boolean): string {
  if (cancelledAt !== undefined) return "cancelled";
  return isEnded ? "completed" : "scraping";
}

function errorsOf(job: Job, team: Team): Answer {
  const failed = team.readPages(job).filter(({ failure }) => failure !== undefined);
  const errors = failed.map(({ url, failure }, index) => ({
    id: `${job.id}-${index}`,
    timestamp: new Date(job.createdAt).toISOString(),
    url,
    code: failure,
    error: `The page could not be read: ${failure ?? ""}`,
  }));
  return jsonAnswer({ errors, robotsBlocked: job.robotsBlocked });
}

/** A job that has ended already keeps its status, and the answer is the same. */
function cancel(job: Job, team: Team): Answer {
  if (!team.isEnded(job)) job.cancelledAt = team.now;
  return jsonAnswer({ status: "cancelled" });
}

function activeCrawls(call: Call, desk: Desk): JsonObject {
  const team = teamOf(desk, call);
  const running = team.jobs.filter((job) => job.kind === "crawl" && !team.isEnded(job));
  const crawls = running.map(({ id, url, options, createdAt }) => ({
    id,
    teamId: "00000000-0000-4000-8000-000000000001",
    url,
    created_at: new Date(createdAt).toISOString(),
    options: isObject(options["scrapeOptions"]) ? { scrapeOptions: options["scrapeOptions"] } : {},
  }));
  return { success: true, crawls };
}
