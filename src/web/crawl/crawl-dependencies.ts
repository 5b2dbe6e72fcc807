import type { TokenStore } from "../../auth/index.ts";
import type { WorkDependencies, WorkShell } from "../../charges/index.ts";
import type { Environment } from "../../core/index.ts";
import type { PagePool } from "../../pages/index.ts";
import type { ModelPrice } from "../../pricing/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Webhooks } from "../../webhooks/index.ts";
import type { WebEngine } from "../engine.ts";
import type { WebModel } from "../model.ts";
import type { Robots } from "../robots/index.ts";
import type { SitemapDependencies } from "../sitemaps/index.ts";
import type { CrawlMessages } from "./messages/crawl-messages.ts";
import type { CrawlStore, Politeness } from "./store.ts";

export interface CrawlDependencies {
  crawls: CrawlStore;
  engine: WebEngine;
  /** The engine's name, which the records of its work have as their model. */
  engineName: string;
  price: ModelPrice;
  work: WorkDependencies;
  /** Undefined if the configuration names none. */
  model: WebModel | undefined;
  robots: Pick<Robots, "of">;
  sitemaps: SitemapDependencies;
  pages: Pick<PagePool, "matchPatterns">;
  messages: CrawlMessages;
  tokens: Pick<TokenStore, "findById">;
  environment: Pick<Environment, "clock" | "randomBytes" | "randomFraction">;
  ticker: Pick<Ticker, "now" | "watch" | "leave" | "after">;
  logger: Logger;
  bounds: CrawlBounds;
}

export interface CrawlsOptions extends CrawlDependencies {
  webhooks: Pick<Webhooks, "check">;
  /** The gateway's own address. */
  publicUrl: string;
  shell: WorkShell;
}

/** The operator's bounds. */
interface CrawlBounds {
  politeness: Politeness;
  /** Pages that one process reads at the same time. */
  pagesAtOnceMax: number;
  /** The age up to which cached pages are used, unless the request differs; undefined: as for a scrape. */
  maxAgeMs: number | undefined;
  /** The longest `retry-after` of a host that is waited for. */
  retryAfterMsMax: number;
  /** Crawls of one user that run at the same time. */
  crawlsPerUserMax: number;
  /** Bytes of the results of one user's crawls that run. */
  bytesPerUserMax: number;
}
