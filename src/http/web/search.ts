import { z } from "@hono/zod-openapi";
import { searchRequest, type WebAccess } from "../../web/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { proxiedRoute } from "../route.ts";
import { document } from "./document.ts";

/** A page that could not be read has no status, but an error. */
const metadataOfResult = document.shape.metadata.partial();

const result = z
  .looseObject({ url: z.string(), title: z.string(), description: z.string() })
  .and(document.partial().extend({ metadata: metadataOfResult.optional() }))
  .describe("With scrapeOptions it has the members of a scraped page too.");

const news = z.looseObject({
  url: z.string(),
  title: z.string(),
  snippet: z.string(),
  date: z.string().optional(),
  imageUrl: z.string().optional(),
  position: z.number(),
});

const image = z.looseObject({
  url: z.string().describe("The page's address."),
  title: z.string(),
  imageUrl: z.string().optional(),
  imageWidth: z.number().optional(),
  imageHeight: z.number().optional(),
  position: z.number(),
});

export const searchRoute = proxiedRoute({
  contract: {
    path: "/v2/search",
    operationId: "search",
    tag: "Search",
    summary: "Web search.",
    body: searchRequest,
    streams: false,
    answer: z
      .looseObject({
        success: z.literal(true),
        data: z
          .looseObject({ web: z.array(result), news: z.array(news), images: z.array(image) })
          .partial()
          .describe("One list for each of the sources."),
        warning: z.string().nullable(),
        id: z.string(),
        creditsUsed: z.number(),
      })
      .meta({ id: "SearchAnswer" }),
  },
  surface: "firecrawl",
  handle: (call, { web }: { web: WebAccess }) => answerPaid(call, (request) => web.search(request)),
});
