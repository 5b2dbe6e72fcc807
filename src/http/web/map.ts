import { z } from "@hono/zod-openapi";
import { mapRequest, type WebAccess } from "../../web/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { proxiedRoute } from "../route.ts";

const link = z.looseObject({ url: z.string(), title: z.string().optional(), description: z.string().optional() });

export const mapRoute = proxiedRoute({
  contract: {
    path: "/v2/map",
    operationId: "map",
    tag: "Search",
    summary: "Discover URLs of a site.",
    body: mapRequest,
    streams: false,
    answer: z
      .looseObject({
        success: z.literal(true),
        links: z.array(link),
        warning: z.string().optional(),
        creditsUsed: z.number().optional(),
      })
      .meta({ id: "MapAnswer" }),
  },
  surface: "firecrawl",
  handle: (call, { web }: { web: WebAccess }) => answerPaid(call, (request) => web.map(request)),
});
