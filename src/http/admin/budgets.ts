/** Model groups, and the budgets beside the chains of organisations, users and tokens. */
import { z } from "@hono/zod-openapi";
import {
  accountBudgetJson,
  addBudget,
  addGroup,
  type BudgetChanges,
  changeBudget,
  changeGroup,
  deleteBudget,
  deleteGroup,
  findBudget,
  findModelGroup,
  groupJson,
  listBudgets,
  listGroups,
} from "../../accounts/index.ts";
import { GatewayError } from "../../core/index.ts";
import { parseQuery } from "../parse-query.ts";
import { accountsOf, adminRoute, listOf, listSchema, pageQuery } from "./admin-route.ts";
import { requireFreshSignIn } from "./fresh-sign-in.ts";
import {
  actHeaders,
  actQuery,
  bodyOf,
  changeHeaders,
  contextOf,
  creditsAmount,
  globs,
  idOf,
  name,
  nanoOf,
  ownerIn,
  reason,
  reference,
  taggedJson,
} from "./requests.ts";

const params = z.object({ id: z.string().describe("An id or a name.") });
const precondition = "It was changed since.";
const deleted = z.object({ id: z.string(), deleted: z.literal(true) });

const models = globs.describe("Globs of model ids with prefix.");
const group = z
  .object({
    object: z.literal("model_group"),
    id: z.string(),
    name: z.string(),
    models: z.array(z.string()),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "AdminModelGroup" });
const newGroup = z.strictObject({ name, models, reason }).meta({ id: "AdminModelGroupRequest" });
const changedGroup = z
  .strictObject({ name: name.optional(), models: models.optional(), reason })
  .meta({ id: "AdminModelGroupChange" });
const noGroup = "There is no such model group.";

export const groupRoutes = [
  adminRoute(
    {
      route: "get /admin/v1/model_groups",
      operationId: "listModelGroups",
      summary: "Model groups, by id.",
      query: pageQuery,
      answer: listSchema(group),
    },
    async (call, needs) => {
      const { limit, after } = parseQuery(call.request, pageQuery);
      const found = await listGroups(accountsOf(call, needs), { limit: limit + 1, after });
      return Response.json(listOf(found, limit, groupJson));
    },
  ),
  adminRoute(
    {
      route: "post /admin/v1/model_groups",
      operationId: "createModelGroup",
      summary: "Create a model group.",
      query: actQuery,
      requestHeaders: actHeaders,
      body: newGroup,
      answer: group,
      conflict: "The name is taken.",
    },
    async (call, needs) => {
      const body = await bodyOf(call, needs, newGroup);
      const context = contextOf(call, body);
      requireFreshSignIn(call, needs, { act: "post /admin/v1/model_groups", dryRun: context.dryRun });
      const made = await addGroup(accountsOf(call, needs), body, context);
      return taggedJson(groupJson(made), made.version);
    },
  ),
  adminRoute(
    {
      route: "get /admin/v1/model_groups/{id}",
      operationId: "getModelGroup",
      summary: "One model group, by id or name.",
      params,
      answer: group,
      notFound: noGroup,
    },
    async (call, needs) => {
      const found = await findModelGroup(accountsOf(call, needs), idOf(call));
      return taggedJson(groupJson(found), found.version);
    },
  ),
  adminRoute(
    {
      route: "patch /admin/v1/model_groups/{id}",
      operationId: "changeModelGroup",
      summary: "Change a model group: calls from now on count by it.",
      params,
      query: actQuery,
      requestHeaders: changeHeaders,
      body: changedGroup,
      answer: group,
      notFound: noGroup,
      conflict: "The name is taken.",
      precondition,
    },
    async (call, needs) => {
      const body = await bodyOf(call, needs, changedGroup);
      const changes = { name: body.name, models: body.models };
      const context = contextOf(call, body);
      requireFreshSignIn(call, needs, { act: "patch /admin/v1/model_groups/{id}", dryRun: context.dryRun });
      const changed = await changeGroup(accountsOf(call, needs), idOf(call), changes, context);
      return taggedJson(groupJson(changed), changed.version);
    },
  ),
  adminRoute(
    {
      route: "delete /admin/v1/model_groups/{id}",
      operationId: "deleteModelGroup",
      summary: "Delete a model group without budgets.",
      params,
      query: actQuery,
      requestHeaders: changeHeaders,
      answer: deleted,
      notFound: noGroup,
      conflict: "There are budgets for it.",
      precondition,
    },
    async (call, needs) => {
      const context = contextOf(call);
      requireFreshSignIn(call, needs, { act: "delete /admin/v1/model_groups/{id}", dryRun: context.dryRun });
      const { id } = await deleteGroup(accountsOf(call, needs), idOf(call), context);
      return Response.json({ id, deleted: true });
    },
  ),
];

const money = z.number().describe("Credits.");
const start = z.int().min(1).max(31);
const budget = z
  .object({
    object: z.literal("budget"),
    id: z.string(),
    organisation: z.string().nullable().describe("Whose it is; null if it is another's."),
    user: z.string().nullable(),
    project: z.string().nullable(),
    token: z.string().nullable(),
    owner_id: z.string(),
    models: z.string().nullable().describe("A model group; null for all models."),
    max_budget: money,
    period: z.enum(["daily", "weekly", "monthly", "quarterly"]).nullable(),
    start: start.nullable().describe("The first day of a period; null for the first of the week, month or year."),
    raise: z.object({ by: money, until: z.iso.datetime() }).nullable(),
    spend: money.describe("In the running period."),
    held: money.describe("For calls under way."),
    available: money.nullable(),
    period_reset_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "AdminBudget" });

const settings = {
  models: reference.nullish().describe("A model group, by id or name; null for all models."),
  period: z.enum(["daily", "weekly", "monthly", "quarterly"]).nullish(),
  start: start
    .nullish()
    .describe(
      "What a period begins with: a day of the week, from Monday; of the month, or its last; or a month of the quarters.",
    ),
  raise: z
    .strictObject({ by: creditsAmount.min(0), until: z.iso.datetime({ offset: true }) })
    .nullish()
    .describe("What may be spent beyond it until then; null ends that."),
  reason,
};
const owners = {
  organisation: reference.optional(),
  user: reference.optional(),
  project: reference.optional(),
  token: reference.optional(),
};
const newBudget = z
  .strictObject({ ...owners, max_budget: creditsAmount.min(0), ...settings })
  .meta({ id: "AdminBudgetRequest" });
const changedBudget = z
  .strictObject({ max_budget: creditsAmount.min(0).optional(), ...settings })
  .meta({ id: "AdminBudgetChange" });

function changesOf(body: z.output<typeof changedBudget>): BudgetChanges {
  const { models: named, max_budget: maxBudget, period, start: from, raise } = body;
  return {
    models: named,
    maxBudget: maxBudget === undefined ? undefined : nanoOf(maxBudget),
    period,
    start: from,
    raise: raise == null ? raise : { by: nanoOf(raise.by), until: Date.parse(raise.until) },
  };
}

const noBudget = "There is none in the caller's reach.";
const query = pageQuery.extend(owners);

export const budgetRoutes = [
  adminRoute(
    {
      route: "get /admin/v1/budgets",
      operationId: "listBudgets",
      summary: "Budgets, by id.",
      query,
      answer: listSchema(budget),
      notFound: noBudget,
    },
    async (call, needs) => {
      const { limit, after, ...named } = parseQuery(call.request, query);
      const page = { limit: limit + 1, after, owner: ownerIn(named) };
      return Response.json(listOf(await listBudgets(accountsOf(call, needs), page), limit, accountBudgetJson));
    },
  ),
  adminRoute(
    {
      route: "post /admin/v1/budgets",
      operationId: "createBudget",
      summary: "Create a budget of an organisation, a user, a project or a token, beside its own limit.",
      query: actQuery,
      requestHeaders: actHeaders,
      body: newBudget,
      answer: budget,
      notFound: noBudget,
      conflict: "It has no account.",
    },
    async (call, needs) => {
      const body = await bodyOf(call, needs, newBudget);
      const { organisation, user, project, token } = body;
      const owner = ownerIn({ organisation, user, project, token });
      if (owner === undefined)
        throw new GatewayError("validation_failed", "organisation, user, project or token: name one", {
          param: "user",
        });
      const request = { ...changesOf(body), maxBudget: nanoOf(body.max_budget) };
      const context = contextOf(call, body);
      requireFreshSignIn(call, needs, { act: "post /admin/v1/budgets", dryRun: context.dryRun });
      const made = await addBudget(accountsOf(call, needs), owner, request, context);
      return taggedJson(accountBudgetJson(made), made.budget.version);
    },
  ),
  adminRoute(
    {
      route: "get /admin/v1/budgets/{id}",
      operationId: "getBudget",
      summary: "One budget.",
      params,
      answer: budget,
      notFound: noBudget,
    },
    async (call, needs) => {
      const found = await findBudget(accountsOf(call, needs), idOf(call));
      return taggedJson(accountBudgetJson(found), found.budget.version);
    },
  ),
  adminRoute(
    {
      route: "patch /admin/v1/budgets/{id}",
      operationId: "changeBudget",
      summary: "Change a budget, or raise it until a date.",
      params,
      query: actQuery,
      requestHeaders: changeHeaders,
      body: changedBudget,
      answer: budget,
      notFound: noBudget,
      precondition,
    },
    async (call, needs) => {
      const body = await bodyOf(call, needs, changedBudget);
      const context = contextOf(call, body);
      requireFreshSignIn(call, needs, { act: "patch /admin/v1/budgets/{id}", body, dryRun: context.dryRun });
      const changed = await changeBudget(accountsOf(call, needs), idOf(call), changesOf(body), context);
      return taggedJson(accountBudgetJson(changed), changed.budget.version);
    },
  ),
  adminRoute(
    {
      route: "delete /admin/v1/budgets/{id}",
      operationId: "deleteBudget",
      summary: "Delete a budget. Calls under way go on counting in it.",
      params,
      query: actQuery,
      requestHeaders: changeHeaders,
      answer: deleted,
      notFound: noBudget,
      precondition,
    },
    async (call, needs) => {
      const context = contextOf(call);
      requireFreshSignIn(call, needs, { act: "delete /admin/v1/budgets/{id}", dryRun: context.dryRun });
      const { budget: gone } = await deleteBudget(accountsOf(call, needs), idOf(call), context);
      return Response.json({ id: gone.id, deleted: true });
    },
  ),
];
