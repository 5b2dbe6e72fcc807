import { z } from "@hono/zod-openapi";
import { scrapeRequest, type WebAccess } from "../../web/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { proxiedRoute } from "../route.ts";
import { document } from "./document.ts";

export const scrapeRoute = proxiedRoute({
  contract: {
    path: "/v2/scrape",
    operationId: "scrape",
    tag: "Search",
    summary: "Scrape one page.",
    body: scrapeRequest,
    streams: false,
    answer: z.looseObject({ success: z.literal(true), data: document }).meta({ id: "ScrapeAnswer" }),
  },
  surface: "firecrawl",
  handle: (call, { web }: { web: WebAccess }) => answerPaid(call, (request) => web.scrape(request)),
});
