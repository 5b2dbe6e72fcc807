/** Organisations, users and projects: what the admin API shows and changes. */
import type { Command } from "commander";
import type { holderJson, HolderKind } from "../../accounts/index.ts";
import type { Role } from "../../core/index.ts";
import { addAdminCommand, type ListAnswer, type PageOptions, showList, withPage } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import {
  choiceOption,
  listOption,
  markupOption,
  nameOption,
  orNone,
  orNull,
  policyBody,
  type PolicyOptions,
  roleOption,
  tokenPolicyOption,
  withPolicyOptions,
} from "../options.ts";
import { printLine, printTable } from "../print.ts";
import { environment } from "../state.ts";

type Shown = ReturnType<typeof holderJson>;

interface SetOptions extends AskOptions, PolicyOptions {
  role?: Role;
  organisation?: string;
  prepaid?: "true" | "false";
  /** In millionths. */
  markup?: number | "none";
  tokenPolicy?: Record<string, number> | "none";
  members?: string[] | "none";
  tags?: string[] | "none";
}

export function addOrganisationCommands(program: Command): void {
  addCommands(program, "organisation");
}

export function addUserCommands(program: Command): void {
  addMoveCommand(addCommands(program, "user"), "user");
}

export function addProjectCommands(program: Command): void {
  addMoveCommand(addCommands(program, "project"), "project");
}

function addMoveCommand(parent: Command, kind: "user" | "project"): void {
  addAdminCommand<AskOptions & { organisation: string }, Shown>(parent, {
    name: "move",
    description: "move to another organisation; all spending stays",
    route: `patch /admin/v1/${kind}s/{id}`,
    options: (command) =>
      command.requiredOption("--organisation <name>", "the new one, or none", orNone(nameOption("--organisation"))),
    ask: ({ organisation }) => ({ body: { organisation: orNull(organisation) } }),
    show: (shown) => print([shown]),
  });
}

const switches = [
  ["disable", "refuse all of its tokens, within a second", true],
  ["enable", "accept its tokens again", false],
] as const;

function addCommands(program: Command, kind: HolderKind): Command {
  const parent = program.command(kind).description(`${kind}s: what the admin API shows and changes`);
  const one = `/admin/v1/${kind}s/{id}` as const;
  const change = { route: `patch ${one}`, show: (shown: Shown) => print([shown]) } as const;
  addAdminCommand<PageOptions & { organisation?: string }, ListAnswer<Shown>>(parent, {
    name: "list",
    description: `list ${kind}s by their ids`,
    route: `get /admin/v1/${kind}s`,
    options: (command) => {
      withPage(command);
      if (kind !== "organisation")
        command.option("--organisation <name>", "of this organisation", nameOption("--organisation"));
    },
    ask: ({ limit, after, organisation }) => ({ query: { limit, after, organisation } }),
    show: showList(print, ({ id }) => id),
  });
  addAdminCommand<AskOptions, Shown>(parent, {
    name: "show",
    description: `show one ${kind}`,
    route: `get ${one}`,
    show: change.show,
  });
  addAdminCommand<SetOptions, Shown>(parent, {
    name: "create",
    description: `create a new ${kind}`,
    route: `post /admin/v1/${kind}s`,
    options: (command) => {
      withSettings(command.argument("<name>", "its name", nameOption("name")), kind);
      if (kind !== "organisation")
        command.option("--organisation <name>", "that pays for it", nameOption("--organisation"));
    },
    ask: (options, name) => ({ body: { name, organisation: options.organisation, ...bodyOf(options) } }),
    show: change.show,
  });
  addAdminCommand<SetOptions, Shown>(parent, {
    ...change,
    name: "set",
    description: `change a ${kind}`,
    options: (command) => withSettings(command, kind),
    ask: (options) => ({ body: bodyOf(options) }),
  });
  for (const [name, description, disabled] of switches)
    addAdminCommand<AskOptions, Shown>(parent, { ...change, name, description, ask: () => ({ body: { disabled } }) });
  addAdminCommand<AskOptions, Shown>(parent, {
    ...change,
    name: "rename",
    description: "give another name; the id stays",
    options: (command) => command.argument("<new-name>", "the new name", nameOption("new-name")),
    ask: (_, name) => ({ body: { name } }),
  });
  addAdminCommand<AskOptions, { id: string }>(parent, {
    name: "delete",
    description: "delete it; the name is free then",
    route: `delete ${one}`,
    show: ({ id }) => printLine(`${kind} ${id} is deleted.`),
  });
  return parent;
}

function withSettings(command: Command, kind: HolderKind): void {
  withPolicyOptions(command).option(
    "--prepaid <true|false>",
    "whether credits of its own limit it",
    choiceOption("--prepaid", ["true", "false"] as const),
  );
  if (kind === "user") command.option("--role <role>", "the rights in the admin API", roleOption("--role"));
  else if (kind === "project")
    command.option("--members <users>", "who see what belongs to it, separated by commas, or none", orNone(listOption));
  else
    command
      .option("--markup <factor>", "the factor on prices, or none", orNone(markupOption("--markup")))
      .option(
        "--token-policy <bounds>",
        "of tokens that users make: max_tokens=3,max_expires=30d,max_budget=10, none of them, or none",
        orNone(tokenPolicyOption),
      )
      .option("--tags <keys>", "the keys of its calls' tags, separated by commas, or none", orNone(listOption));
}

function bodyOf(options: SetOptions): object {
  const { role, prepaid, markup, tokenPolicy, members, tags } = options;
  return {
    ...policyBody(options, environment.clock()),
    role,
    prepaid: prepaid && prepaid === "true",
    markup: typeof markup === "number" ? markup / 1e6 : orNull(markup),
    token_policy: orNull(tokenPolicy),
    members: members === "none" ? [] : members,
    tags: tags === "none" ? [] : tags,
  };
}

function print(shown: readonly Shown[]): void {
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
