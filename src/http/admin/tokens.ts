import { z } from "@hono/zod-openapi";
import {
  type Caller,
  changeToken,
  findTokenState,
  issueTokenTo,
  listTokens,
  ownerPlace,
  revokeToken,
  rotateToken,
  tokenJson,
} from "../../accounts/index.ts";
import { GatewayError, isTagValue, limits } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { accountsOf, adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";
import { requireFreshSignIn } from "./fresh-sign-in.ts";
import {
  actHeaders,
  actQuery,
  bodyOf,
  changeHeaders,
  contextOf,
  idOf,
  limitChangesOf,
  limitSettings,
  ownerIn,
  policyFields,
  policySettings,
  printable,
  reason,
  reference,
  role,
  taggedJson,
  tagKey,
} from "./requests.ts";

const credits = z.number().describe("Credits.");

const metadata = z
  .record(tagKey, printable(128).min(1).refine(isTagValue, "one line of 1 to 128 characters"))
  .refine((values) => Object.keys(values).length <= limits.tagKeysMax, `at most ${limits.tagKeysMax} keys`)
  .describe("Values of its calls' tags by their keys, unless a call names its own: these and no others.");

const tokenFields = {
  object: z.literal("token"),
  id: z.string(),
  user: z.string().nullable().describe("Whose it is; null of a project's."),
  user_id: z.string().nullable(),
  project: z.string().nullable(),
  project_id: z.string().nullable(),
  name: z.string().nullable(),
  role: role.nullable().describe("A lesser one than its user's; null for that."),
  service: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  ...policyFields,
  max_budget: credits.nullable(),
  period: z.enum(["daily", "monthly"]).nullable(),
  paused: z.boolean(),
  revoked_at: z.iso.datetime().nullable(),
  previous_until: z.iso.datetime().nullable().describe("Until when the secret before the last rotation can be used."),
  made_by: z.string().nullable(),
  created_at: z.iso.datetime(),
  spend: credits,
  held: credits,
  available: credits.nullable(),
};

const tokenAnswer = z.object(tokenFields).meta({ id: "AdminToken" });
const withSecret = z
  .object({ ...tokenFields, token: z.string().nullable().describe("Shown only now; null of a dry run.") })
  .meta({ id: "AdminTokenWithSecret" });

const settings = {
  name: printable(128).nullish(),
  role: role.nullish(),
  ...policySettings,
  ...limitSettings,
  paused: z.boolean().optional(),
  metadata: metadata.nullish(),
  reason,
};

const createBody = z
  .strictObject({
    user: reference.optional().describe("By default the caller."),
    project: reference.optional().describe("In place of a user."),
    service: z.boolean().optional().describe("Spends without a balance; by owners alone."),
    ...settings,
  })
  .meta({ id: "AdminTokenRequest" });
const changeBody = z.strictObject(settings).meta({ id: "AdminTokenChange" });
const rotateBody = z
  .strictObject({
    overlap: z
      .int()
      .min(0)
      .max(30 * 86_400)
      .default(0)
      .describe("Seconds in which both secrets can be used."),
    reason,
  })
  .meta({ id: "AdminTokenRotation" });

type TokenBody = z.output<typeof changeBody>;

function changesOf(body: TokenBody) {
  return { ...limitChangesOf(body), name: body.name, role: body.role, paused: body.paused, metadata: body.metadata };
}

const params = z.object({ id: z.string().describe("An id or a name.") });
const notFound = "There is no such token in the caller's reach.";
const conflict = "The token is revoked.";
const precondition = "It was changed since.";

const query = pageQuery.extend({
  user: reference.optional().describe("Theirs only, by id or name."),
  project: reference.optional().describe("Its own only, by id or name."),
});

/** Throws 422 for a command, which is nobody's. */
function callersOwner({ user }: Caller) {
  if (user === undefined) throw new GatewayError("validation_failed", "user: name one", { param: "user" });
  const { kind, id } = ownerPlace(user);
  return { kind, name: id };
}

const listRoute = adminRoute(
  {
    route: "get /admin/v1/tokens",
    operationId: "listTokens",
    summary: "Tokens in the caller's reach, by id, without their secrets.",
    query,
    answer: listSchema(tokenAnswer),
    notFound: "There is no such user or project in the caller's reach.",
  },
  async (call, needs) => {
    const { limit: count, after, ...named } = parseQuery(call.request, query);
    const page = { limit: count + 1, after, owner: ownerIn(named) };
    const found = await listTokens(accountsOf(call, needs), page);
    return Response.json(listOf(found, count, tokenJson));
  },
);

const createRoute = adminRoute(
  {
    route: "post /admin/v1/tokens",
    operationId: "createToken",
    summary: "Issue a token; the answer has its secret, once.",
    query: actQuery,
    requestHeaders: actHeaders,
    body: createBody,
    answer: withSecret,
    conflict: "It has no account.",
    notFound: "There is no such user or project in the caller's reach.",
  },
  async (call, needs) => {
    const body = await bodyOf(call, needs, createBody);
    const context = contextOf(call, body);
    requireFreshSignIn(call, needs, { act: "post /admin/v1/tokens", dryRun: context.dryRun });
    const { user, project, service, ...rest } = body;
    const deps = accountsOf(call, needs);
    const owner = ownerIn({ user, project }) ?? callersOwner(deps.caller);
    const issued = await issueTokenTo(deps, { ...changesOf(rest), service, owner }, context);
    const token = context.dryRun === true ? null : issued.secret;
    return taggedJson({ ...tokenJson(issued), token }, issued.token.version);
  },
);

const getRoute = adminRoute(
  {
    route: "get /admin/v1/tokens/{id}",
    operationId: "getToken",
    summary: "One token.",
    params,
    answer: tokenAnswer,
    notFound,
  },
  async (call, needs) => {
    const state = await findTokenState(accountsOf(call, needs), idOf(call));
    return taggedJson(tokenJson(state), state.token.version);
  },
);

const changeRoute = adminRoute(
  {
    route: "patch /admin/v1/tokens/{id}",
    operationId: "changeToken",
    summary: "Change a token's limits, pause or resume it; null takes a limit away.",
    params,
    query: actQuery,
    requestHeaders: changeHeaders,
    body: changeBody,
    answer: tokenAnswer,
    notFound,
    conflict,
    precondition,
  },
  async (call, needs) => {
    const body = await bodyOf(call, needs, changeBody);
    const context = contextOf(call, body);
    requireFreshSignIn(call, needs, { act: "patch /admin/v1/tokens/{id}", body, dryRun: context.dryRun });
    const state = await changeToken(accountsOf(call, needs), idOf(call), changesOf(body), context);
    return taggedJson(tokenJson(state), state.token.version);
  },
);

const revokeRoute = adminRoute(
  {
    route: "delete /admin/v1/tokens/{id}",
    operationId: "revokeToken",
    summary: "Revoke a token, which stays in the list.",
    params,
    query: actQuery,
    requestHeaders: changeHeaders,
    answer: tokenAnswer,
    notFound,
    precondition,
  },
  async (call, needs) => {
    const state = await revokeToken(accountsOf(call, needs), idOf(call), contextOf(call));
    return taggedJson(tokenJson(state), state.token.version);
  },
);

const rotateRoute = adminRoute(
  {
    route: "post /admin/v1/tokens/{id}/rotate",
    operationId: "rotateToken",
    summary: "Give a token a new secret; its id, limits and spending stay.",
    params,
    query: actQuery,
    requestHeaders: changeHeaders,
    body: rotateBody,
    answer: withSecret,
    notFound,
    conflict,
    precondition,
  },
  async (call, needs) => {
    const body = await bodyOf(call, needs, rotateBody);
    const context = contextOf(call, body);
    requireFreshSignIn(call, needs, { act: "post /admin/v1/tokens/{id}/rotate", dryRun: context.dryRun });
    const state = await rotateToken(accountsOf(call, needs), idOf(call), (body.overlap ?? 0) * 1_000, context);
    const token = context.dryRun === true ? null : state.secret;
    return taggedJson({ ...tokenJson(state), token }, state.token.version);
  },
);

export const tokenRoutes = [listRoute, createRoute, getRoute, changeRoute, revokeRoute, rotateRoute];
