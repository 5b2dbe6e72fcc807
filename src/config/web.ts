/** The part of the configuration's schema for the /v2 routes, and for all addresses that callers choose. */
import { z } from "zod";
import { describePrice, type PriceKey } from "../core/index.ts";
import { fromText } from "./values/from-text.ts";
import { httpUrl } from "./provider.ts";
import { byteSize as size, duration as time } from "./values/units.ts";

const byteSize = fromText(size);

const endpoint = {
  base_url: httpUrl.optional().describe("The address of the upstream, without /v2."),
  api_key: z.string().optional().describe("The upstream's key."),
};

const engineKind = z.enum(["native", "firecrawl"]);

const browser = z
  .strictObject({
    enabled: fromText(z.boolean()).prefault(true).describe("Whether pages may be read in a browser, if there is one."),
    executable: z
      .string()
      .min(1)
      .optional()
      .describe("The browser's program. Unset: Chromium, Chrome or Edge in the usual places."),
    sandbox: fromText(z.boolean())
      .prefault(true)
      .describe(
        "The browser's own sandbox. Without it, a page that breaks out of its process has the rights of the browser's user.",
      ),
    pages: fromText(z.number().int().min(1).max(64)).prefault(4).describe("Pages at a time, in each process."),
    idle_timeout: fromText(time).prefault("1m").describe("How long an unused browser is kept."),
  })
  .prefault({})
  .describe("For screenshots, actions, waitFor, and pages that scripts make.");

const crawl = z
  .strictObject({
    pages_per_second: fromText(z.number().min(0).max(1_000))
      .prefault(5)
      .describe("The pace at which all nodes together read pages of one host; 0: no bound."),
    connections_per_host: fromText(z.number().int().min(1).max(1_000))
      .prefault(2)
      .describe("Pages of one host at a time, on all nodes together."),
    pages: fromText(z.number().int().min(1).max(256))
      .prefault(16)
      .describe("Pages at a time, in each process; the crawls of one user get three quarters of what others leave."),
    retry_after_max: time
      .prefault("60s")
      .describe(
        "The longest retry-after of a host (429, 503) that is waited for; a page whose host asks for more has failed.",
      ),
    max_age: fromText(z.union([z.literal(0), time]))
      .optional()
      .describe(
        "The age up to which pages of a crawl without maxAge are answered from its user's cache; 0: never. Unset: cache_max_age.",
      ),
    per_user: fromText(z.number().int().min(1).max(10_000))
      .prefault(20)
      .describe("Crawls and batches of one user at a time."),
    bytes_per_user: byteSize
      .prefault("1GiB")
      .describe(
        "Stored results of one user, compressed; the oldest ended crawls make room for others, and the largest running one ends.",
      ),
  })
  .prefault({})
  .describe("Crawls and batches.");

export const web = z
  .strictObject({
    engine: z
      .union([engineKind, z.strictObject({ kind: engineKind, ...endpoint })])
      .default("native")
      .describe("Scrapes and maps pages itself, or relays the requests to a Firecrawl-compatible upstream."),
    search: z
      .strictObject({
        backend: z
          .enum(["local", "searxng", "brave", "firecrawl"])
          .default("local")
          .describe("Searches the pages that the same user has read, or asks a search engine."),
        ...endpoint,
        without_users: z
          .array(z.string())
          .default([])
          .describe("Users whose pages are not indexed for the local search: globs."),
      })
      .prefault({}),
    model: z
      .string()
      .optional()
      .describe("The model, with its prefix, for the formats summary and json. Unset: they get 422."),
    vision_model: z
      .string()
      .optional()
      .describe("The model, with its prefix, that reads pages of PDFs which are pictures. Unset: a warning instead."),
    user_agent: z
      .string()
      .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,500}[\x21-\x7e])?$/, "printable ASCII")
      .default("Mozilla/5.0 (compatible; Tollgate/0.1)")
      .describe("The User-Agent of requests for pages."),
    page_limit: byteSize.prefault("16MiB").describe("The largest page, decoded; a scrape of a larger one gets 502."),
    cache_max_age: fromText(z.union([z.literal(0), time]))
      .prefault("2d")
      .describe("The age up to which a scrape without maxAge is answered from its user's cache of pages; 0: never."),
    browser,
    crawl,
    screenshots: z
      .enum(["address", "data"])
      .default("address")
      .describe(
        "Whether a screenshot is answered as a signed address of the gateway, valid for a day, or as a data: URL.",
      ),
    allow_private_hosts: z
      .array(z.string())
      .default([])
      .describe(
        "Hosts on private networks, or with other ports, that webhooks may be sent to and pages read from: globs of host or host:port.",
      ),
    allow_ports: z
      .array(fromText(z.number().int().min(1).max(65_535)))
      .prefault([80, 443, 8080, 8443])
      .describe("The ports of all other hosts."),
  })
  .superRefine(({ engine, search }, context) => {
    if (engine === "firecrawl" || (typeof engine === "object" && engine.kind === "firecrawl" && !engine.api_key)) {
      context.addIssue({ code: "custom", path: ["engine"], message: "firecrawl needs an api_key: { kind, api_key }" });
    }
    const { backend, base_url: baseUrl, api_key: apiKey } = search;
    if (backend === "searxng" && baseUrl === undefined) {
      context.addIssue({
        code: "custom",
        path: ["search", "base_url"],
        message: "searxng needs the address of its instance",
      });
    }
    if ((backend === "brave" || backend === "firecrawl") && !apiKey) {
      context.addIssue({ code: "custom", path: ["search", "api_key"], message: `${backend} needs an api_key` });
    }
  })
  .prefault({})
  .describe("The /v2 routes, and the addresses that callers choose.");

const price = (key: PriceKey, byDefault: number) =>
  fromText(z.number().min(0).max(1e9)).prefault(byDefault).describe(describePrice(key));

/** The prices of the /v2 routes: in the ratios of Firecrawl's, one credit of which is 0.001 of the gateway's. */
export const webPrices = z
  .strictObject({
    pages_kcount: price("pages_kcount", 1),
    pdf_pages_kcount: price("pdf_pages_kcount", 1),
    maps_kcount: price("maps_kcount", 1),
    searches_kcount: price("searches_kcount", 2),
  })
  .prefault({})
  .describe("The prices of the /v2 routes.");
