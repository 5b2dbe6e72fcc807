import type { Command } from "commander";
import { createTokenWithUser, tokenJson, type TokenRequest } from "../../accounts/index.ts";
import { type Role, roles } from "../../core/index.ts";
import {
  addAdminCommand,
  type ListAnswer,
  type PageOptions,
  printAnswer,
  showList,
  withAct,
  withPage,
  withServer,
} from "../admin/admin-command.ts";
import { askAdmin, type AskOptions } from "../admin/ask-admin.ts";
import {
  countOption,
  creditsOption,
  durationOption,
  listOption,
  nameOption,
  orNone,
  orNull,
  pairsOption,
  periodOption,
  policyBody,
  type PolicyOptions,
  roleOption,
  textOption,
  toolsOption,
  UsageError,
  withPolicyOptions,
} from "../options.ts";
import { printLine, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";
import { intoSecretFile } from "./secret-file.ts";

type Shown = ReturnType<typeof tokenJson>;

interface ShownWithSecret extends Shown {
  token: string | null;
}

interface CreateOptions extends AskOptions, Omit<TokenRequest, "expiresInMs" | "user" | "reason"> {
  user?: string;
  project?: string;
  expires?: number;
  admin?: boolean;
  file?: string;
}

interface SetOptions extends AskOptions, PolicyOptions {
  name?: string;
  role?: Role | "none";
  metadata?: Record<string, string> | "none";
}

const switches = [
  ["pause", "refuse a token's calls until it is resumed", true],
  ["resume", "accept a paused token again", false],
] as const;

export function addTokenCommands(program: Command): void {
  const token = program.command("token").description("issue, list and revoke tokens");
  addCreateCommand(token);
  addReadCommands(token);
  const change = {
    route: "patch /admin/v1/tokens/{id}",
    argument: "the token's id",
    show: ({ id }: Shown): void => printLine(`Token ${id} is changed.`),
  } as const;
  addAdminCommand<SetOptions, Shown>(token, {
    ...change,
    name: "set",
    description: "change a token's limits",
    options: (command) =>
      withPolicyOptions(command)
        .option("--name <name>", "what it is for, or none", orNone(textOption("--name")))
        .option(
          "--metadata <pairs>",
          "values of its calls' tags: team=search,env=prod, or none",
          orNone(pairsOption("--metadata")),
        )
        .option("--role <role>", "a lesser one than its user's, or none", orNone(roleOption("--role"))),
    ask: ({ name, role, metadata, ...options }) => ({
      body: {
        ...policyBody(options, environment.clock()),
        name: orNull(name),
        role: orNull(role),
        metadata: orNull(metadata),
      },
    }),
  });
  for (const [name, description, paused] of switches)
    addAdminCommand<AskOptions, Shown>(token, { ...change, name, description, ask: () => ({ body: { paused } }) });
  addAdminCommand<AskOptions & { overlap: number }, ShownWithSecret>(token, {
    ...change,
    name: "rotate",
    description: "give a token a new secret and print it once",
    route: "post /admin/v1/tokens/{id}/rotate",
    options: (command) =>
      command.option(
        "--overlap <duration>",
        "how long the old secret can be used as well",
        durationOption("--overlap"),
        0,
      ),
    ask: ({ overlap }) => ({ body: { overlap: Math.round(overlap / 1_000) } }),
    show: printSecret,
  });
  addAdminCommand<AskOptions, Shown>(token, {
    ...change,
    name: "revoke",
    description: "revoke a token",
    route: "delete /admin/v1/tokens/{id}",
    show: ({ id }) => printLine(`Token ${id} is revoked.`),
  });
}

function addReadCommands(token: Command): void {
  addAdminCommand<PageOptions & { user?: string; project?: string }, ListAnswer<Shown>>(token, {
    name: "list",
    description: "list tokens, without their secrets",
    route: "get /admin/v1/tokens",
    options: (command) =>
      withPage(command)
        .option("--user <name>", "of this user", nameOption("--user"))
        .option("--project <name>", "of this project", nameOption("--project")),
    ask: ({ limit, after, user, project }) => ({ query: { limit, after, user, project } }),
    show: showList(print, ({ id }) => id),
  });
  addAdminCommand<AskOptions, Shown>(token, {
    argument: "the token's id",
    name: "show",
    description: "show one token",
    route: "get /admin/v1/tokens/{id}",
    show: (shown) => print([shown]),
  });
}

function addCreateCommand(token: Command): void {
  withAct(withServer(token.command("create").description("issue a token and print it once")))
    .option("--user <name>", "whose token it is; over --server by default the caller's", nameOption("--user"))
    .option("--project <name>", "or the project whose it is", nameOption("--project"))
    .option("--organisation <name>", "the organisation that a new user belongs to", nameOption("--organisation"))
    .option("--credits <amount>", "credits to grant to the user", creditsOption("--credits"))
    .option("--max-budget <amount>", "the most that this token may spend", creditsOption("--max-budget"))
    .option("--period <period>", "daily or monthly: when the budget starts again", periodOption)
    .option("--rpm <count>", "requests a minute", countOption("--rpm"))
    .option("--tpm <count>", "tokens of its calls a minute", countOption("--tpm"))
    .option("--concurrency <count>", "calls at the same time", countOption("--concurrency"))
    .option("--models <globs>", "model ids it may use, with *, separated by commas", listOption)
    .option("--tools <globs>", "tools it may call, with *; those behind ! it may not", toolsOption)
    .option("--service", "bypass the user's balance; usage is recorded all the same")
    .option("--role <role>", `one of ${roles.join(", ")}; by default its user's`, roleOption("--role"))
    .option("--admin", "the same as --role owner")
    .option("--name <name>", "what it is for", textOption("--name"))
    .option("--metadata <pairs>", "values of its calls' tags: team=search,env=prod", pairsOption("--metadata"))
    .option("--expires <duration>", "lifetime, such as 30d", durationOption("--expires"))
    .option("--file <file>", "a new file for the secret, in place of the output")
    .action(create);
}

async function create(options: CreateOptions): Promise<void> {
  const { file } = options;
  const isNew = options.server === undefined && options.project === undefined;
  const issue = () => (isNew ? createInStorage(options) : createByRoute(options));
  if (file === undefined || options.dryRun === true) return printAnswer(await issue(), options, printSecret);
  const made = await intoSecretFile({ option: "--file", file }, issue, ({ token }) => `${token}\n`);
  printAnswer({ ...made, token: null }, options, (token) =>
    printLine(`Token ${token.id} of ${ownerNameOf(token)} is in ${file}.`),
  );
}

function roleIn({ admin, role }: CreateOptions): Role | undefined {
  return admin === true ? "owner" : role;
}

/** The first tokens of a storage come with their users, and with credits, in one commit. */
async function createInStorage(options: CreateOptions): Promise<ShownWithSecret> {
  const { user, expires, dryRun = false } = options;
  if (user === undefined) throw new UsageError("--user: say whose token it is");
  return withState(options, async (state) => {
    const request = { ...options, user, role: roleIn(options), expiresInMs: expires };
    const made = await createTokenWithUser(state, request, { reason: options.reason, dryRun });
    return { ...tokenJson(made), token: dryRun ? null : made.secret };
  });
}

function createByRoute(options: CreateOptions): Promise<ShownWithSecret> {
  const { user, project, name, service, organisation, credits, metadata } = options;
  if (organisation !== undefined || credits !== undefined)
    throw new UsageError("--organisation and --credits are for new users of a storage: user create, credits grant");
  return askAdmin(options, {
    route: "post /admin/v1/tokens",
    body: {
      ...policyBody(options, environment.clock()),
      user,
      project,
      name,
      service,
      metadata,
      role: roleIn(options),
    },
  });
}

const ownerNameOf = ({ user, project }: Shown): string => user ?? project ?? "";

function printSecret({ token, ...shown }: ShownWithSecret): void {
  const owner = ownerNameOf(shown);
  if (token === null) return printLine(`It would be a token of ${owner}.`);
  printLine(token);
  // On stderr, so that `TOKEN=$(tollgate token create …)` contains nothing but the token.
  console.error(`It is shown only now. Token ${shown.id} of ${owner}.`);
}

function print(tokens: readonly Shown[]): void {
  const rows = tokens.map(({ id, service, role, expires_at: expires, models, ...token }) => [
    id,
    token.user ?? token.project ?? "",
    service ? "service" : token.user === null ? "project" : "user",
    role ?? "",
    statusOf(token.revoked_at, token.paused, expires),
    expires ?? "",
    models?.join(",") ?? "*",
  ]);
  printTable(["ID", "OWNER", "KIND", "ROLE", "STATUS", "EXPIRES", "MODELS"], rows);
}

function statusOf(revokedAt: string | null, paused: boolean, expires: string | null): string {
  if (revokedAt !== null) return "revoked";
  if (expires !== null && Date.parse(expires) <= environment.clock()) return "expired";
  return paused ? "paused" : "active";
}
