import { z } from "@hono/zod-openapi";
import { GatewayError, isBatchId, isRequestId, isTimedUuid } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute } from "../route.ts";
import { answerCalls } from "../rows/answer-calls.ts";
import type { Services } from "../services.ts";
import { callCursor, callFilter, callPageFields, callQueryOf, filterOf, pageFieldsOf } from "./call-query.ts";
import { answerOf, generationAnswer } from "./generation.ts";

/** The id of a series: of a crawl, a batch, or a session. */
export const seriesId = z
  .string()
  .refine((id) => isRequestId(id) || isTimedUuid(id) || isBatchId(id), "write the id of a request, a crawl or a batch")
  .meta({
    pattern:
      "^(?:(?:req|batch|msgbatch)_[0-9a-z]{25}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$",
  });

const query = z.object({
  parent_id: seriesId
    .optional()
    .describe(
      "The calls of a series alone, from the oldest: the id of a crawl or a batch, or the x-request-id of the handshake that began a session.",
    ),
  ...callFilter,
  after: callCursor,
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const list = z.object({
  object: z.literal("list"),
  data: z.array(generationAnswer).describe("From the newest; those of a series from the oldest."),
  ...callPageFields,
});

/** The calls of the caller's user, or of one series of theirs: the responses of a realtime session, the pages of a crawl. */
export const generationsRoute = platformRoute({
  contract: {
    path: "/v1/generations",
    operationId: "listGenerations",
    tag: "Account",
    summary: "What calls of the caller's user used and cost.",
    query,
    answer: list,
    otherAnswers: ["text/csv"],
  },
  access: "token",
  handle: async (
    { principal, request },
    { generations, clock, tables }: Pick<Services, "generations" | "clock" | "tables">,
  ) => {
    const asked = parseQuery(request, query);
    const { parent_id: parent, after, limit } = asked;
    const owner = principal.user;
    if (parent !== undefined) {
      requireNoFilter(request);
      const page = await seriesPage(generations, { owner, parent, after, limit });
      return answer(page.calls.map(answerOf), pageFieldsOf(page));
    }
    const filter = { ...filterOf(asked, request), owner };
    const calls = callQueryOf({ query: asked, request }, { filter, now: clock(), calendar: generations.calendar });
    if (asked.format === "csv") return answerCalls(tables, calls, undefined);
    const page = await generations.list({ ...calls, limit });
    return answer(page.calls.map(answerOf), pageFieldsOf(page));
  },
});

interface SeriesAsked {
  /** Whose series it is. */
  owner: string;
  organisationAccount?: string | undefined;
  parent: string;
  after: string | undefined;
  limit: number;
}

/** A page of the calls of a series, from the oldest. */
export async function seriesPage(generations: Pick<Services["generations"], "ofSeries">, asked: SeriesAsked) {
  const { after = "", limit, ...series } = asked;
  const found = await generations.ofSeries({ ...series, after, limit: limit + 1 });
  const calls = found.slice(0, limit);
  return { calls, next: found.length > limit ? calls.at(-1)?.id : undefined };
}

function answer(data: z.input<typeof generationAnswer>[], fields: ReturnType<typeof pageFieldsOf>): Response {
  return Response.json({ object: "list", data, ...fields } satisfies z.input<typeof list>);
}

const ofSeries: ReadonlySet<string> = new Set(["parent_id", "after", "limit"]);

/** Series are short, and listed whole. `owners`: the parameters that name whose it is. Throws a 422. */
export function requireNoFilter(request: Request, owners: readonly string[] = []): void {
  const names = [...new URL(request.url).searchParams.keys()];
  const other = names.find((name) => !ofSeries.has(name) && !owners.includes(name));
  if (other === undefined) return;
  const param = other.slice(0, 80);
  throw new GatewayError("validation_failed", `${param}: a series (parent_id) has no filters.`, { param });
}
