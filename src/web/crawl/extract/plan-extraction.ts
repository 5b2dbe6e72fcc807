import { GatewayError, type JsonObject } from "../../../core/index.ts";
import type { WebModel } from "../../model.ts";
import { parseRequest } from "../../parse-request.ts";
import { webhookOf } from "../crawl-request.ts";
import { CONCURRENCY, listPages, originOf, type PlannedCrawl } from "../plan-crawl.ts";
import { extractRequest } from "./extract-request.ts";
import { namedPage, PAGES_MAX } from "./extraction-pages.ts";

/** The body of `POST /v2/extract`. Throws 422. */
export function planExtraction(body: JsonObject, model: WebModel | undefined): PlannedCrawl {
  const request = parseRequest(extractRequest, body);
  if (model === undefined) {
    const message = "An extraction needs a model. The operator must set web.model in the configuration.";
    throw new GatewayError("web_model_unset", message, { param: "prompt" });
  }
  const { prompt, systemPrompt, schema, showSources, includeSubdomains } = request;
  const { pages, more } = listPages(request, namedPage);
  return {
    kind: "extract",
    plan: {
      url: pages[0].url,
      // The model reads markdown.
      scrape: { ...request.scrapeOptions, formats: ["markdown"] },
      webhook: webhookOf(request.webhook),
      origin: originOf(body),
      discovery: undefined,
      extraction: {
        prompt: prompt ?? undefined,
        systemPrompt: systemPrompt ?? undefined,
        schema: schema ?? undefined,
        showSources: showSources ?? false,
        includeSubdomains: includeSubdomains ?? false,
      },
    },
    // With the answer, which is one of them.
    pagesMax: PAGES_MAX + 1,
    concurrencyMax: CONCURRENCY,
    delayMs: 0,
    pages,
    more,
  };
}
