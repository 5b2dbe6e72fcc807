/**
 * Reads pages itself:
 *
 *   cache ──miss──▶ fetch, or a browser if only that can do it ──▶ pages/ takes it apart ──▶ a browser, if scripts make the page
 *     └──hit────────────────────────────────────────────────────────────────────▶ the model's formats ──▶ the document
 */
import type { JsonObject } from "../../../core/index.ts";
import type { FileReader, MappedSite, ScrapedPage, SentFile, WebEngine, WebPlan } from "../../engine.ts";
import { mapRequest } from "../../map/map-request.ts";
import { parseRequest } from "../../parse-request.ts";
import { requireModel } from "../../scrape/ask-model.ts";
import { scrapeRequest } from "../../scrape/scrape-request.ts";
import { mapSite } from "../../map/map-site.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import { addressOfFile, checkParse, parseFile } from "./parse-file.ts";
import { scrapePage } from "./scrape-page.ts";
import { needsBrowser, planOf } from "./scrape-plan.ts";
import { requireBrowser } from "./render-page.ts";

export class NativeEngine implements WebEngine, FileReader {
  readonly #deps: NativeDependencies;

  constructor(deps: NativeDependencies) {
    this.#deps = deps;
  }

  planScrape(body: JsonObject): WebPlan<ScrapedPage> {
    const deps = this.#deps;
    const plan = planOf(parseRequest(scrapeRequest, body), deps);
    requireModel(plan.formats, deps.model);
    if (needsBrowser(plan)) requireBrowser(deps.browser, plan);
    return { bound: { pages: 1 }, run: (context) => scrapePage(deps, plan, context) };
  }

  planParse(file: SentFile, options: JsonObject): WebPlan<ScrapedPage> {
    const deps = this.#deps;
    const plan = planOf(parseRequest(scrapeRequest, { ...options, url: addressOfFile(file) }), deps);
    checkParse(plan, file, deps);
    requireModel(plan.formats, deps.model);
    return { bound: { pages: 1 }, run: (context) => parseFile(deps, { plan, file }, context) };
  }

  planMap(body: JsonObject): WebPlan<MappedSite> {
    const request = parseRequest(mapRequest, body);
    return { bound: { maps: 1 }, run: (context) => mapSite(this.#deps, request, context) };
  }
}
