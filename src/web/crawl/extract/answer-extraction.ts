/**
 * The answer of an extraction, as the last of its pages:
 *
 *   the pages' texts ──▶ the model, whose calls are charged by themselves ──▶ stored ──▶ visible
 */
import { type GatewayError, type JsonObject, objectOf, parseObject, toGatewayError } from "../../../core/index.ts";
import { compressText, decompressText } from "../../compress.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import { hasLostToken, type PageRun, REFUSED_WAIT_MS } from "../page/hold-page.ts";
import type { CrawlFailure } from "../store.ts";
import { askExtraction, type ExtractedPage } from "./ask-extraction.ts";

/** Results that are read at a time, and characters of all pages that are read: more than the model gets. */
const RESULTS_AT_ONCE = 20;
const RESULT_BYTES_MAX = 2 * 1024 * 1024;
const CHARACTERS_MAX = 4_000_000;

/** Throws only if the storage fails, or for a reason of the signal; the page's lease then runs out. */
export async function answerExtraction(deps: CrawlDependencies, run: PageRun): Promise<void> {
  const { page, crawl, signal } = run;
  const { crawls, environment, model } = deps;
  const { extraction } = crawl.plan;
  if (page.work !== undefined) return end(deps, run, BigInt(String(page.work["spent"])));
  if (await hasLostToken(deps, run)) return;
  const pages = await readPages(deps, crawl.id);
  if (pages.length === 0) return fail(deps, run, NO_PAGES);
  if (extraction === undefined || model === undefined) return fail(deps, run, NO_MODEL);
  try {
    const context = { principal: crawl.principal, parent: crawl.id, names: crawl.names, signal };
    const key = `extract-${crawl.id}`;
    const { spent, ...answer } = await askExtraction(model, { pages, extraction, key }, context);
    const content = await compressText(JSON.stringify(answer));
    const stored = await crawls.fetched(page, { content, work: { spent: String(spent) }, digest: undefined });
    await (stored === "stored"
      ? end(deps, run, spent)
      : crawls.end(page, { state: "skipped", credits: spent }, environment.clock()));
  } catch (thrown) {
    await refused(deps, run, thrown);
  }
}

async function readPages({ crawls }: CrawlDependencies, id: string): Promise<ExtractedPage[]> {
  const pages: ExtractedPage[] = [];
  let characters = 0;
  for (let from = 0; characters < CHARACTERS_MAX;) {
    const some = await crawls.results(id, { from, countMax: RESULTS_AT_ONCE, bytesMax: RESULT_BYTES_MAX });
    if (some.length === 0) break;
    from += some.length;
    for (const { content } of some) {
      const page = pageOf(parseObject(await decompressText(content)) ?? {});
      if (page.markdown.trim() !== "") pages.push(page);
      characters += page.markdown.length;
    }
  }
  return pages;
}

function pageOf({ markdown, metadata }: JsonObject): ExtractedPage {
  const { url, title } = objectOf(metadata) ?? {};
  return { url: textOf(url), title: textOf(title), markdown: textOf(markdown) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

async function end({ crawls, environment }: CrawlDependencies, { page }: PageRun, credits: bigint): Promise<void> {
  await crawls.end(page, { state: "done", credits }, environment.clock());
}

/** Ends the extraction first: a process that dies in between leaves no answer that another one would complete. */
async function fail({ crawls, messages, environment }: CrawlDependencies, run: PageRun, failure: CrawlFailure) {
  await messages.finish(run.page.crawlId, { state: "failed", failure });
  await crawls.end(run.page, { state: "failed", failure }, environment.clock());
}

/** What a moment later may be answered is asked for again. */
async function refused(deps: CrawlDependencies, run: PageRun, thrown: unknown): Promise<void> {
  const { crawls, environment } = deps;
  const now = environment.clock();
  if (run.signal.aborted) {
    await crawls.giveBack(run.page, now);
    return;
  }
  const error = toGatewayError(thrown);
  if (isForNow(error)) {
    await crawls.giveBack(run.page, now + ((error.retryAfterSeconds ?? 0) * 1_000 || REFUSED_WAIT_MS));
    return;
  }
  if (error.status >= 500 && error.code === "internal_error") throw thrown;
  await fail(deps, run, { code: error.code.toUpperCase(), message: error.message });
}

function isForNow({ status, code }: GatewayError): boolean {
  return status === 429 || status === 503 || code === "idempotency_key_in_use";
}

const NO_PAGES: CrawlFailure = { code: "NO_PAGES", message: "None of the pages could be read, or none has a text." };
const NO_MODEL: CrawlFailure = {
  code: "WEB_MODEL_UNSET",
  message: "The gateway has no model for extractions any more.",
};
