import type { Command } from "commander";
import {
  addHolder,
  changeHolder,
  deleteHolder,
  findHolderState,
  type HolderChanges,
  holderJson,
  type HolderKind,
  listHolders,
  type TokenPolicy,
} from "../../accounts/index.ts";
import type { Role } from "../../core/index.ts";
import {
  type CommonOptions,
  countOption,
  markupOption,
  nameOption,
  orNone,
  orNull,
  policyChangesOf,
  type PolicyOptions,
  reasonOption,
  roleOption,
  tokenPolicyOption,
  UsageError,
  withCommonOptions,
  withPolicyOptions,
} from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";

type Shown = ReturnType<typeof holderJson>;

interface ActOptions extends CommonOptions {
  reason?: string;
  dryRun?: boolean;
}

interface SetOptions extends ActOptions, PolicyOptions {
  role?: Role;
  organisation?: string;
  markup?: number | "none";
  tokenPolicy?: TokenPolicy | "none";
}

interface ListOptions extends CommonOptions {
  limit: number;
  after?: string;
  organisation?: string;
}

export const addOrganisationCommands = (program: Command): void => addCommands(program, "organisation");
export const addUserCommands = (program: Command): void => addCommands(program, "user");

function addCommands(program: Command, kind: HolderKind): void {
  const parent = program.command(kind).description(`${kind}s: what the admin API shows and changes`);
  const listing = withCommonOptions(parent.command("list").description(`list ${kind}s by their ids`))
    .option("--limit <count>", "how many", countOption("--limit"), 100)
    .option("--after <id>", "those after this id", nameOption("--after"));
  if (kind === "user") listing.option("--organisation <name>", "of this organisation", nameOption("--organisation"));
  listing.action((options: ListOptions) => list(kind, options));
  withCommonOptions(parent.command("show").description(`show one ${kind}`).argument("<name>", "its name or id")).action(
    (name: string, options: CommonOptions) => show(kind, name, options),
  );
  withSettings(withActOptions(parent.command("create").description(`create a new ${kind}`)), kind).action(
    (name: string, options: SetOptions) => create(kind, name, options),
  );
  withSettings(withActOptions(parent.command("set").description(`change a ${kind}`)), kind).action(
    (name: string, options: SetOptions) => change(kind, name, changesOf(options), options),
  );
  withActOptions(parent.command("disable").description("refuse all their tokens, within a second")).action(
    (name: string, options: ActOptions) => change(kind, name, { disabled: true }, options),
  );
  withActOptions(parent.command("enable").description("accept their tokens again")).action(
    (name: string, options: ActOptions) => change(kind, name, { disabled: false }, options),
  );
  withActOptions(parent.command("rename").description("give another name; the id stays"))
    .argument("<new-name>", "the new name", nameOption("new-name"))
    .action((name: string, next: string, options: ActOptions) => change(kind, name, { name: next }, options));
  if (kind === "user")
    withActOptions(parent.command("move").description("move to another organisation; all spending stays"))
      .requiredOption("--organisation <name>", "the new one, or none", orNone(nameOption("--organisation")))
      .action((name: string, options: ActOptions & { organisation: string }) =>
        change(kind, name, { organisation: orNull(options.organisation) }, options),
      );
  withActOptions(parent.command("delete").description("delete it; the name is free then")).action(
    (name: string, options: ActOptions) => remove(kind, name, options),
  );
}

function withActOptions(command: Command): Command {
  return withCommonOptions(command.argument("<name>", "its name or id", nameOption("name")))
    .option("--dry-run", "show the result, and change nothing")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"));
}

function withSettings(command: Command, kind: HolderKind): Command {
  withPolicyOptions(command);
  if (kind === "organisation")
    return command
      .option("--markup <factor>", "the factor on prices, or none", orNone(markupOption("--markup")))
      .option(
        "--token-policy <bounds>",
        "of tokens that users make: max_tokens=3,max_expires=30d,max_budget=10, none of them, or none",
        orNone(tokenPolicyOption),
      );
  command.option("--role <role>", "the rights in the admin API", roleOption("--role"));
  return command.name() === "create"
    ? command.option("--organisation <name>", "that pays for them", nameOption("--organisation"))
    : command;
}

function changesOf(options: SetOptions): HolderChanges {
  const { role, markup, tokenPolicy } = options;
  const limits = policyChangesOf(options, environment.clock());
  return { ...limits, role, markup: orNull(markup), tokenPolicy: orNull(tokenPolicy) };
}

async function list(kind: HolderKind, options: ListOptions): Promise<void> {
  const { limit, after, organisation } = options;
  const found = await withState(options, (state) => listHolders(state, { kind, limit, after, organisation }));
  print(found.map(holderJson), options);
}

async function show(kind: HolderKind, name: string, options: CommonOptions): Promise<void> {
  printOne(holderJson(await withState(options, (state) => findHolderState(state, { kind, name }))), options);
}

async function create(kind: HolderKind, name: string, options: SetOptions): Promise<void> {
  const { organisation } = options;
  const request = { ...changesOf(options), kind, name, organisation };
  printOne(holderJson(await withState(options, (state) => addHolder(state, request, options))), options);
}

async function change(kind: HolderKind, name: string, changes: HolderChanges, options: ActOptions): Promise<void> {
  if (Object.values(changes).every((value) => value === undefined)) throw new UsageError("there is nothing to set");
  const state = await withState(options, (deps) => changeHolder(deps, { kind, name }, changes, options));
  printOne(holderJson(state), options);
}

async function remove(kind: HolderKind, name: string, options: ActOptions): Promise<void> {
  const { holder } = await withState(options, (state) => deleteHolder(state, { kind, name }, options));
  if (options.json === true) return printJson({ id: holder.id, deleted: true });
  printLine(`${kind} ${holder.name} is deleted.`);
}

function printOne(shown: Shown, options: CommonOptions): void {
  if (options.json === true) return printJson(shown);
  print([shown], options);
}

function print(shown: readonly Shown[], { json }: CommonOptions): void {
  if (json === true) return printJson(shown);
  const cells = shown.map(({ id, name, disabled, balance, spend, max_budget: budget, ...rest }) => [
    id,
    name,
    "role" in rest ? rest.role : "",
    disabled ? "disabled" : "active",
    String(balance ?? "-"),
    String(spend),
    String(budget ?? "-"),
  ]);
  printTable(["ID", "NAME", "ROLE", "STATE", "BALANCE", "SPENT", "BUDGET"], cells);
}
