/** The routes of crawls and batches, which differ in their paths only. */
import { z } from "@hono/zod-openapi";
import type { Crawls } from "../../web/index.ts";
import { parseQuery } from "../parse-query.ts";
import type { PaidAnswer } from "../../charges/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import { document } from "./document.ts";

const state = z.enum(["scraping", "completed", "failed", "cancelled"]);

const statusAnswer = z
  .looseObject({
    success: z.literal(true),
    status: state,
    total: z.number().int().describe("Pages that are known so far, and are within the limit."),
    completed: z.number().int(),
    creditsUsed: z.number().optional().describe("Left out for a client that reads whole numbers only."),
    expiresAt: z.string().describe("When the results are deleted."),
    createdAt: z.string(),
    completedAt: z.string().optional(),
    error: z.string().optional().describe("Why it ended early."),
    warning: z.string().optional().describe("How many pages came from the cache."),
    next: z.string().nullable().describe("The address of further results, if there are some by now."),
    data: z.array(document),
  })
  .meta({ id: "CrawlStatus" });

const errorsAnswer = z
  .looseObject({
    errors: z.array(
      z.looseObject({
        id: z.string(),
        timestamp: z.string(),
        url: z.string(),
        code: z.string(),
        error: z.string(),
        count: z.number().int().optional().describe("How often it happened, for what was left out."),
      }),
    ),
    robotsBlocked: z.array(z.string()),
  })
  .meta({ id: "CrawlErrors" });

const cancelAnswer = z.looseObject({ success: z.literal(true), status: state }).meta({ id: "CrawlCancelled" });

export const statusQuery = z.object({
  skip: z.coerce.number().int().min(0).max(1_000_000).default(0).describe("Results that are left out, as in next."),
  limit: z.coerce.number().int().min(1).max(1_000).optional().describe("The most results."),
});

const params = z.object({ id: z.string() });

const notFound = "The caller has no such job, or its results have expired.";

interface JobRoutes {
  kind: "crawl" | "batch";
  path: string;
  /** The end of the operations' ids. */
  name: string;
  /** In the summaries. */
  noun: string;
}

export interface Needs {
  crawls: Crawls;
}

/** Starts a crawl or a batch. */
export function startJob(form: Parameters<Crawls["start"]>[0], call: RouteCall, crawls: Crawls): Promise<PaidAnswer> {
  return answerPaid(call, (request) => crawls.start(form, request));
}

export function jsonResponse(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}

export function jobRoutes({ kind, path, name, noun }: JobRoutes) {
  const lookup = { kind, version: "v2" } as const;
  const common = { tag: "Search", params, notFound } as const;
  const status = platformRoute({
    contract: {
      ...common,
      path: `${path}/{id}`,
      operationId: `get${name}`,
      summary: `Poll a ${noun}: its state and results.`,
      query: statusQuery,
      answer: statusAnswer,
    },
    surface: "firecrawl",
    access: "token",
    handle: async ({ request, principal, pathParameter }, { crawls }: Needs) => {
      const { skip, limit } = parseQuery(request, statusQuery);
      const text = await crawls.status({ ...lookup, principal, id: pathParameter("id") }, { skip, limit });
      return jsonResponse(text);
    },
  });
  const cancel = platformRoute({
    contract: {
      ...common,
      method: "delete",
      path: `${path}/{id}`,
      operationId: `cancel${name}`,
      summary: `Cancel a ${noun}.`,
      answer: cancelAnswer,
    },
    surface: "firecrawl",
    access: "token",
    handle: async ({ principal, pathParameter }, { crawls }: Needs) =>
      Response.json(await crawls.cancel({ ...lookup, principal, id: pathParameter("id") })),
  });
  const errors = platformRoute({
    contract: {
      ...common,
      path: `${path}/{id}/errors`,
      operationId: `get${name}Errors`,
      summary: `The pages of a ${noun} that have no result, and what was left out.`,
      answer: errorsAnswer,
    },
    surface: "firecrawl",
    access: "token",
    handle: async ({ principal, pathParameter }, { crawls }: Needs) =>
      Response.json(await crawls.errors({ ...lookup, principal, id: pathParameter("id") })),
  });
  return [errors, status, cancel];
}
