import { creditsNumber, type JsonObject, objectOf, parseObject } from "../../../core/index.ts";
import { decompressText } from "../../compress.ts";
import { creditsUsed } from "../../credits-used.ts";
import type { Crawl, CrawlState, CrawlStore } from "../store.ts";

const states: Readonly<Record<CrawlState, string>> = {
  scraping: "processing",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

interface Results {
  crawls: Pick<CrawlStore, "results">;
}

/** The state of an extraction and its data, in Firecrawl's words. */
export async function extractionStatus(deps: Results, crawl: Crawl): Promise<JsonObject> {
  const { state, failed, failure, credits, expiresAt, request } = crawl;
  const { data, sources } = (state === "completed" ? await answerOf(deps, crawl) : undefined) ?? { data: [] };
  return {
    success: state !== "failed",
    status: states[state],
    data,
    ...(sources !== undefined && { sources }),
    ...(failed > 0 && { warning: `${failed} of the addresses could not be read.` }),
    ...(failure !== undefined && { error: failure.message }),
    expiresAt: new Date(expiresAt).toISOString(),
    ...creditsUsed(request, creditsNumber(credits)),
  };
}

/** The data of an extraction that is complete: its last result. */
export async function answerOf(
  { crawls }: Results,
  { id, completed }: Pick<Crawl, "id" | "completed">,
): Promise<{ data: unknown; sources?: JsonObject } | undefined> {
  const [last] = await crawls.results(id, { from: completed - 1, countMax: 1, bytesMax: 0 });
  const answer = last && parseObject(await decompressText(last.content));
  if (answer === undefined) return undefined;
  const sources = objectOf(answer["sources"]);
  return { data: answer["data"], ...(sources !== undefined && { sources }) };
}
