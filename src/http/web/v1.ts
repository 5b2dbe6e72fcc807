/**
 * The paths of Firecrawl's v1 API, for clients that were written for it. They are not in the OpenAPI document: new clients use v2.
 */
import type { WebAccess } from "../../web/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { parseQuery } from "../parse-query.ts";
import type { HttpRoute, PaidRoute } from "../route.ts";
import { jsonResponse, type Needs, startJob, statusQuery } from "./job-routes.ts";

const common = { kind: "http", surface: "firecrawl_v1", access: "token" } as const;

function bodyRoute(name: "scrape" | "map" | "search"): PaidRoute<{ web: WebAccess }> {
  return {
    ...common,
    method: "post",
    path: `/v1/${name}`,
    handle: (call, { web }) => answerPaid(call, (request) => web[name](request, "v1")),
  };
}

/** The caller's jobs that run: alike in both versions. */
const runningRoutes = (
  [
    ["/v1/crawl/active", "active"],
    ["/v1/crawl/ongoing", "active"],
    ["/v1/concurrency-check", "concurrency"],
    ["/v1/team/queue-status", "queue"],
  ] as const
).map(([path, name]): HttpRoute<Needs, "token"> => ({
  ...common,
  method: "get",
  path,
  handle: async ({ principal }, { crawls }) => Response.json(await crawls[name](principal)),
}));

interface JobPaths {
  kind: "crawl" | "batch";
  path: string;
  /** The kind that is looked up: the SDKs look up batches by the path of crawls. */
  found: "batch" | undefined;
}

function jobRoutes({ kind, path, found }: JobPaths) {
  const lookup = { kind: found, version: "v1" } as const;
  const start: PaidRoute<Needs> = {
    ...common,
    method: "post",
    path,
    handle: (call, { crawls }) => startJob({ kind, version: "v1" }, call, crawls),
  };
  const status: HttpRoute<Needs, "token"> = {
    ...common,
    method: "get",
    path: `${path}/{id}`,
    handle: async ({ request, principal, pathParameter }, { crawls }) => {
      const { skip, limit } = parseQuery(request, statusQuery);
      return jsonResponse(await crawls.status({ ...lookup, principal, id: pathParameter("id") }, { skip, limit }));
    },
  };
  const cancel: HttpRoute<Needs, "token"> = {
    ...common,
    method: "delete",
    path: `${path}/{id}`,
    handle: async ({ principal, pathParameter }, { crawls }) =>
      Response.json(await crawls.cancel({ ...lookup, principal, id: pathParameter("id") })),
  };
  const errorsBy = (method: "get" | "delete"): HttpRoute<Needs, "token"> => ({
    ...common,
    method,
    path: `${path}/{id}/errors`,
    handle: async ({ principal, pathParameter }, { crawls }) =>
      Response.json(await crawls.errors({ ...lookup, principal, id: pathParameter("id") })),
  });
  // The SDK for JavaScript asks for the errors with DELETE, which would delete nothing.
  return [start, errorsBy("get"), errorsBy("delete"), status, cancel];
}

const extraction = { kind: "extract", version: "v1" } as const;

const startExtraction: PaidRoute<Needs> = {
  ...common,
  method: "post",
  path: "/v1/extract",
  handle: (call, { crawls }) => startJob(extraction, call, crawls),
};

const extractionRoutes = [
  startExtraction,
  ...(["get", "delete"] as const).map((method): HttpRoute<Needs, "token"> => ({
    ...common,
    method,
    path: "/v1/extract/{id}",
    handle: async ({ principal, pathParameter }, { crawls }) => {
      const lookup = { ...extraction, principal, id: pathParameter("id") };
      return Response.json(await (method === "get" ? crawls.extraction(lookup) : crawls.cancel(lookup)));
    },
  })),
];

export const v1Routes = [
  ...extractionRoutes,
  bodyRoute("scrape"),
  bodyRoute("map"),
  bodyRoute("search"),
  ...runningRoutes,
  ...jobRoutes({ kind: "crawl", path: "/v1/crawl", found: undefined }),
  ...jobRoutes({ kind: "batch", path: "/v1/batch/scrape", found: "batch" }),
];
