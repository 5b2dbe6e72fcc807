import type { Environment } from "../../../core/index.ts";
import type { Outbound } from "../../../outbound/index.ts";
import type { PagePool } from "../../../pages/index.ts";
import type { MemoryBudget } from "../../../streaming/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import type { PageCache } from "../../cache/index.ts";
import type { PageHistory } from "../../changes/page-history.ts";
import type { WebModel } from "../../model.ts";
import type { Robots } from "../../robots/index.ts";
import type { Screenshots } from "../../screenshots/index.ts";
import type { ScanTexts } from "./scans/scan-texts.ts";
import type { PageRenderer } from "../../web-dependencies.ts";

export interface NativeDependencies {
  outbound: Pick<Outbound, "fetch">;
  pages: Pick<PagePool, "takeApart" | "drawPdf" | "readSitemap" | "compareTexts">;
  robots: Pick<Robots, "now">;
  browser: PageRenderer;
  cache: Pick<PageCache, "get" | "put">;
  /** The pages whose changes are tracked. */
  history: Pick<PageHistory, "last" | "keep">;
  /** Undefined if screenshots are answered as data. */
  screenshots: Pick<Screenshots, "keep"> | undefined;
  /** Undefined if the configuration names none. */
  model: WebModel | undefined;
  /** Reads pictures of pages. Undefined likewise. */
  visionModel: WebModel | undefined;
  scanTexts: Pick<ScanTexts, "documentOf" | "read" | "stored">;
  memory: MemoryBudget;
  environment: Pick<Environment, "clock">;
  logger: Logger;
  userAgent: string;
  /** Bytes of a page. */
  pageBytesMax: number;
  /** The age up to which cached pages are used, unless the request differs. */
  cacheMsMax: number;
}
