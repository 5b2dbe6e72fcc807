import type { Command } from "commander";
import {
  type AccountName,
  type AccountsDependencies,
  changeHolder,
  changeToken,
  creditsOrNull,
  findChain,
  levelBudget,
  levelJson,
  type LimitChanges,
  listAccounts,
} from "../../accounts/index.ts";
import { creditsNumber, formatCredits, type Nano } from "../../core/index.ts";
import {
  type AccountState,
  availableOf,
  type BudgetPeriod,
  type LedgerStore,
  tightestAccount,
} from "../../ledger/index.ts";
import {
  type CommonOptions,
  creditsOption,
  markupOption,
  nameOption,
  singleAccountOption,
  orNone,
  orNull,
  periodOption,
  reasonOption,
  UsageError,
  withCommonOptions,
} from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";

interface AccountOptions extends CommonOptions, Partial<Record<AccountName["kind"], string>> {}

interface SetOptions extends AccountOptions {
  maxBudget?: Nano | "none";
  period?: BudgetPeriod | "none";
  /** In millionths. */
  markup?: number | "none";
  reason?: string;
}

export function addAccountCommands(program: Command): void {
  const account = program
    .command("account")
    .description("organisations, users, projects and tokens: what they may spend");
  withCommonOptions(
    account.command("list").description("list every account, those of an organisation, a user or a project below it"),
  ).action(list);
  withAccountOptions(account.command("show").description("show an account and those above it")).action(show);
  withAccountOptions(account.command("set").description("set an account's budget, or an organisation's markup"))
    .option("--max-budget <amount>", "the most that it may spend, or none", orNone(creditsOption("--max-budget")))
    .option("--period <period>", "daily, monthly or none: when the budget starts again", orNone(periodOption))
    .option(
      "--markup <factor>",
      "of an organisation: in place of the configuration's, or none",
      orNone(markupOption("--markup")),
    )
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(set);
}

function withAccountOptions(command: Command): Command {
  return withCommonOptions(command)
    .option("--user <name>", "the account of a user", nameOption("--user"))
    .option("--organisation <name>", "the account of an organisation", nameOption("--organisation"))
    .option("--project <name>", "the account of a project", nameOption("--project"))
    .option("--token <id>", "the account of a token", nameOption("--token"));
}

const nameOf = (options: AccountOptions): AccountName =>
  singleAccountOption(options, ["user", "organisation", "project", "token"]);

async function list(options: CommonOptions): Promise<void> {
  const { listed, toJson } = await withState(options, async (state) => ({
    listed: await listAccounts(state),
    toJson: accountJson(state.accounts),
  }));
  if (options.json === true) return printJson(listed.map(({ account }) => toJson(account)));
  printAccounts(listed.map(({ account, depth }) => [`${"  ".repeat(depth)}${account.id}`, account]));
}

async function show(options: AccountOptions): Promise<void> {
  const name = nameOf(options);
  const { chain, toJson } = await withState(options, async (state) => ({
    chain: await findChain(state, name),
    toJson: accountJson(state.accounts),
  }));
  const tightest = tightestAccount(chain);
  if (options.json === true) return printJson({ tightest: tightest?.id ?? null, levels: chain.map(toJson) });
  printAccounts(chain.map((account) => [account.id, account]));
  printLine(tightest === undefined ? "Nothing limits what a call may cost." : roomText(tightest));
}

function roomText(tightest: AccountState): string {
  const room = availableOf(tightest) ?? 0n;
  return `A call may cost ${formatCredits(room > 0n ? room : 0n)} at most: ${tightest.id} has the least room.`;
}

async function set(options: SetOptions): Promise<void> {
  const name = nameOf(options);
  const maxBudget = orNull(options.maxBudget);
  const period = orNull(options.period);
  const markup = orNull(options.markup);
  if (maxBudget === undefined && period === undefined && markup === undefined)
    throw new UsageError("there is nothing to set: --max-budget, --period or --markup");
  const { chain, toJson } = await withState(options, async (state) => ({
    chain: await setLimits(state, name, { maxBudget, period, markup }, options),
    toJson: accountJson(state.accounts),
  }));
  const [account] = chain;
  if (account === undefined) return;
  if (options.json === true) return printJson(toJson(account));
  printAccounts([[account.id, account]]);
}

async function setLimits(
  state: AccountsDependencies,
  { kind, name }: AccountName,
  { markup, ...limits }: LimitChanges & { markup?: number | null | undefined },
  { reason }: SetOptions,
): Promise<readonly AccountState[]> {
  if (kind !== "token") return (await changeHolder(state, { kind, name }, { ...limits, markup }, { reason })).chain;
  if (markup !== undefined) throw new UsageError("only an organisation has a markup");
  return (await changeToken(state, name, limits, { reason })).chain;
}

const creditsOf = ({ prepaid, creditsPosted }: AccountState): Nano | undefined => (prepaid ? creditsPosted : undefined);

/** Converts accounts by the days of their storage. */
function accountJson({ calendar }: Pick<LedgerStore, "calendar">) {
  const at = environment.clock();
  return (account: AccountState) => ({
    account: account.id,
    parent: account.parentId ?? null,
    ...levelJson(levelBudget(account, at, calendar)),
    credits: creditsOrNull(creditsOf(account)),
    spent: creditsNumber(account.debitsPosted),
    ...(account.markup !== undefined && { markup: factorOf(account) }),
  });
}

const factorOf = ({ markup }: AccountState): number | undefined => (markup === undefined ? undefined : markup / 1e6);

const amount = (nano: Nano | undefined): string => (nano === undefined ? "-" : formatCredits(nano));

function printAccounts(rows: readonly (readonly [label: string, account: AccountState])[]): void {
  const headings = ["ACCOUNT", "CREDITS", "SPENT", "HELD", "AVAILABLE", "BUDGET"];
  const hasMarkup = rows.some(([, account]) => account.markup !== undefined);
  printTable(
    hasMarkup ? [...headings, "MARKUP"] : headings,
    rows.map(([label, account]) => [
      label,
      amount(creditsOf(account)),
      amount(account.debitsPosted),
      amount(account.debitsPending),
      amount(availableOf(account)),
      budgetText(account),
      ...(hasMarkup ? [String(factorOf(account) ?? "-")] : []),
    ]),
  );
}

/** The spent part of the budget: `1.5 of 20 daily`. */
function budgetText({ maxBudget, periodDebits, period }: AccountState): string {
  if (maxBudget === undefined) return "-";
  return `${formatCredits(periodDebits)} of ${formatCredits(maxBudget)}${period === undefined ? "" : ` ${period}`}`;
}
