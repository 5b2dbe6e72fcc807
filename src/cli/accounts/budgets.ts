import type { Command } from "commander";
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
import type { Nano } from "../../core/index.ts";
import type { BudgetPeriod } from "../../ledger/index.ts";
import {
  choiceOption,
  type CommonOptions,
  countOption,
  creditsOption,
  dayOption,
  listOption,
  nameOption,
  orNone,
  orNull,
  reasonOption,
  singleAccountOption,
  textOption,
  UsageError,
  withCommonOptions,
} from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { withState } from "../state.ts";

interface ActOptions extends CommonOptions {
  reason?: string;
  dryRun?: boolean;
}

interface PageOptions extends CommonOptions {
  limit: number;
  after?: string;
}

interface GroupOptions extends ActOptions {
  models?: string[];
  name?: string;
}

const owners = ["organisation", "user", "token"] as const;

type OwnerOptions = Partial<Record<(typeof owners)[number], string>>;

interface BudgetOptions extends ActOptions, OwnerOptions {
  maxBudget?: Nano;
  period?: BudgetPeriod | "none";
  start?: number | "none";
  models?: string;
  raiseBy?: Nano | "none";
  raiseUntil?: number;
}

const DAY_MS = 86_400_000;

export function addGroupCommands(program: Command): void {
  const group = program
    .command("group")
    .description("model groups, which budgets are for: what the admin API shows and changes");
  withPage(group.command("list").description("list model groups by their ids")).action(async (options: PageOptions) => {
    printGroups(await withState(options, (state) => listGroups(state, options)), options);
  });
  withCommonOptions(
    group.command("show").description("show a model group").argument("<name>", "its name or id"),
  ).action(async (name: string, options: CommonOptions) =>
    printGroup(await withState(options, (state) => findModelGroup(state, name)), options),
  );
  withAct(group.command("create").description("create a model group"), "<name>")
    .requiredOption("--models <globs>", "globs of model ids with prefix, such as openai/gpt-5*,xai/*", listOption)
    .action(async (name: string, options: GroupOptions & { models: string[] }) =>
      printGroup(
        await withState(options, (state) => addGroup(state, { name, models: options.models }, options)),
        options,
      ),
    );
  withAct(group.command("set").description("change a model group: calls from now on count by it"), "<name>")
    .option("--models <globs>", "globs of model ids with prefix", listOption)
    .option("--name <name>", "the new name", nameOption("--name"))
    .action(async (name: string, options: GroupOptions) => {
      const changes = {
        ...(options.models && { models: options.models }),
        ...(options.name && { name: options.name }),
      };
      if (Object.keys(changes).length === 0) throw new UsageError("there is nothing to set");
      printGroup(await withState(options, (state) => changeGroup(state, name, changes, options)), options);
    });
  withAct(group.command("delete").description("delete a model group without budgets"), "<name>").action(
    async (name: string, options: ActOptions) => {
      const { id } = await withState(options, (state) => deleteGroup(state, name, options));
      printDeleted("model group", id, options);
    },
  );
}

export function addBudgetCommands(program: Command): void {
  const budget = program
    .command("budget")
    .description("budgets beside an account's own: what the admin API shows and changes");
  withOwners(withPage(budget.command("list").description("list budgets by their ids"))).action(
    async (options: PageOptions & OwnerOptions) => {
      const owner = owners.some((kind) => options[kind] !== undefined)
        ? singleAccountOption(options, owners)
        : undefined;
      const { limit, after } = options;
      printBudgets(
        (await withState(options, (state) => listBudgets(state, { limit, after, owner }))).map(accountBudgetJson),
        options,
      );
    },
  );
  withCommonOptions(budget.command("show").description("show a budget").argument("<id>", "its id")).action(
    async (id: string, options: CommonOptions) =>
      printBudget(accountBudgetJson(await withState(options, (state) => findBudget(state, id))), options),
  );
  withSettings(
    withOwners(
      withCommonOptions(budget.command("create").description("create a budget of an organisation, a user or a token")),
    ),
  )
    .requiredOption("--max-budget <amount>", "the most that may be spent in a period", creditsOption("--max-budget"))
    .action(async (options: BudgetOptions & { maxBudget: Nano }) => {
      const owner = singleAccountOption(options, owners);
      const request = { ...changesOf(options), maxBudget: options.maxBudget };
      printBudget(
        accountBudgetJson(await withState(options, (state) => addBudget(state, owner, request, options))),
        options,
      );
    });
  withSettings(
    withCommonOptions(
      budget.command("set").description("change a budget, or raise it until a date").argument("<id>", "its id"),
    ),
  )
    .option("--max-budget <amount>", "the most that may be spent in a period", creditsOption("--max-budget"))
    .action(async (id: string, options: BudgetOptions) => {
      const changes = changesOf(options);
      if (Object.values(changes).every((value) => value === undefined)) throw new UsageError("there is nothing to set");
      printBudget(
        accountBudgetJson(await withState(options, (state) => changeBudget(state, id, changes, options))),
        options,
      );
    });
  withAct(budget.command("delete").description("delete a budget; calls under way go on counting in it"), "<id>").action(
    async (id: string, options: ActOptions) => {
      const { budget: gone } = await withState(options, (state) => deleteBudget(state, id, options));
      printDeleted("budget", gone.id, options);
    },
  );
}

function withPage(command: Command): Command {
  return withCommonOptions(command)
    .option("--limit <count>", "how many", countOption("--limit"), 100)
    .option("--after <id>", "those after this id", nameOption("--after"));
}

function withActOptions(command: Command): Command {
  return command
    .option("--dry-run", "show the result, and change nothing")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"));
}

function withAct(command: Command, argument: "<name>" | "<id>"): Command {
  const read = nameOption(argument.slice(1, -1));
  return withActOptions(
    withCommonOptions(command.argument(argument, argument === "<id>" ? "its id" : "its name or id", read)),
  );
}

function withOwners(command: Command): Command {
  for (const kind of owners) command.option(`--${kind} <name>`, `of this ${kind}`, nameOption(`--${kind}`));
  return command;
}

function withSettings(command: Command): Command {
  const period = choiceOption("--period", ["daily", "weekly", "monthly", "quarterly"] as const);
  return withActOptions(command)
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

function changesOf({ maxBudget, period, start, models, raiseBy, raiseUntil }: BudgetOptions): BudgetChanges {
  if ((typeof raiseBy === "bigint") !== (raiseUntil !== undefined))
    throw new UsageError("--raise-by and --raise-until: write both");
  const until = ((raiseUntil ?? 0) + 1) * DAY_MS;
  const raise = typeof raiseBy === "bigint" ? { by: raiseBy, until } : raiseBy && null;
  return { maxBudget, period: orNull(period), start: orNull(start), models: orNull(models), raise };
}

type Group = Parameters<typeof groupJson>[0];
type Shown = ReturnType<typeof accountBudgetJson>;

function printGroup(group: Group, options: CommonOptions): void {
  if (options.json === true) printJson(groupJson(group));
  else printGroups([group], options);
}

function printGroups(groups: readonly Group[], { json }: CommonOptions): void {
  if (json === true) return printJson(groups.map(groupJson));
  printTable(
    ["ID", "NAME", "MODELS"],
    groups.map(({ id, name, models }) => [id, name, models.join(",")]),
  );
}

function printBudget(budget: Shown, options: CommonOptions): void {
  if (options.json === true) printJson(budget);
  else printBudgets([budget], options);
}

function printBudgets(budgets: readonly Shown[], { json }: CommonOptions): void {
  if (json === true) return printJson(budgets);
  const cells = budgets.map(({ id, organisation, user, token, models, max_budget: max, period, spend, held }) => {
    const owner = organisation ?? user ?? token ?? "";
    return [id, owner, models ?? "all", String(max), period ?? "-", String(spend), String(held)];
  });
  printTable(["ID", "OF", "MODELS", "BUDGET", "PERIOD", "SPENT", "HELD"], cells);
}

function printDeleted(what: string, id: string, { json }: CommonOptions): void {
  if (json === true) return printJson({ id, deleted: true });
  printLine(`${what} ${id} is deleted.`);
}
