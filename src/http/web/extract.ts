import { z } from "@hono/zod-openapi";
import { extractRequest } from "../../web/index.ts";
import { platformRoute, proxiedRoute } from "../route.ts";
import { type Needs, startJob } from "./job-routes.ts";

const startRoute = proxiedRoute({
  contract: {
    path: "/v2/extract",
    operationId: "extract",
    tag: "Search",
    summary: "Start reading data from several pages.",
    body: extractRequest,
    streams: false,
    maxCredits: false,
    answer: z
      .looseObject({
        success: z.literal(true),
        id: z.string(),
        url: z.string().describe("Where to poll it."),
        invalidURLs: z.array(z.string()).describe("Addresses of no page, which were left out."),
      })
      .meta({ id: "ExtractCreated" }),
  },
  surface: "firecrawl",
  handle: (call, { crawls }: Needs) => startJob({ kind: "extract", version: "v2" }, call, crawls),
});

const state = z.enum(["processing", "completed", "failed", "cancelled"]);
const common = {
  tag: "Search",
  path: "/v2/extract/{id}",
  params: z.object({ id: z.string() }),
  notFound: "The caller has no such job, or its results have expired.",
} as const;
const lookup = { kind: "extract", version: "v2" } as const;

const statusRoute = platformRoute({
  contract: {
    ...common,
    operationId: "getExtract",
    summary: "Poll an extraction: its state and its data.",
    answer: z
      .looseObject({
        success: z.boolean().describe("False for one that has failed."),
        status: state,
        data: z.unknown().describe("An empty list until it is complete."),
        sources: z
          .record(z.string(), z.array(z.string()))
          .optional()
          .describe("With showSources, the addresses of each member of the data."),
        warning: z.string().optional().describe("How many addresses could not be read."),
        error: z.string().optional().describe("Why it failed."),
        expiresAt: z.string(),
        creditsUsed: z.number().optional().describe("Left out for a client that reads whole numbers only."),
      })
      .meta({ id: "ExtractStatus" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: async ({ principal, pathParameter }, { crawls }: Needs) =>
    Response.json(await crawls.extraction({ ...lookup, principal, id: pathParameter("id") })),
});

const cancelRoute = platformRoute({
  contract: {
    ...common,
    method: "delete",
    operationId: "cancelExtract",
    summary: "Cancel an extraction.",
    answer: z.looseObject({ success: z.literal(true), status: state }).meta({ id: "ExtractCancelled" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: async ({ principal, pathParameter }, { crawls }: Needs) =>
    Response.json(await crawls.cancel({ ...lookup, principal, id: pathParameter("id") })),
});

export const extractRoutes = [startRoute, statusRoute, cancelRoute];
