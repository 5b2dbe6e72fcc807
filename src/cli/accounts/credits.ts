import type { Command } from "commander";
import { grantCredits, refundCall } from "../../accounts/index.ts";
import { creditsNumber, formatCredits, type Nano } from "../../core/index.ts";
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

interface GrantOptions extends CommonOptions {
  user?: string;
  organisation?: string;
  amount: Nano;
  reason?: string;
}

interface RefundOptions extends CommonOptions {
  reason: string;
}

export function addCreditsCommands(program: Command): void {
  const credits = program.command("credits").description("prepaid credits");
  withCommonOptions(credits.command("grant").description("add credits to a user's or organisation's balance"))
    .option("--user <name>", "whose balance", nameOption("--user"))
    .option("--organisation <name>", "whose balance", nameOption("--organisation"))
    .requiredOption(
      "--amount <credits>",
      "how many; below zero takes them back, as far as they are not held",
      changeOption("--amount"),
    )
    .option("--reason <text>", "why, for the entry; required to take credits back", reasonOption("--reason"))
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
  const { amount, reason } = options;
  if (amount === 0n) throw new UsageError("--amount: must not be zero");
  if (amount < 0n && reason === undefined) throw new UsageError("--reason: name one to take credits back");
  const holder = singleAccountOption(options, ["user", "organisation"]);
  const balance = await withState(options, (state) => grantCredits(state, holder, amount, { reason }));
  if (options.json === true) {
    return printJson({ [holder.kind]: holder.name, granted: creditsNumber(amount), balance: creditsNumber(balance) });
  }
  const now = `the balance is ${formatCredits(balance)}`;
  if (amount > 0n) return printLine(`Granted ${formatCredits(amount)} credits to ${holder.name}; ${now}.`);
  printLine(`Took ${formatCredits(-amount)} credits back from ${holder.name}; ${now}.`);
}

async function refund(requestId: string, options: RefundOptions): Promise<void> {
  const amount = await withState(options, (state) => refundCall(state, requestId, options.reason));
  if (options.json === true) return printJson({ request_id: requestId, refunded: creditsNumber(amount) });
  printLine(`Refunded ${formatCredits(amount)} credits of ${requestId}.`);
}
