/** Model groups and budgets: what the admin API shows and changes. */
import type { Command } from "commander";
import type { accountBudgetJson, groupJson } from "../../accounts/index.ts";
import { creditsNumber, type Nano } from "../../core/index.ts";
import type { BudgetPeriod } from "../../ledger/index.ts";
import { addAdminCommand, type ListAnswer, type PageOptions, showList, withPage } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import {
  choiceOption,
  countOption,
  creditsIn,
  creditsOption,
  dayOption,
  listOption,
  nameOption,
  orNone,
  orNull,
  singleAccountOption,
  textOption,
  UsageError,
} from "../options.ts";
import { printLine, printTable } from "../print.ts";

interface GroupOptions extends AskOptions {
  models?: string[];
  name?: string;
}

const owners = ["organisation", "user", "project", "token"] as const;

type OwnerOptions = Partial<Record<(typeof owners)[number], string>>;

interface BudgetOptions extends AskOptions, OwnerOptions {
  maxBudget?: Nano;
  period?: BudgetPeriod | "none";
  start?: number | "none";
  models?: string;
  raiseBy?: Nano | "none";
  raiseUntil?: number;
}

const DAY_MS = 86_400_000;

type Group = ReturnType<typeof groupJson>;
type Budget = ReturnType<typeof accountBudgetJson>;

export function addGroupCommands(program: Command): void {
  const parent = program
    .command("group")
    .description("model groups, which budgets are for: what the admin API shows and changes");
  const models = "globs of model ids with prefix, such as openai/gpt-5*,xai/*";
  const show = (group: Group): void => printGroups([group]);
  addAdminCommand<PageOptions, ListAnswer<Group>>(parent, {
    name: "list",
    description: "list model groups by their ids",
    route: "get /admin/v1/model_groups",
    options: withPage,
    ask: ({ limit, after }) => ({ query: { limit, after } }),
    show: showList(printGroups, ({ id }) => id),
  });
  addAdminCommand<AskOptions, Group>(parent, {
    name: "show",
    description: "show a model group",
    route: "get /admin/v1/model_groups/{id}",
    show,
  });
  addAdminCommand<GroupOptions, Group>(parent, {
    name: "create",
    description: "create a model group",
    route: "post /admin/v1/model_groups",
    options: (command) =>
      command.argument("<name>", "its name", nameOption("name")).requiredOption("--models <globs>", models, listOption),
    ask: (options, name) => ({ body: { name, models: options.models } }),
    show,
  });
  addAdminCommand<GroupOptions, Group>(parent, {
    name: "set",
    description: "change a model group: calls from now on count by it",
    route: "patch /admin/v1/model_groups/{id}",
    options: (command) =>
      command
        .option("--models <globs>", models, listOption)
        .option("--name <name>", "the new name", nameOption("--name")),
    ask: (options) => ({ body: { name: options.name, models: options.models } }),
    show,
  });
  addAdminCommand<AskOptions, { id: string }>(parent, {
    name: "delete",
    description: "delete a model group without budgets",
    route: "delete /admin/v1/model_groups/{id}",
    show: ({ id }) => printLine(`model group ${id} is deleted.`),
  });
}

export function addBudgetCommands(program: Command): void {
  const parent = program
    .command("budget")
    .description("budgets beside an account's own: what the admin API shows and changes");
  const one = { argument: "its id", show: (budget: Budget): void => printBudgets([budget]) };
  const most = ["--max-budget <amount>", "the most that may be spent in a period"] as const;
  addAdminCommand<PageOptions & OwnerOptions, ListAnswer<Budget>>(parent, {
    name: "list",
    description: "list budgets by their ids",
    route: "get /admin/v1/budgets",
    options: (command) => withOwners(withPage(command)),
    ask: ({ limit, after, ...options }) => ({ query: { limit, after, ...ownerIn(options) } }),
    show: showList(printBudgets, ({ id }) => id),
  });
  addAdminCommand<AskOptions, Budget>(parent, {
    ...one,
    name: "show",
    description: "show a budget",
    route: "get /admin/v1/budgets/{id}",
  });
  addAdminCommand<BudgetOptions, Budget>(parent, {
    ...one,
    name: "create",
    description: "create a budget of an organisation, a user, a project or a token",
    route: "post /admin/v1/budgets",
    options: (command) => withSettings(withOwners(command)).requiredOption(...most, creditsOption("--max-budget")),
    ask: (options) => {
      const { kind, name } = singleAccountOption(options, owners);
      return { body: { [kind]: name, ...bodyOf(options) } };
    },
  });
  addAdminCommand<BudgetOptions, Budget>(parent, {
    ...one,
    name: "set",
    description: "change a budget, or raise it until a date",
    route: "patch /admin/v1/budgets/{id}",
    options: (command) => withSettings(command).option(...most, creditsOption("--max-budget")),
    ask: (options) => ({ body: bodyOf(options) }),
  });
  addAdminCommand<AskOptions, { id: string }>(parent, {
    ...one,
    name: "delete",
    description: "delete a budget; calls under way go on counting in it",
    route: "delete /admin/v1/budgets/{id}",
    show: ({ id }) => printLine(`budget ${id} is deleted.`),
  });
}

function withOwners(command: Command): Command {
  for (const kind of owners) command.option(`--${kind} <name>`, `of this ${kind}`, nameOption(`--${kind}`));
  return command;
}

function ownerIn(options: OwnerOptions): OwnerOptions {
  if (owners.every((kind) => options[kind] === undefined)) return {};
  const { kind, name } = singleAccountOption(options, owners);
  return { [kind]: name };
}

function withSettings(command: Command): Command {
  const period = choiceOption("--period", ["daily", "weekly", "monthly", "quarterly"] as const);
  return command
    .option("--period <period>", "daily, weekly, monthly, quarterly or none: when it starts again", orNone(period))
    .option(
      "--start <number>",
      "the day of the week or month, or the month, that a period begins with, or none",
      orNone(countOption("--start")),
    )
    .option("--models <group>", "a model group, or none for all models", textOption("--models"))
    .option("--raise-by <amount>", "what may be spent beyond it, or none", orNone(creditsOption("--raise-by")))
    .option("--raise-until <date>", "until the end of this day in UTC", dayOption("--raise-until"));
}

function bodyOf({ maxBudget, period, start, models, raiseBy, raiseUntil }: BudgetOptions): object {
  if ((typeof raiseBy === "bigint") !== (raiseUntil !== undefined))
    throw new UsageError("--raise-by and --raise-until: write both");
  const until = new Date(((raiseUntil ?? 0) + 1) * DAY_MS).toISOString();
  return {
    max_budget: creditsIn(maxBudget),
    period: orNull(period),
    start: orNull(start),
    models: orNull(models),
    raise: typeof raiseBy === "bigint" ? { by: creditsNumber(raiseBy), until } : raiseBy && null,
  };
}

function printGroups(groups: readonly Group[]): void {
  printTable(
    ["ID", "NAME", "MODELS"],
    groups.map(({ id, name, models }) => [id, name, models.join(",")]),
  );
}

function printBudgets(budgets: readonly Budget[]): void {
  const cells = budgets.map(
    ({ id, organisation, user, project, token, models, max_budget: max, period, spend, held }) => {
      const owner = organisation ?? user ?? project ?? token ?? "";
      return [id, owner, models ?? "all", String(max), period ?? "-", String(spend), String(held)];
    },
  );
  printTable(["ID", "OF", "MODELS", "BUDGET", "PERIOD", "SPENT", "HELD"], cells);
}
