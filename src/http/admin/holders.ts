/** Organisations, users and projects, which have the same routes. */
import { z } from "@hono/zod-openapi";
import {
  addHolder,
  changeHolder,
  deleteHolder,
  findHolderState,
  holderJson,
  type HolderChanges,
  type HolderKind,
  listHolders,
  oneOfKind,
  type TokenPolicy,
} from "../../accounts/index.ts";
import { builtInTags, limits, parseMarkup } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { accountsOf, adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";
import { requireFreshSignIn } from "./fresh-sign-in.ts";
import {
  actHeaders,
  actQuery,
  bodyOf,
  budget,
  changeHeaders,
  contextOf,
  idOf,
  limitChangesOf,
  limitSettings,
  policyFields,
  policySettings,
  name,
  nanoOf,
  printable,
  reason,
  reference,
  role,
  taggedJson,
  tagKey,
} from "./requests.ts";

const money = z.number().describe("Credits.");

const common = {
  id: z.string().describe("Never changes."),
  name: z.string(),
  disabled: z.boolean(),
  prepaid: z.boolean().describe("Whether it is limited by credits of its own."),
  balance: money.nullable().describe("Of credits of its own."),
  spend: money.describe("Ever."),
  held: money.describe("For calls under way."),
  available: money.nullable().describe("The most that a call may cost by this account's limits; null for no limit."),
  ...policyFields,
  max_budget: money.nullable(),
  period: z.enum(["daily", "monthly"]).nullable(),
  created_at: z.iso.datetime(),
};

const identity = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/ })
    .max(1_000)
    .describe("The claim iss."),
  subject: printable(1_000).describe("The claim sub."),
});

const tokenPolicy = z
  .strictObject({
    max_tokens: z.int().min(0).max(10_000).nullable().describe("Tokens of one user that can be used."),
    max_expires: z
      .int()
      .min(1)
      .max(3_650 * 86_400)
      .nullable()
      .describe("Seconds that a token lives."),
    max_budget: budget.describe("Credits that a token spends in all; null for no limit."),
  })
  .partial()
  .meta({ id: "TokenPolicy" })
  .describe("Bounds of tokens that its users and admins make; without one, its members make none.");

const answers = {
  organisation: z
    .object({
      object: z.literal("organisation"),
      ...common,
      markup: z.number().nullable(),
      token_policy: tokenPolicy.nullable(),
      tags: z.array(z.string()).describe("The keys of its calls' tags."),
    })
    .meta({ id: "AdminOrganisation" }),
  user: z
    .object({
      object: z.literal("user"),
      ...common,
      role,
      organisation: z.string().nullable(),
      organisation_id: z.string().nullable(),
      identities: z.array(identity).describe("Callers with tokens of configured issuers who are this user."),
    })
    .meta({ id: "AdminUser" }),
  project: z
    .object({
      object: z.literal("project"),
      ...common,
      organisation: z.string().nullable(),
      organisation_id: z.string().nullable(),
      members: z.array(z.string()).describe("The ids of users who see what belongs to it, and have its tokens."),
    })
    .meta({ id: "AdminProject" }),
} as const;

const settings = {
  ...policySettings,
  ...limitSettings,
  prepaid: z
    .boolean()
    .optional()
    .describe(
      "Whether credits of its own limit it, by owners and billing; by default true, unless an organisation pays.",
    ),
  disabled: z.boolean().optional(),
  reason,
};
const markup = z
  .number()
  .min(1e-6)
  .max(1e6)
  .nullable()
  .describe("The factor on the prices of its calls; null for the configuration's.");
const tags = z
  .array(tagKey.refine((key) => !builtInTags.some((own) => own === key), "session and end_user are there without that"))
  .max(limits.tagKeysMax)
  .optional()
  .describe("The keys of its calls' tags: these and no others.");
const ofOrganisation = { ...settings, markup: markup.optional(), token_policy: tokenPolicy.nullish(), tags };
const identities = z.array(identity).max(100).optional().describe("These and no others, by owners alone.");
const ofUser = { ...settings, role: role.optional(), identities };
const members = z
  .array(reference)
  .max(1_000)
  .optional()
  .describe("Users of its organisation, by id or name: these and no others.");
const ofProject = { ...settings, members };

const bodies = {
  organisation: {
    create: z.strictObject({ name, ...ofOrganisation }).meta({ id: "AdminOrganisationRequest" }),
    change: z.strictObject({ name: name.optional(), ...ofOrganisation }).meta({ id: "AdminOrganisationChange" }),
  },
  user: {
    create: z.strictObject({ name, organisation: reference.nullish(), ...ofUser }).meta({ id: "AdminUserRequest" }),
    change: z
      .strictObject({
        name: name.optional(),
        organisation: reference.nullish().describe("Moves the user there; null for no organisation."),
        ...ofUser,
      })
      .meta({ id: "AdminUserChange" }),
  },
  project: {
    create: z
      .strictObject({ name, organisation: reference.nullish(), ...ofProject })
      .meta({ id: "AdminProjectRequest" }),
    change: z
      .strictObject({
        name: name.optional(),
        organisation: reference.nullish().describe("Moves the project there, without its members; null for none."),
        ...ofProject,
      })
      .meta({ id: "AdminProjectChange" }),
  },
} as const;

type HolderBody = z.output<typeof bodies.organisation.change> &
  z.output<typeof bodies.user.change> &
  z.output<typeof bodies.project.change>;

function tokenPolicyOf(policy: z.output<typeof tokenPolicy> | null | undefined): TokenPolicy | null | undefined {
  if (policy == null) return policy;
  const { max_tokens: maxTokens, max_expires: seconds, max_budget: maxBudget } = policy;
  return {
    ...(maxTokens != null && { maxTokens }),
    ...(seconds != null && { maxExpiresMs: seconds * 1_000 }),
    ...(maxBudget != null && { maxBudget: nanoOf(maxBudget) }),
  };
}

function changesOf(body: HolderBody): HolderChanges {
  const { name: named, role: given, organisation, disabled, markup: factor } = body;
  return {
    ...limitChangesOf(body),
    organisation,
    name: named,
    role: given,
    prepaid: body.prepaid,
    disabled,
    identities: body.identities,
    members: body.members,
    tags: body.tags,
    tokenPolicy: tokenPolicyOf(body.token_policy),
    markup: factor == null ? factor : Number(parseMarkup(factor)),
  };
}

const params = z.object({ id: z.string().describe("An id or a name.") });
const conflict =
  "It has credits, users, projects or calls under way, or the name is taken, or nobody else is an owner.";
const notFound = "There is none in the caller's reach.";

const query = pageQuery.extend({ organisation: reference.optional().describe("Of this one only, by its id or name.") });

const titles = { organisation: "Organisation", user: "User", project: "Project" } as const;

const withoutTokens = {
  organisation: "an organisation without users and projects",
  user: "a user, and revoke their tokens",
  project: "a project, and revoke its tokens",
} as const;

const listRoute = (kind: HolderKind) =>
  adminRoute(
    {
      route: `get /admin/v1/${kind}s`,
      operationId: `list${titles[kind]}s`,
      summary: `${titles[kind]}s, by id.`,
      query: kind === "organisation" ? pageQuery : query,
      answer: listSchema(answers[kind]),
    },
    async (call, needs) => {
      const { limit, after, ...rest } = parseQuery(call.request, kind === "organisation" ? pageQuery : query);
      const organisation = "organisation" in rest ? (rest.organisation as string | undefined) : undefined;
      const found = await listHolders(accountsOf(call, needs), { kind, limit: limit + 1, after, organisation });
      return Response.json(listOf(found, limit, holderJson));
    },
  );

const createRoute = (kind: HolderKind) =>
  adminRoute(
    {
      route: `post /admin/v1/${kind}s`,
      operationId: `create${titles[kind]}`,
      summary: `Create ${oneOfKind(kind)}.`,
      query: actQuery,
      requestHeaders: actHeaders,
      body: bodies[kind].create,
      answer: answers[kind],
      conflict,
      notFound,
    },
    async (call, needs) => {
      const body: HolderBody & { name: string } = await bodyOf(call, needs, bodies[kind].create);
      const context = contextOf(call, body);
      requireFreshSignIn(call, needs, { act: `post /admin/v1/${kind}s`, body, dryRun: context.dryRun });
      const { organisation } = body;
      const request = { ...changesOf(body), kind, name: body.name, organisation: organisation ?? undefined };
      const state = await addHolder(accountsOf(call, needs), request, context);
      return taggedJson(holderJson(state), state.holder.version);
    },
  );

const getRoute = (kind: HolderKind) =>
  adminRoute(
    {
      route: `get /admin/v1/${kind}s/{id}`,
      operationId: `get${titles[kind]}`,
      summary: `One ${kind}, by id or name.`,
      params,
      answer: answers[kind],
      notFound,
    },
    async (call, needs) => {
      const state = await findHolderState(accountsOf(call, needs), { kind, name: idOf(call) });
      return taggedJson(holderJson(state), state.holder.version);
    },
  );

const changeRoute = (kind: HolderKind) =>
  adminRoute(
    {
      route: `patch /admin/v1/${kind}s/{id}`,
      operationId: `change${titles[kind]}`,
      summary: `Change ${oneOfKind(kind)}; null takes a limit away.`,
      params,
      query: actQuery,
      requestHeaders: changeHeaders,
      body: bodies[kind].change,
      answer: answers[kind],
      conflict,
      notFound,
      precondition: "It was changed since.",
    },
    async (call, needs) => {
      const body: HolderBody = await bodyOf(call, needs, bodies[kind].change);
      const context = contextOf(call, body);
      requireFreshSignIn(call, needs, { act: `patch /admin/v1/${kind}s/{id}`, body, dryRun: context.dryRun });
      const place = { kind, name: idOf(call) };
      const state = await changeHolder(accountsOf(call, needs), place, changesOf(body), context);
      return taggedJson(holderJson(state), state.holder.version);
    },
  );

const deleteRoute = (kind: HolderKind) =>
  adminRoute(
    {
      route: `delete /admin/v1/${kind}s/{id}`,
      operationId: `delete${titles[kind]}`,
      summary: `Delete ${withoutTokens[kind]}.`,
      params,
      query: actQuery,
      requestHeaders: changeHeaders,
      answer: z.object({ id: z.string(), deleted: z.literal(true) }),
      conflict,
      notFound,
      precondition: "It was changed since.",
    },
    async (call, needs) => {
      const context = contextOf(call);
      requireFreshSignIn(call, needs, { act: `delete /admin/v1/${kind}s/{id}`, dryRun: context.dryRun });
      const { holder } = await deleteHolder(accountsOf(call, needs), { kind, name: idOf(call) }, context);
      return Response.json({ id: holder.id, deleted: true });
    },
  );

/** The five routes of one kind. */
function routesOf(kind: HolderKind) {
  return [listRoute(kind), createRoute(kind), getRoute(kind), changeRoute(kind), deleteRoute(kind)];
}

export const organisationRoutes = routesOf("organisation");
export const userRoutes = routesOf("user");
export const projectRoutes = routesOf("project");
