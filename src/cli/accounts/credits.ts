import type { Command } from "commander";
import { grantCredits, refundCall } from "../../accounts/index.ts";
import { creditsNumber, formatCredits, type Nano } from "../../core/index.ts";
import { printAnswer, withAct, withServer } from "../admin/admin-command.ts";
import { askAdmin, type AskOptions } from "../admin/ask-admin.ts";
import {
  changeOption,
  type CommonOptions,
  nameOption,
  reasonOption,
  singleAccountOption,
  UsageError,
  withCommonOptions,
} from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { withState } from "../state.ts";

interface GrantOptions extends AskOptions {
  user?: string;
  organisation?: string;
  project?: string;
  amount: Nano;
}

interface RefundOptions extends CommonOptions {
  reason: string;
}

export function addCreditsCommands(program: Command): void {
  const credits = program.command("credits").description("prepaid credits");
  withAct(
    withServer(
      credits.command("grant").description("add credits to the balance of a user, a project or an organisation"),
    ),
  )
    .option("--user <name>", "whose balance", nameOption("--user"))
    .option("--organisation <name>", "whose balance", nameOption("--organisation"))
    .option("--project <name>", "whose balance", nameOption("--project"))
    .requiredOption(
      "--amount <credits>",
      "how many; below zero takes them back, as far as they are not held",
      changeOption("--amount"),
    )
    .action(grant);
  withCommonOptions(
    credits
      .command("refund")
      .description("give back the whole charge of a call, once")
      .argument("<request-id>", "the call's x-request-id"),
  )
    .requiredOption("--reason <text>", "why, for the entry", reasonOption("--reason"))
    .action(refund);
}

async function grant(options: GrantOptions): Promise<void> {
  const { amount, reason, server } = options;
  if (amount === 0n) throw new UsageError("--amount: must not be zero");
  if (amount < 0n && reason === undefined) throw new UsageError("--reason: name one to take credits back");
  const holder = singleAccountOption(options, ["user", "organisation", "project"]);
  const credits = creditsNumber(amount);
  if (server !== undefined) {
    const body = { [holder.kind]: holder.name, amount: credits };
    const answer = await askAdmin<object>(options, { route: "post /admin/v1/credits", body });
    return printAnswer(answer, options, () => printLine(`${grantText(holder.name, amount)}.`));
  }
  const { dryRun } = options;
  const balance = await withState(options, (state) => grantCredits(state, holder, amount, { reason, dryRun }));
  const shown = { [holder.kind]: holder.name, granted: credits, balance: creditsNumber(balance) };
  printAnswer(shown, options, () =>
    printLine(`${grantText(holder.name, amount)}; the balance is ${formatCredits(balance)}.`),
  );
}

function grantText(name: string, amount: Nano): string {
  if (amount > 0n) return `Granted ${formatCredits(amount)} credits to ${name}`;
  return `Took ${formatCredits(-amount)} credits back from ${name}`;
}

async function refund(requestId: string, options: RefundOptions): Promise<void> {
  const amount = await withState(options, (state) => refundCall(state, requestId, options.reason));
  if (options.json === true) return printJson({ request_id: requestId, refunded: creditsNumber(amount) });
  printLine(`Refunded ${formatCredits(amount)} credits of ${requestId}.`);
}
