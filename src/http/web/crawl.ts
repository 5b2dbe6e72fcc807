import { z } from "@hono/zod-openapi";
import { batchRequest, crawlPreviewRequest, crawlRequest, type WebAccess } from "../../web/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { platformRoute, proxiedRoute } from "../route.ts";
import { jobRoutes, type Needs, startJob } from "./job-routes.ts";

const created = {
  success: z.literal(true),
  id: z.string(),
  url: z.string().describe("Where to poll it."),
};

/** Creates a crawl. */
export const startCrawlRoute = proxiedRoute({
  contract: {
    path: "/v2/crawl",
    operationId: "crawl",
    tag: "Search",
    summary: "Start a crawl.",
    body: crawlRequest,
    streams: false,
    maxCredits: false,
    answer: z.looseObject(created).meta({ id: "CrawlCreated" }),
  },
  surface: "firecrawl",
  handle: (call, { crawls }: Needs) => startJob({ kind: "crawl", version: "v2" }, call, crawls),
});

const previewRoute = proxiedRoute({
  contract: {
    path: "/v2/crawl/params-preview",
    operationId: "previewCrawl",
    tag: "Search",
    summary: "Have a model make the options of a crawl.",
    body: crawlPreviewRequest,
    streams: false,
    maxCredits: false,
    answer: z
      .looseObject({
        success: z.literal(true),
        data: z.looseObject({ url: z.string() }).describe("Members of the body of a crawl."),
        warning: z.string().optional().describe("Options of the model that were none."),
      })
      .meta({ id: "CrawlPreview" }),
  },
  surface: "firecrawl",
  handle: (call, { web }: { web: WebAccess }) => answerPaid(call, (request) => web.previewCrawl(request)),
});

const startBatchRoute = proxiedRoute({
  contract: {
    path: "/v2/batch/scrape",
    operationId: "batchScrape",
    tag: "Search",
    summary: "Start scraping many pages.",
    body: batchRequest,
    streams: false,
    maxCredits: false,
    answer: z
      .looseObject({
        ...created,
        invalidURLs: z.array(z.string()).describe("Addresses of no page, which were left out."),
      })
      .meta({ id: "BatchScrapeCreated" }),
  },
  surface: "firecrawl",
  handle: (call, { crawls }: Needs) => startJob({ kind: "batch", version: "v2" }, call, crawls),
});

const activeCrawls = z
  .looseObject({
    success: z.literal(true),
    crawls: z.array(
      z.looseObject({
        id: z.string(),
        teamId: z.string(),
        url: z.string(),
        status: z.literal("scraping"),
        created_at: z.string(),
        options: z.looseObject({}).describe("As in the request, with what is by default."),
      }),
    ),
  })
  .meta({ id: "ActiveCrawls" });

/** Two names of one list, as Firecrawl has them. */
const activeCrawlsRoutes = [
  { path: "/v2/crawl/active", operationId: "listActiveCrawls" },
  { path: "/v2/crawl/ongoing", operationId: "listOngoingCrawls" },
].map((names) =>
  platformRoute({
    contract: { ...names, tag: "Search", summary: "The caller's crawls that are running.", answer: activeCrawls },
    surface: "firecrawl",
    access: "token",
    handle: async ({ principal }, { crawls }: Needs) => Response.json(await crawls.active(principal)),
  }),
);

const concurrencyRoute = platformRoute({
  contract: {
    path: "/v2/concurrency-check",
    operationId: "checkConcurrency",
    tag: "Search",
    summary: "Pages of the caller's jobs that are under way.",
    answer: z
      .looseObject({ success: z.literal(true), concurrency: z.number().int(), maxConcurrency: z.number().int() })
      .meta({ id: "Concurrency" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: async ({ principal }, { crawls }: Needs) => Response.json(await crawls.concurrency(principal)),
});

const queueRoute = platformRoute({
  contract: {
    path: "/v2/team/queue-status",
    operationId: "getQueueStatus",
    tag: "Search",
    summary: "Pages of the caller's jobs that wait or are under way.",
    answer: z
      .looseObject({
        success: z.literal(true),
        jobsInQueue: z.number().int(),
        activeJobsInQueue: z.number().int(),
        waitingJobsInQueue: z.number().int(),
        maxConcurrency: z.number().int(),
        mostRecentSuccess: z.string().nullable().describe("When a job was complete last, among those that are kept."),
      })
      .meta({ id: "QueueStatus" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: async ({ principal }, { crawls }: Needs) => Response.json(await crawls.queue(principal)),
});

export const crawlRoutes = [
  startCrawlRoute,
  previewRoute,
  ...activeCrawlsRoutes,
  ...jobRoutes({ kind: "crawl", path: "/v2/crawl", name: "Crawl", noun: "crawl" }),
  startBatchRoute,
  ...jobRoutes({ kind: "batch", path: "/v2/batch/scrape", name: "BatchScrape", noun: "batch" }),
  concurrencyRoute,
  queueRoute,
];
