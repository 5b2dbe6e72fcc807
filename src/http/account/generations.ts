import { z } from "@hono/zod-openapi";
import { isRequestId, isTimedUuid } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute } from "../route.ts";
import type { Services } from "../services.ts";
import { answerOf, generationAnswer } from "./generation.ts";

const requestId = z.string().refine(isRequestId, "write the id of a request").meta({ pattern: "^req_[0-9a-z]{25}$" });

const query = z.object({
  parent_id: z
    .string()
    .refine((id) => isRequestId(id) || isTimedUuid(id), "write the id of a request or a crawl")
    .meta({ pattern: "^(?:req_[0-9a-z]{25}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$" })
    .describe("The series: the id of a crawl, or the x-request-id of the handshake that began a session."),
  after: requestId.optional().describe("The last generation of the page before."),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const list = z.object({
  object: z.literal("list"),
  data: z.array(generationAnswer).describe("From the oldest."),
  has_more: z.boolean(),
});

/** The generations of a series: the responses of a realtime session, the turns of a connection, the pages of a crawl. */
export const generationsRoute = platformRoute({
  contract: {
    path: "/v1/generations",
    operationId: "listGenerations",
    tag: "Account",
    summary: "What the calls of a series, such as a session, used and cost.",
    query,
    answer: list,
  },
  access: "token",
  handle: async ({ principal, request }, { generations }: Pick<Services, "generations">) => {
    const { parent_id: parent, after = "", limit } = parseQuery(request, query);
    const found = await generations.ofSeries({ owner: principal.user, parent, after, limit: limit + 1 });
    const answer: z.input<typeof list> = {
      object: "list",
      data: found.slice(0, limit).map(answerOf),
      has_more: found.length > limit,
    };
    return Response.json(answer);
  },
});
