/** The part of the composition for the web: the engine, its readers of pages, and the model for summaries and JSON. */
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Browser } from "../browser/index.ts";
import { openTokenStore } from "../auth/index.ts";
import type { CallPipeline } from "../calls/index.ts";
import { type Config, programPath } from "../config/index.ts";
import {
  abortSignalOf,
  type Environment,
  GatewayError,
  objectOf,
  listOf,
  parseCredits,
  parseObject,
  type QueueLoad,
  requestId,
} from "../core/index.ts";
import { chatCodec, chatRequest } from "../dialects/index.ts";
import type { RunningPart } from "../http/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { Jobs } from "./jobs.ts";
import type { PaidWork } from "./paid-work.ts";
import type { PagePool } from "../pages/index.ts";
import { webPrice } from "../pricing/index.ts";
import { createMarkups } from "./routing/routing.ts";
import type { Ticker } from "../streaming/index.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { Storage } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import {
  BraveBackend,
  CRAWL_WEBHOOK_JOB,
  CrawlDelivery,
  CrawlMessages,
  Crawls,
  type CrawlsOptions,
  FirecrawlBackend,
  FirecrawlEngine,
  IndexingEngine,
  NativeEngine,
  openWebStores,
  PageCache,
  PageHistory,
  Robots,
  ScanTexts,
  Screenshots,
  type SearchBackend,
  SearxngBackend,
  type StoredBytesStore,
  TextIndex,
  type TextIndexStore,
  WebAccess,
  type WebEngine,
  type WebModel,
  type WebStores,
} from "../web/index.ts";

/** The program of the browser's child process. */
const BROWSER_CHILD = fileURLToPath(new URL("browser-child.ts", import.meta.url));

/** The address of Firecrawl's own service. */
const FIRECRAWL_URL = "https://api.firecrawl.dev";

interface WebOptions {
  config: Config;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  /** The dependencies of calls, which work on the web shares. */
  calls: PaidWork;
  pipeline: CallPipeline;
  outbound: Outbound;
  webhooks: Webhooks;
  /** Runs the jobs of a kind, and stores one. */
  handle: Jobs["handle"];
  startJob: Jobs["startJob"];
  ticker: Ticker;
  /** The gateway's own address. */
  publicUrl: string;
  pages: PagePool;
  /** Those of the configuration before, whose browser goes on if its settings are the same. */
  before: Web | undefined;
}

export interface Web extends RunningPart {
  access: WebAccess;
  crawls: Crawls;
  screenshots: Screenshots;
  storedBytes: StoredBytesStore;
  textIndex: TextIndexStore;
  /** The queues for pages that are taken apart and for pages of the browser. */
  queues: Readonly<Record<"pages" | "browser_pages", QueueLoad>>;
  /** Leaves the browser to the parts of the next configuration; undefined if they need another one. */
  leaveBrowser: (settings: BrowserSettings) => Browser | undefined;
}

type BrowserSettings = Pick<Config["web"], "browser" | "allow_private_hosts" | "allow_ports">;

/** The browser is started when the first page needs it. The pages of crawls that are due are read from now on. */
export function createWeb(options: WebOptions): Web {
  const { config, environment, storage, logger, calls, outbound, publicUrl, pages } = options;
  const { clock } = environment;
  const stores = openWebStores(storage);
  const screenshots = new Screenshots({ store: stores.storedBytes, environment, publicUrl });
  const { browser, leaveBrowser, closeBrowser } = takeBrowser(options);
  const chosen = engineOf(config);
  const index = createTextIndex(options, stores);
  const { work, shell, memory } = calls;
  const userAgent = config.web.user_agent;
  const robots = new Robots({ outbound, clock, userAgent });
  const model = createModel(options, "model");
  const native = createNative(options, stores, { robots, browser, screenshots, model });
  const reader: WebEngine = chosen.kind === "firecrawl" ? createFirecrawl(options, chosen) : native;
  const engine = new IndexingEngine(reader, index);
  const search = createSearch(options, index);
  const priceOf = (kind: string) => webPrice(config.pricing.web, createMarkups(config)(`web/${kind}`));
  const price = priceOf(chosen.kind);
  const files = { reader: native, engineName: "native", price: priceOf("native") };
  const sitemaps = { outbound, pages, memory, environment, userAgent };
  const crawls = createCrawls(options, stores, {
    engine,
    engineName: chosen.kind,
    price,
    work,
    shell,
    model,
    robots,
    sitemaps,
    pages,
  });
  return {
    crawls,
    access: new WebAccess({ engine, files, model, search, engineName: chosen.kind, price, shell, environment, logger }),
    screenshots,
    storedBytes: stores.storedBytes,
    textIndex: stores.textIndex,
    queues: { pages: pages.load, browser_pages: browser.load },
    leaveBrowser,
    get own() {
      return crawls.reading;
    },
    retire: () => crawls.retire(),
    stop: () => crawls.stop().then(closeBrowser),
  };
}

type NativeParts = Pick<ConstructorParameters<typeof NativeEngine>[0], "robots" | "browser" | "screenshots" | "model">;

function createNative(
  options: WebOptions,
  { storedBytes: store }: WebStores,
  { screenshots, ...parts }: NativeParts,
): NativeEngine {
  const { config, environment, logger, calls, outbound, pages } = options;
  const { clock } = environment;
  return new NativeEngine({
    ...parts,
    visionModel: createModel(options, "vision_model"),
    outbound,
    pages,
    cache: new PageCache({ store, clock, logger }),
    scanTexts: new ScanTexts({ store, clock, logger, model: config.web.vision_model }),
    history: new PageHistory({ store, clock, logger }),
    screenshots: config.web.screenshots === "address" ? screenshots : undefined,
    memory: calls.memory,
    environment,
    logger,
    userAgent: config.web.user_agent,
    pageBytesMax: config.web.page_limit,
    cacheMsMax: config.web.cache_max_age,
  });
}

function engineOf({ web: { engine } }: Config) {
  return typeof engine === "string" ? { kind: engine } : engine;
}

interface TakenBrowser extends Pick<Web, "leaveBrowser"> {
  browser: Browser;
  /** Does nothing once it is left to others. */
  closeBrowser: () => Promise<void>;
}

function takeBrowser(options: WebOptions): TakenBrowser {
  const settings = settingsOfBrowser(options.config);
  const browser = options.before?.leaveBrowser(settings) ?? createBrowser(options);
  let isOwn = true;
  return {
    browser,
    leaveBrowser(wanted) {
      if (!isDeepStrictEqual(wanted, settings)) return undefined;
      isOwn = false;
      return browser;
    },
    closeBrowser: () => (isOwn ? browser.close() : Promise.resolve()),
  };
}

function settingsOfBrowser({ web }: Config): BrowserSettings {
  const { browser, allow_private_hosts, allow_ports } = web;
  return { browser, allow_private_hosts, allow_ports };
}

function createTextIndex({ config, environment: { clock }, logger }: WebOptions, { textIndex }: WebStores): TextIndex {
  return new TextIndex({ store: textIndex, clock, logger, withoutUsers: config.web.search.without_users });
}

/** The address of Brave's search API. */
const BRAVE_URL = "https://api.search.brave.com/res/v1";

function createSearch({ config, environment: { fetch } }: WebOptions, local: TextIndex): SearchBackend {
  const { backend, base_url: baseUrl, api_key: apiKey = "" } = config.web.search;
  switch (backend) {
    case "searxng":
      return new SearxngBackend({ fetch, baseUrl: baseUrl ?? "" });
    case "brave":
      return new BraveBackend({ fetch, baseUrl: baseUrl ?? BRAVE_URL, apiKey });
    case "firecrawl":
      return new FirecrawlBackend({ fetch, baseUrl: baseUrl ?? FIRECRAWL_URL, apiKey });
    case "local":
      return local;
  }
}

type CrawlParts = Pick<
  CrawlsOptions,
  "engine" | "engineName" | "price" | "work" | "shell" | "model" | "robots" | "sitemaps" | "pages"
>;

function createCrawls(options: WebOptions, { crawls }: WebStores, parts: CrawlParts): Crawls {
  const { config, environment, logger, webhooks, ticker, publicUrl, storage, startJob } = options;
  const { clock } = environment;
  const { crawl } = config.web;
  const intervalMs = crawl.pages_per_second === 0 ? 0 : Math.ceil(1_000 / crawl.pages_per_second);
  options.handle(CRAWL_WEBHOOK_JOB, new CrawlDelivery({ crawls, webhooks, clock, ticker }));
  return new Crawls({
    ...parts,
    crawls,
    messages: new CrawlMessages({ crawls, startJob, clock, bytesPerUserMax: crawl.bytes_per_user }),
    webhooks,
    tokens: openTokenStore(storage),
    environment,
    ticker,
    logger,
    publicUrl,
    bounds: {
      politeness: { connectionsMax: crawl.connections_per_host, intervalMs },
      pagesAtOnceMax: crawl.pages,
      maxAgeMs: crawl.max_age,
      retryAfterMsMax: crawl.retry_after_max,
      crawlsPerUserMax: crawl.per_user,
      bytesPerUserMax: crawl.bytes_per_user,
    },
  });
}

function createBrowser({ config, environment, logger }: WebOptions): Browser {
  const { browser, allow_private_hosts: allowPrivateHosts, allow_ports: allowPorts } = config.web;
  return new Browser({
    isEnabled: browser.enabled,
    executable: browser.executable,
    sandbox: browser.sandbox,
    pagesMax: browser.pages,
    idleMs: browser.idle_timeout,
    allowPrivateHosts,
    allowPorts,
    script: BROWSER_CHILD,
    path: programPath(),
    randomFraction: environment.randomFraction,
    logger,
  });
}

function createFirecrawl(
  { calls, outbound, environment }: WebOptions,
  {
    base_url: baseUrl = FIRECRAWL_URL,
    api_key: apiKey = "",
  }: { base_url?: string | undefined; api_key?: string | undefined },
): FirecrawlEngine {
  return new FirecrawlEngine({ baseUrl, apiKey, ask: environment.ask, outbound, memory: calls.memory });
}

/** The model of a setting: each question is a call of the pipeline, like one of the caller's own. */
function createModel(
  { config, environment, pipeline }: WebOptions,
  setting: "model" | "vision_model",
): WebModel | undefined {
  const model = config.web[setting];
  if (model === undefined) return undefined;
  const { clock, randomBytes } = environment;
  const route = {
    operations: ["chat", "messages", "gemini"],
    surface: "openai",
    body: chatRequest,
    codec: chatCodec,
  } as const;
  return {
    async ask({ instructions, text: asked, pictures, schema }, { principal, parent, names, signal, retryKey }) {
      const question = {
        model,
        messages: [
          { role: "system", content: instructions },
          { role: "user", content: pictures === undefined ? asked : withPictures(asked, pictures) },
        ],
        ...(schema !== undefined && {
          response_format: { type: "json_schema", json_schema: { name: "page", schema } },
        }),
      };
      const answer = await pipeline.run(route, {
        requestId: requestId(clock, randomBytes),
        parent,
        principal,
        names,
        headers: new Headers({
          "content-type": "application/json",
          ...(retryKey !== undefined && { "idempotency-key": retryKey }),
        }),
        body: Buffer.from(JSON.stringify(question)),
        client: { signal: abortSignalOf(signal) },
      });
      const body = parseObject(await new Response(answer.body).text());
      if (answer.status !== 200) throw refusedByModel(`web.${setting}`, answer.status, body);
      const choice = objectOf(listOf(body?.["choices"])[0]);
      const { content, refusal } = objectOf(choice?.["message"]) ?? {};
      const isCut = choice?.["finish_reason"] !== "stop" || (typeof refusal === "string" && refusal !== "");
      const isRepeated = answer.headers["idempotent-replayed"] === "true";
      const cost = answer.headers[isRepeated ? "x-tollgate-first-credits" : "x-tollgate-credits"];
      const text = typeof content === "string" ? content : "";
      return { text, spent: parseCredits(cost ?? "0"), isRepeated, isCut };
    },
  };
}

function withPictures(text: string, pictures: readonly Uint8Array[]): object[] {
  return [
    { type: "text", text },
    ...pictures.map((bytes) => ({
      type: "image_url",
      image_url: { url: `data:image/png;base64,${bytes.toBase64()}` },
    })),
  ];
}

function refusedByModel(setting: string, status: number, body: object | undefined): GatewayError {
  const message = objectOf(objectOf(body)?.["error"])?.["message"];
  const why = typeof message === "string" ? `: ${message.slice(0, 500)}` : "";
  return new GatewayError("upstream_invalid_answer", `The model of ${setting} answered ${status}${why}`);
}
