import { z } from "@hono/zod-openapi";
import { GatewayError, isRequestId, loggableId } from "../../../core/index.ts";
import type { Generation } from "../../../generations/index.ts";
import { callFilterOf, organisationAccountOf } from "../../../spending/index.ts";
import {
  callCursor,
  callFilter,
  callPageFields,
  callQueryOf,
  filterOf,
  pageFieldsOf,
} from "../../account/call-query.ts";
import { generationAnswer, withParts } from "../../account/generation.ts";
import { requireNoFilter, seriesId, seriesPage } from "../../account/generations.ts";
import { listInParts } from "../../in-parts.ts";
import { moment } from "../../account/usage.ts";
import { parseQuery } from "../../parse-query.ts";
import { answerCalls } from "../../rows/answer-calls.ts";
import { TablesHere } from "../../rows/tables.ts";
import type { RouteCall } from "../../route.ts";
import { accountsOf, type AdminNeeds, adminRoute, pageQuery, rightsOf } from "../admin-route.ts";
import { tailCalls } from "./call-tail.ts";
import { shownCalls } from "./shown-calls.ts";
import { placeFields } from "../place.ts";
import { reference } from "../requests.ts";

const callAnswer = generationAnswer.extend(placeFields).meta({ id: "AdminGeneration" });

export type CallAnswer = z.output<typeof callAnswer>;

/** The statuses of refusals before any upstream is asked: for the token, the credits, a limit, or a mistake of the caller. */
const unrecorded = [401, 402, 404, 422, 429];

const listAnswer = z.object({
  object: z.literal("list"),
  data: z.array(callAnswer).describe("From the newest."),
  ...callPageFields,
  unrecorded_statuses: z
    .array(z.int())
    .describe("Requests that the gateway itself refused with these statuses have no records: the log has them."),
});

const listQuery = pageQuery.extend({
  organisation: reference.optional(),
  user: reference.optional(),
  project: reference.optional(),
  parent_id: seriesId
    .optional()
    .describe("The calls of a series of `user` or `project` alone, from the oldest: of a crawl, a batch or a session."),
  ...callFilter,
  after: callCursor,
});

export const callsRoute = adminRoute(
  {
    route: "get /admin/v1/generations",
    operationId: "listAllGenerations",
    summary:
      "The calls of all users, failed ones included; with `accept: text/event-stream` those that end from now on.",
    query: listQuery,
    answer: listAnswer,
    otherAnswers: ["text/csv", "text/event-stream"],
  },
  async (call, needs) => {
    const { request } = call;
    const { generations, clock, isDraining = () => false } = needs;
    const asked = parseQuery(request, listQuery);
    const { organisation, user, project } = asked;
    const { tokenId: token, ...selected } = filterOf(asked, call.request);
    const filter = await callFilterOf(accountsOf(call, needs), { ...selected, organisation, user, project, token });
    const deps = accountsOf(call, needs);
    const show = (calls: readonly Generation[]) => shownCalls(deps, calls);
    if (request.headers.get("accept")?.includes("text/event-stream") === true)
      return tailCalls(generations, {
        follower: generations.follow(filter),
        show,
        user: call.principal.user,
        isAllowed: await rightsOf(call, needs),
        signal: request.signal,
        isDraining,
      });
    if (asked.parent_id !== undefined) {
      requireNoFilter(request, ["user", "project"]);
      const { owner, organisationAccount } = filter;
      if (owner === undefined)
        throw new GatewayError("validation_failed", "parent_id: name the user or the project, too", { param: "user" });
      const { parent_id: parent, after, limit } = asked;
      const series = { owner, organisationAccount, parent, after, limit };
      const page = await seriesPage(generations, series);
      return listInParts({ rows: page.calls, show, rest: { ...pageFieldsOf(page), unrecorded_statuses: unrecorded } });
    }
    const query = callQueryOf({ query: asked, request }, { filter, now: clock(), calendar: generations.calendar });
    const { tables = new TablesHere(needs) } = needs;
    if (asked.format === "csv") return answerCalls(tables, query, deps.caller);
    const page = await generations.list({ ...query, limit: asked.limit });
    const rest = { ...pageFieldsOf(page), unrecorded_statuses: unrecorded };
    return listInParts({ rows: page.calls, show, rest });
  },
);

const oneQuery = z.object({
  to: moment
    .optional()
    .describe("The search for an id that is not ours begins at this time, towards the past; by default now."),
});

/** Any call: by our id at once, by another one among the failed calls at once and among the others by a search. */
export const callRoute = adminRoute(
  {
    route: "get /admin/v1/generations/{id}",
    operationId: "getAnyGeneration",
    summary: "A call of any user, by our id, by the caller's own id of the request, or by the provider's.",
    params: z.object({ id: z.string().describe("Our x-request-id, the caller's, or the provider's.") }),
    query: oneQuery,
    answer: callAnswer,
    notFound:
      "No call has this id, or it has not ended yet. Requests that the gateway itself refused (401, 402, 404, 422, 429) have no record.",
  },
  async (call, needs) => {
    const { to } = parseQuery(call.request, oneQuery);
    const { generations, clock } = needs;
    const { calendar } = generations;
    const end = to === undefined ? clock() + 1 : "at" in to ? to.at : calendar.startOfDay(to.day);
    const found = await find(call, needs, end);
    if (!("searchedFrom" in found)) {
      const whole = await withParts(found, found.owner, generations);
      const [shown] = await shownCalls(accountsOf(call, needs), [whole]);
      return Response.json(shown);
    }
    const searched =
      found.searchedFrom === 0
        ? ""
        : ` Calls since ${new Date(found.searchedFrom).toISOString()} were searched: \`to\` goes on before.`;
    throw new GatewayError(
      "generation_not_found",
      `There is no call with this id, or it has not ended yet.${searched} Requests that the gateway itself refused (401, 402, 404, 422, 429) have no record.`,
    );
  },
);

async function find(call: RouteCall, needs: AdminNeeds, to: number): Promise<Generation | { searchedFrom: number }> {
  const id = call.pathParameter("id");
  const { generations } = needs;
  const organisationAccount = await organisationAccountOf(accountsOf(call, needs));
  const own = isRequestId(id) ? await generations.findAny(id, organisationAccount) : undefined;
  if (own !== undefined) return own;
  // Ids that are longer, or not printable, are in no record.
  if (loggableId(id) === undefined) return { searchedFrom: 0 };
  const { signal } = call.request;
  const outcome = await generations.findByForeignId({ id, organisationAccount, to, signal });
  return "call" in outcome ? outcome.call : outcome;
}
