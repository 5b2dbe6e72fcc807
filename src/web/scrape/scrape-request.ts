/** The body of a scrape, in the terms of Firecrawl's v2 API. */
import { z } from "zod";
import { limits } from "../../core/index.ts";
import { selectorCharactersMax, selectorCostMax, selectorCostOf } from "../../pages/index.ts";
import { actions } from "./actions.ts";
import { formats, readFormats } from "./formats.ts";

/** The time for one page, in milliseconds. */
const TIMEOUT_MS_MAX = 300_000;
const TIMEOUT_MS_MIN = 1_000;
export const TIMEOUT_MS = 60_000;

const WAIT_MS_MAX = 60_000;

const SELECTORS_MAX = 100;
const HEADERS_MAX = 50;
const HEADER_CHARACTERS_MAX = 8_192;

/** The most pages of a PDF that a request may ask for. */
const PDF_PAGES_MAX = 10_000;

const selectors = z
  .array(z.string().min(1).max(selectorCharactersMax))
  .max(SELECTORS_MAX)
  .refine((list) => selectorCostOf(list) <= selectorCostMax, "too complex: use fewer or simpler selectors");

/** A header's name: of RFC 9110's characters. Those of the connection are the gateway's. */
const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/, "no header name")
  .refine(
    (name) =>
      !/^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*)$/i.test(name),
    {
      error: "this header cannot be set",
    },
  );

const headerValue = z
  .string()
  .max(HEADER_CHARACTERS_MAX)
  .regex(/^[\x20-\x7e\x80-\xff\t]*$/, "a header's value has no line breaks and no characters beyond Latin-1");

const headers = z
  .record(headerName, headerValue)
  .refine((all) => Object.keys(all).length <= HEADERS_MAX, `at most ${HEADERS_MAX} headers`)
  .describe("Sent to the page's own origin only.");

const pdfParser = z.strictObject({
  type: z.literal("pdf"),
  mode: z
    .enum(["fast", "auto", "ocr"])
    .nullish()
    .describe("fast reads text, auto (the default) also pages without any, and ocr all pages, from their pictures."),
  maxPages: z.number().int().min(1).max(PDF_PAGES_MAX).nullish(),
});

/** Members of Firecrawl's API without an equivalent here: `null` and `false` ask for nothing. */
export const unsupported = (name: string) =>
  z
    .unknown()
    .refine((given) => given == null || given === false, `${name} is not supported`)
    .optional()
    .describe("Not supported.");

/** The options of reading one page, shared by scrapes, crawls and searches. */
export const scrapeOptionMembers = {
  formats: formats.nullish(),
  onlyMainContent: z
    .boolean()
    .nullish()
    .describe("Leave out navigation, headers, footers and the like; true by default."),
  includeTags: selectors.nullish().describe("CSS selectors of the only parts that are read."),
  excludeTags: selectors.nullish().describe("CSS selectors of parts that are left out."),
  maxAge: z
    .number()
    .int()
    .min(0)
    .nullish()
    .describe("The age in milliseconds up to which a page of the caller's own cache will do; 0: never."),
  storeInCache: z.boolean().nullish().describe("Whether the page is stored for later requests; true by default."),
  headers: headers.nullish(),
  waitFor: z
    .number()
    .int()
    .min(0)
    .max(WAIT_MS_MAX)
    .nullish()
    .describe("Milliseconds to wait in a browser before reading."),
  mobile: z.boolean().nullish().describe("Whether to appear as a phone."),
  timeout: z
    .number()
    .int()
    .min(TIMEOUT_MS_MIN)
    .max(TIMEOUT_MS_MAX)
    .nullish()
    .describe(`Milliseconds for the page; ${TIMEOUT_MS} by default.`),
  parsers: z
    .array(z.union([z.literal("pdf"), pdfParser]))
    .max(2)
    .nullish()
    .describe("An empty list returns a PDF as it is, in base64."),
  actions: actions.nullish(),
  location: z
    .strictObject({
      country: z
        .string()
        .max(10)
        .nullish()
        .describe("Changes nothing, as warning says: pages are read from the gateway's own address."),
      languages: z
        .array(z.string().regex(/^[A-Za-z0-9-]{1,35}$/))
        .min(1)
        .max(10)
        .nullish(),
    })
    .nullish()
    .describe("languages become accept-language."),
  removeBase64Images: z
    .boolean()
    .nullish()
    .describe("Replace images within the page by their description; true by default."),
  blockAds: z.boolean().nullish().describe("In a browser, load no advertisements; true by default."),
  zeroDataRetention: z.boolean().nullish().describe("Store nothing of the page."),
  proxy: z.enum(["auto", "basic"], { error: "only auto and basic are supported" }).nullish(),
  // Firecrawl's SDK for Python sends its default, true, with every request that has options.
  skipTlsVerification: z.boolean().nullish().describe("Changes nothing: certificates are always verified."),
  onlyCleanContent: unsupported("onlyCleanContent"),
  minAge: unsupported("minAge"),
  lockdown: unsupported("lockdown"),
  redactPII: unsupported("redactPII"),
  profile: unsupported("profile"),
  threatProtection: unsupported("threatProtection"),
  auditMetadata: unsupported("auditMetadata"),
};

/** Members that describe the client, and change nothing. */
export const ignoredMembers = {
  origin: z.unknown().optional().describe("Ignored."),
  integration: z.unknown().optional().describe("Ignored."),
  fastMode: z.unknown().optional().describe("Ignored."),
};

export const scrapeOptions = z
  .strictObject({ ...scrapeOptionMembers, ...ignoredMembers })
  .meta({ id: "ScrapeOptions" });

const url = z
  .string()
  .min(1)
  .max(limits.outboundUrlCharactersMax)
  .describe("The page's address; without a scheme https:// is tried, then http://.");

const scheme = /^[a-z][a-z0-9+.-]*:(\/\/|(?!\d))/i;

/** An address as people write it: without a scheme it is https. */
export function withScheme(text: string): string {
  const trimmed = text.trim();
  return scheme.test(trimmed) ? trimmed : `https://${trimmed}`;
}

/** Whether an address names no scheme: then it is http if nothing answers by https. */
export const hasNoScheme = (text: string): boolean => !scheme.test(text.trim());

export const webUrl = url;

export const scrapeRequest = z
  .strictObject({ url, ...scrapeOptionMembers, ...ignoredMembers })
  .superRefine(({ formats: wanted, zeroDataRetention }, context) => {
    if (zeroDataRetention !== true || readFormats(wanted).changes === undefined) return;
    context.addIssue({
      code: "custom",
      path: ["formats"],
      message: "changeTracking keeps the page: without zeroDataRetention",
    });
  })
  .superRefine(({ waitFor, timeout }, context) => {
    if (waitFor == null || waitFor <= (timeout ?? TIMEOUT_MS) / 2) return;
    context.addIssue({ code: "custom", path: ["waitFor"], message: "at most half of timeout" });
  })
  .meta({ id: "ScrapeRequest" });

export type ScrapeOptions = z.output<typeof scrapeOptions>;
export type ScrapeRequest = z.output<typeof scrapeRequest>;
