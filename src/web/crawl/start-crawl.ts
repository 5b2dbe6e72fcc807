/**
 * The start of a crawl or a batch: work without a price, whose answer is stored for a retry key before the job is and lives
 * as long as the job may:
 *
 *   hold and answer, in one commit ──▶ the crawl's row ──▶ its first addresses ──▶ the hold is released
 */
import { z } from "zod";
import { decodeBody, parseBody, type ParsedBody, type ReceivedBody } from "../../bodies/index.ts";
import {
  type AnswerAhead,
  type PaidAnswer,
  type PaidRequest,
  type Planning,
  refuseChargeMax,
  type RunningWork,
  type WayOfWork,
  type WorkPlan,
} from "../../charges/index.ts";
import {
  CallAborter,
  GatewayError,
  type JsonObject,
  NO_MARKUP,
  parseObject,
  type Surface,
  timedUuid,
} from "../../core/index.ts";
import { webPrice } from "../../pricing/index.ts";
import { type ApiVersion, jobFromV1, jobNamesExtract } from "../v1/index.ts";
import type { CrawlsOptions } from "./crawl-dependencies.ts";
import { appendPages, namedBatch, tooManyRunning } from "./append-to-batch.ts";
import { planExtraction } from "./extract/plan-extraction.ts";
import { modelOfPrompt, optionsFromPrompt } from "./prompt/options-from-prompt.ts";
import { type PlannedCrawl, planBatch, planCrawl } from "./plan-crawl.ts";
import type { Crawl, CrawlKind, NewCrawl } from "./store.ts";

/** When a crawl is deleted at the latest. A day before, one that still runs is ended. */
const CRAWL_MS_MAX = 3 * 24 * 3_600_000;

const crawlPaths: Readonly<Record<CrawlKind, string>> = { crawl: "crawl", batch: "batch/scrape", extract: "extract" };

/** The address of a job in a version of the API. */
export function crawlUrl(
  { publicUrl }: Pick<CrawlsOptions, "publicUrl">,
  { kind, id }: Pick<Crawl, "kind" | "id">,
  version: ApiVersion,
): string {
  return `${publicUrl}/${version}/${crawlPaths[kind]}/${id}`;
}

/** The way in which a job is asked for. */
export interface JobForm {
  kind: CrawlKind;
  version: ApiVersion;
}

type Start = WorkPlan &
  Pick<PlannedCrawl, "plan" | "pages" | "prompted"> & { crawl: NewCrawl; ahead: AnswerAhead; isAppended: boolean };

/** A body's members are checked by the plan. */
const anyObject = z.looseObject({});
const free = webPrice({}, NO_MARKUP);

type StartOptions = CrawlsOptions & { wake: () => void };

export class CrawlStart implements WayOfWork<JsonObject, Start> {
  readonly surface: Surface;
  readonly operation: string;
  /** The header of Firecrawl's SDKs. */
  readonly retryKeyAlias = "x-idempotency-key";
  readonly form = undefined;
  readonly #options: StartOptions;
  readonly #request: PaidRequest;
  readonly #form: JobForm;

  constructor(options: StartOptions, request: PaidRequest, form: JobForm) {
    this.#options = options;
    this.#request = request;
    this.#form = form;
    this.surface = form.version === "v1" ? "firecrawl_v1" : "firecrawl";
    this.operation = `/${form.version}/${crawlPaths[form.kind]}`;
  }

  parse(bytes: Uint8Array): ParsedBody<JsonObject> {
    return parseBody(bytes, anyObject, []);
  }

  async plan(received: ReceivedBody<JsonObject>, { retry }: Planning<never>): Promise<Start> {
    const { environment, engineName: model, webhooks } = this.#options;
    const { requestId, principal, headers } = this.#request;
    refuseChargeMax(headers, "the pages of a job");
    if (received.kind === "form") throw new Error("no request on the web has a form");
    const { kind, version } = this.#form;
    const found = await planned(this.#form, decodeBody(received), this.#options);
    const { plan, pages, more, append, prompted, ...rest } = found;
    if (prompted !== undefined) modelOfPrompt(this.#options.model);
    this.#checkScrape(plan, kind === "batch" ? "" : "scrapeOptions.");
    const owner = principal.user;
    if (plan.webhook !== undefined) await webhooks.check({ owner, url: plan.webhook.url, param: "webhook" });
    const batch = append && (await namedBatch(this.#options, principal, append, found));
    const id = batch?.id ?? timedUuid(environment.clock, environment.randomBytes);
    const at = environment.clock();
    const until = at + CRAWL_MS_MAX;
    const stored = { owner, caller: { ...principal }, request: { ...plan } };
    const answer = Buffer.from(
      JSON.stringify({ success: true, id, url: crawlUrl(this.#options, { ...rest, id }, version), ...more }),
    );
    return {
      order: {
        id: requestId,
        // The limits of a minute are for calls that cost something.
        principal: { ...principal, rates: undefined, ratesAbove: undefined },
        operation: "crawl",
        dialect: undefined,
        source: { provider: "web", model, modelId: `web/${model}` },
        price: free,
        bound: { inputTokens: 0, outputTokens: 0, choices: 1 },
        streamed: false,
        retry,
        at,
      },
      clientGoneGraceMs: Number.POSITIVE_INFINITY,
      ahead: { answer: { status: 200, headers: [["content-type", "application/json"]], body: answer }, until },
      crawl: { id, ...rest, ...stored, createdAt: at, expiresAt: until },
      plan,
      pages,
      ...(prompted !== undefined && { prompted }),
      isAppended: batch !== undefined,
    };
  }

  /** Throws 422 for options that the engine does not support. */
  #checkScrape({ scrape, url }: PlannedCrawl["plan"], prefix: string): void {
    try {
      this.#options.engine.planScrape({ ...scrape, url });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.param === undefined || prefix === "") throw thrown;
      throw new GatewayError(thrown.code, `${prefix}${thrown.message}`, { param: `${prefix}${thrown.param}` });
    }
  }

  async hasJob({ body }: AnswerAhead["answer"], start: Start | undefined): Promise<boolean> {
    const { crawls, environment } = this.#options;
    const id = String(parseObject(Buffer.from(body).toString())?.["id"]);
    const stored = await crawls.find(id);
    if (stored === undefined || stored.expiresAt <= environment.clock()) return false;
    const isComplete = stored.discovered > 0 || stored.state !== "scraping";
    if (start?.isAppended === true) await this.#append(start);
    else if (!isComplete && start !== undefined)
      await this.#create(await this.#withPrompt({ ...start, crawl: { ...start.crawl, id } }));
    return true;
  }

  async run(running: RunningWork<Start, never>, start: Start): Promise<PaidAnswer> {
    const { status, headers, body } = start.ahead.answer;
    try {
      await (start.isAppended ? this.#append(start) : this.#create(await this.#withPrompt(start, running)));
    } finally {
      await running.discard();
    }
    return { status, headers: Object.fromEntries(headers), body };
  }

  /** With the options that a model makes of its prompt. Its retry key has the crawl's id: a start that is repeated pays it once. */
  async #withPrompt(start: Start, running?: RunningWork<Start, never>): Promise<Start> {
    const { prompted, crawl, order } = start;
    if (prompted === undefined) return start;
    const { options, spent } = await optionsFromPrompt(
      modelOfPrompt(this.#options.model),
      { url: start.plan.url, prompt: prompted.prompt },
      {
        principal: this.#request.principal,
        parent: crawl.id,
        names: order,
        signal: running?.watchdog.abort.signal ?? new CallAborter().signal,
        retryKey: `crawl-${crawl.id}`,
      },
    );
    const { plan, pages, pagesMax, concurrencyMax, delayMs } = await planCrawl({
      ...options,
      ...stated(prompted.body),
    });
    const named = { ...plan, ...(start.plan.namesExtract === true && { namesExtract: true as const }) };
    const more = { pagesMax, concurrencyMax, delayMs, request: { ...named }, credits: spent };
    return { ...start, plan: named, pages, crawl: { ...crawl, ...more } };
  }

  async #append({ crawl: { id }, pages }: Start): Promise<void> {
    await appendPages(this.#options, id, { pages, lifeMs: CRAWL_MS_MAX });
    this.#options.wake();
  }

  /** May be repeated: neither the crawl, nor its message, nor its addresses are there twice. */
  async #create({ order, crawl, plan, pages }: Start): Promise<void> {
    const { crawls, environment, messages, bounds, wake } = this.#options;
    const { session, endUser, tags } = order;
    // Without undefined members, as JSON has none.
    const names = parseObject(JSON.stringify({ session, endUser, tags }));
    const isNew = await crawls.insert({ ...crawl, caller: { ...crawl.caller, names } }, bounds.crawlsPerUserMax);
    if (!isNew && (await crawls.find(crawl.id)) === undefined) {
      throw tooManyRunning(bounds.crawlsPerUserMax);
    }
    await messages.started(crawl, plan);
    await crawls.add(crawl.id, pages, environment.clock(), Math.max(pages.length, 1));
    wake();
  }
}

/** Members that ask for nothing leave the option to the model. */
function stated(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value != null));
}

async function planned(
  { kind, version }: JobForm,
  body: JsonObject,
  { model }: Pick<CrawlsOptions, "model">,
): Promise<PlannedCrawl> {
  const inV2 = version === "v1" ? jobFromV1(kind, body) : body;
  const found =
    kind === "crawl" ? await planCrawl(inV2) : kind === "batch" ? planBatch(inV2) : planExtraction(inV2, model);
  const asksExtract = version === "v1" && jobNamesExtract(kind, body);
  return asksExtract ? { ...found, plan: { ...found.plan, namesExtract: true } } : found;
}
