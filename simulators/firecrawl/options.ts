import {
  isAnything,
  isFlag,
  isInteger,
  isLike,
  isNumber,
  isOneOf,
  isRecord,
  isText,
  isTextOrRecord,
} from "../shared/check.ts";
import { list, record, type Shape, tagged, textOr, value, values } from "../shared/shape.ts";

const isAddress = isLike(/^https?:\/\/[^\s/]+/i, "an http or https URL");
const texts = list(value(isText));
const viewport = record(values({ width: isInteger(1, 7_680), height: isInteger(1, 4_320) }), {
  required: ["width", "height"],
});
const plainFormats = [
  "markdown",
  "summary",
  "html",
  "rawHtml",
  "links",
  "images",
  "branding",
  "product",
  "menu",
  "audio",
  "video",
];

const kind = value(isText);
const formatObjects: { [type: string]: Shape } = {
  ...Object.fromEntries(plainFormats.map((name) => [name, record({ type: kind })])),
  screenshot: record({ type: kind, ...values({ fullPage: isFlag, quality: isInteger(1, 100) }), viewport }),
  json: record({ type: kind, ...values({ schema: isRecord, prompt: isText }) }),
  changeTracking: record({ type: kind, modes: texts, ...values({ schema: isRecord, prompt: isText, tag: isText }) }),
  attributes: record({ type: kind, selectors: value(isAnything) }),
  question: record({ type: kind, question: kind }, { required: ["question"] }),
  highlights: record({ type: kind, query: kind }, { required: ["query"] }),
};

/** A name, or an object with that name as `type`; `json` needs a schema or a prompt and is refused as a mere name. */
const format: Shape = (given, field) => {
  if (typeof given !== "string") return tagged(formatObjects)(given, field);
  const expected = isOneOf(...plainFormats, "screenshot", "changeTracking")(given);
  return expected === null ? null : { kind: "bad-value", field, message: `expected ${expected}`, value: given };
};

const selector = { type: kind, selector: kind };
const actions = tagged({
  wait: record({ ...selector, milliseconds: value(isInteger(1, 60_000)) }),
  screenshot: record({ type: kind, ...values({ fullPage: isFlag, quality: isInteger(1, 100) }), viewport }),
  click: record({ ...selector, all: value(isFlag) }, { required: ["selector"] }),
  write: record({ type: kind, text: kind }, { required: ["text"] }),
  press: record({ type: kind, key: kind }, { required: ["key"] }),
  scroll: record({ ...selector, direction: value(isOneOf("up", "down")) }),
  scrape: record({ type: kind }),
  executeJavascript: record({ type: kind, script: kind }, { required: ["script"] }),
  pdf: record({ type: kind, ...values({ format: isText, landscape: isFlag, scale: isNumber(0.1, 2) }) }),
});

const location = record({ country: value(isLike(/^[A-Za-z]{2}$/, "a country code")), languages: texts });
const parsers = list(
  textOr(
    tagged({
      pdf: record({
        type: kind,
        ...values({
          mode: isOneOf("fast", "auto", "ocr"),
          maxPages: isInteger(1, 10_000),
          pages: isFlag,
          blocks: isFlag,
          pageMarkers: isFlag,
        }),
      }),
    }),
  ),
);

/** Of every request. SDKs name themselves in `origin` and `integration`. */
const envelope = values({ origin: isText, integration: isText, auditMetadata: isRecord, threatProtection: isRecord });

const scrapeMembers: { [name: string]: Shape } = {
  formats: list(format),
  includeTags: texts,
  excludeTags: texts,
  actions: list(actions),
  location,
  parsers,
  redactPII: value(isAnything),
  ...values({
    onlyMainContent: isFlag,
    onlyCleanContent: isFlag,
    maxAge: isInteger(0, Number.MAX_SAFE_INTEGER),
    minAge: isInteger(0, Number.MAX_SAFE_INTEGER),
    headers: isRecord,
    waitFor: isInteger(0, 60_000),
    timeout: isInteger(1_000, 300_000),
    mobile: isFlag,
    skipTlsVerification: isFlag,
    removeBase64Images: isFlag,
    blockAds: isFlag,
    fastMode: isFlag,
    proxy: isOneOf("basic", "enhanced", "stealth", "auto"),
    storeInCache: isFlag,
    lockdown: isFlag,
    profile: isRecord,
  }),
};

const scrapeOptions = record(scrapeMembers);
const webhook = textOr(
  record({ events: texts, ...values({ url: isText, headers: isRecord, metadata: isRecord }) }, { required: ["url"] }),
);
const sitemap = value(isOneOf("include", "skip", "only"));

/** POST /v2/scrape. */
export const scrapeShape = record(
  { url: value(isAddress), ...scrapeMembers, zeroDataRetention: value(isFlag), ...envelope },
  { required: ["url"] },
);

/** POST /v2/map. */
export const mapShape = record(
  {
    url: value(isAddress),
    sitemap,
    location,
    ...values({
      search: isText,
      includeSubdomains: isFlag,
      ignoreQueryParameters: isFlag,
      ignoreCache: isFlag,
      limit: isInteger(1, 100_000),
      timeout: isInteger(1, 300_000),
    }),
    ...envelope,
  },
  { required: ["url"] },
);

const source = textOr(
  tagged({
    web: record({ type: kind, ...values({ tbs: isText, location: isText }) }),
    news: record({ type: kind }),
    images: record({ type: kind }),
  }),
);

/** POST /v2/search. */
export const searchShape = record(
  {
    query: value(isLike(/^[\s\S]{1,500}$/, "a text of at most 500 characters")),
    sources: list(source),
    categories: list(value(isTextOrRecord)),
    includeDomains: texts,
    excludeDomains: texts,
    enterprise: texts,
    scrapeOptions,
    ...values({
      limit: isInteger(1, 100),
      tbs: isText,
      location: isText,
      country: isText,
      safe: isFlag,
      timeout: isInteger(1, 300_000),
      ignoreInvalidURLs: isFlag,
      highlights: isFlag,
    }),
    ...envelope,
  },
  { required: ["query"] },
);

/** POST /v2/crawl. */
export const crawlShape = record(
  {
    url: value(isAddress),
    includePaths: texts,
    excludePaths: texts,
    sitemap,
    webhook,
    scrapeOptions,
    ...values({
      prompt: isText,
      maxDiscoveryDepth: isInteger(0, 1_000),
      ignoreQueryParameters: isFlag,
      regexOnFullURL: isFlag,
      limit: isInteger(1, 1_000_000),
      crawlEntireDomain: isFlag,
      allowExternalLinks: isFlag,
      allowSubdomains: isFlag,
      ignoreRobotsTxt: isFlag,
      robotsUserAgent: isText,
      delay: isNumber(0, 60),
      maxConcurrency: isInteger(1, 1_000),
      zeroDataRetention: isFlag,
    }),
    ...envelope,
  },
  { required: ["url"] },
);

/** POST /v2/batch/scrape. */
export const batchShape = record(
  {
    urls: texts,
    webhook,
    ...scrapeMembers,
    ...values({
      maxConcurrency: isInteger(1, 1_000),
      ignoreInvalidURLs: isFlag,
      zeroDataRetention: isFlag,
      appendToId: isText,
    }),
    ...envelope,
  },
  { required: ["urls"] },
);
