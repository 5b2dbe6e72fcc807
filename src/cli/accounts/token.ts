import type { Command } from "commander";
import {
  changeToken,
  createToken,
  revokeToken,
  rotateToken,
  type TokenChanges,
  type TokenRequest,
} from "../../accounts/index.ts";
import type { TokenRecord } from "../../auth/index.ts";
import { type Role, roles } from "../../core/index.ts";
import {
  type CommonOptions,
  countOption,
  creditsOption,
  durationOption,
  listOption,
  nameOption,
  orNone,
  orNull,
  periodOption,
  policyChangesOf,
  type PolicyOptions,
  reasonOption,
  roleOption,
  textOption,
  toolsOption,
  UsageError,
  withCommonOptions,
  withPolicyOptions,
} from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";

interface CreateOptions extends CommonOptions, Omit<TokenRequest, "expiresInMs"> {
  expires?: number;
  admin?: boolean;
}

export function addTokenCommands(program: Command): void {
  const token = program.command("token").description("issue, list and revoke tokens");
  withCommonOptions(token.command("create").description("issue a token and print it once"))
    .requiredOption("--user <name>", "whose token it is", nameOption("--user"))
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
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .option("--expires <duration>", "lifetime, such as 30d", durationOption("--expires"))
    .action(create);
  withCommonOptions(token.command("list").description("list tokens, without their secrets")).action(list);
  withTokenOptions(token.command("revoke").description("revoke a token")).action(revoke);
  withTokenOptions(token.command("pause").description("refuse a token's calls until it is resumed")).action(
    async (id: string, options: TokenOptions) => change(id, { paused: true }, options),
  );
  withTokenOptions(token.command("resume").description("accept a paused token again")).action(
    async (id: string, options: TokenOptions) => change(id, { paused: false }, options),
  );
  withTokenOptions(token.command("rotate").description("give a token a new secret and print it once"))
    .option("--overlap <duration>", "how long the old secret can be used as well", durationOption("--overlap"), 0)
    .action(rotate);
  withPolicyOptions(withTokenOptions(token.command("set").description("change a token's limits")))
    .option("--name <name>", "what it is for, or none", orNone(textOption("--name")))
    .option("--role <role>", "a lesser one than its user's, or none", orNone(roleOption("--role")))
    .action(set);
}

interface TokenOptions extends CommonOptions {
  reason?: string;
}

function withTokenOptions(command: Command): Command {
  return withCommonOptions(command.argument("<id>", "the token's id")).option(
    "--reason <text>",
    "why, for the audit log",
    reasonOption("--reason"),
  );
}

async function create(options: CreateOptions): Promise<void> {
  const { expires, admin, config: _config, storage: _storage, json, role: named, ...request } = options;
  const role = admin === true ? "owner" : named;
  const created = await withState(options, (state) => createToken(state, { ...request, role, expiresInMs: expires }));
  if (json === true) return printJson(created);
  printLine(created.token);
  // On stderr, so that `TOKEN=$(tollgate token create …)` contains nothing but the token.
  console.error(`It is shown only now. Token ${created.id} of ${created.user}.`);
}

async function list(options: CommonOptions): Promise<void> {
  const described = (await withState(options, (state) => state.tokens.list())).map((found) =>
    describe(found, found.userName),
  );
  if (options.json === true) return printJson(described);
  const rows = described.map((row) => [
    row.id,
    row.user,
    row.kind,
    row.role ?? "",
    row.status,
    row.expires ?? "",
    row.models?.join(",") ?? "*",
  ]);
  printTable(["ID", "USER", "KIND", "ROLE", "STATUS", "EXPIRES", "MODELS"], rows);
}

function describe(token: TokenRecord, user: string = token.user) {
  const expired = token.expiresAt !== undefined && token.expiresAt <= Date.now();
  return {
    id: token.id,
    user,
    user_id: token.user,
    kind: token.service ? "service" : "user",
    role: token.role ?? null,
    name: token.name ?? null,
    status: token.revokedAt !== undefined ? "revoked" : expired ? "expired" : token.pausedAt ? "paused" : "active",
    expires: token.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString(),
    created: new Date(token.createdAt).toISOString(),
    models: token.models ?? null,
    tools: token.tools ?? null,
    rpm: token.rpm ?? null,
    tpm: token.tpm ?? null,
    concurrency: token.concurrency ?? null,
  };
}

async function revoke(id: string, options: TokenOptions): Promise<void> {
  await withState(options, (state) => revokeToken(state, id, options));
  if (options.json === true) return printJson({ id, revoked: true });
  printLine(`Token ${id} is revoked.`);
}

async function rotate(id: string, options: TokenOptions & { overlap: number }): Promise<void> {
  const { secret } = await withState(options, (state) => rotateToken(state, id, options.overlap, options));
  if (options.json === true) return printJson({ id, token: secret });
  printLine(secret);
  console.error(`It is shown only now. Token ${id}.`);
}

interface SetOptions extends TokenOptions, PolicyOptions {
  name?: string;
  role?: Role | "none";
}

async function set(id: string, options: SetOptions): Promise<void> {
  const { name, role } = options;
  const changes = { ...policyChangesOf(options, environment.clock()), name: orNull(name), role: orNull(role) };
  await change(id, changes, options);
}

async function change(id: string, changes: TokenChanges, options: TokenOptions): Promise<void> {
  if (Object.values(changes).every((value) => value === undefined)) throw new UsageError("there is nothing to set");
  const { token, user } = await withState(options, (state) => changeToken(state, id, changes, options));
  if (options.json === true) return printJson(describe(token, user.name));
  printLine(`Token ${id} is changed.`);
}
