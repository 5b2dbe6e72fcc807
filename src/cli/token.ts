import type { Command } from "commander";
import { createToken, type TokenRequest } from "../accounts/index.ts";
import type { TokenRecord } from "../auth/index.ts";
import {
  type CommonOptions,
  countOption,
  creditsOption,
  durationOption,
  listOption,
  nameOption,
  periodOption,
  toolsOption,
  UsageError,
  withCommonOptions,
} from "./options.ts";
import { printJson, printLine, printTable } from "./print.ts";
import { withState } from "./state.ts";

interface CreateOptions extends CommonOptions, Omit<TokenRequest, "expiresInMs"> {
  expires?: number;
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
    .option("--admin", "may administrate")
    .option("--expires <duration>", "lifetime, such as 30d", durationOption("--expires"))
    .action(create);
  withCommonOptions(token.command("list").description("list tokens, without their secrets")).action(list);
  withCommonOptions(token.command("revoke").description("revoke a token").argument("<id>", "the token's id")).action(
    revoke,
  );
}

async function create(options: CreateOptions): Promise<void> {
  const { expires, config: _config, storage: _storage, json, ...request } = options;
  const created = await withState(options, (state) => createToken(state, { ...request, expiresInMs: expires }));
  if (json === true) return printJson(created);
  printLine(created.token);
  // On stderr, so that `TOKEN=$(tollgate token create …)` contains nothing but the token.
  console.error(`It is shown only now. Token ${created.id} of ${created.user}.`);
}

async function list(options: CommonOptions): Promise<void> {
  const tokens = await withState(options, (state) => state.tokens.list());
  if (options.json === true) return printJson(tokens.map(describe));
  const rows = tokens
    .map(describe)
    .map((row) => [row.id, row.user, row.kind, row.status, row.expires ?? "", row.models?.join(",") ?? "*"]);
  printTable(["ID", "USER", "KIND", "STATUS", "EXPIRES", "MODELS"], rows);
}

function describe(token: TokenRecord) {
  const expired = token.expiresAt !== undefined && token.expiresAt <= Date.now();
  return {
    id: token.id,
    user: token.user,
    kind: token.admin ? "admin" : token.service ? "service" : "user",
    status: token.revokedAt !== undefined ? "revoked" : expired ? "expired" : "active",
    expires: token.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString(),
    created: new Date(token.createdAt).toISOString(),
    models: token.models ?? null,
    tools: token.tools ?? null,
    rpm: token.rpm ?? null,
    tpm: token.tpm ?? null,
    concurrency: token.concurrency ?? null,
  };
}

async function revoke(id: string, options: CommonOptions): Promise<void> {
  const revoked = await withState(options, (state) => state.tokens.revoke(id, state.environment.clock()));
  if (!revoked) throw new UsageError(`there is no token ${id}`);
  if (options.json === true) return printJson({ id, revoked: true });
  printLine(`Token ${id} is revoked.`);
}
