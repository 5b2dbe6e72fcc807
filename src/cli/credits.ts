import type { Command } from "commander";
import { grantCredits } from "../accounts/index.ts";
import { creditsNumber, formatCredits, type Nano } from "../core/index.ts";
import { type CommonOptions, creditsOption, nameOption, UsageError, withCommonOptions } from "./options.ts";
import { printJson, printLine } from "./print.ts";
import { withState } from "./state.ts";

interface GrantOptions extends CommonOptions {
  user: string;
  amount: Nano;
}

export function addCreditsCommands(program: Command): void {
  const credits = program.command("credits").description("prepaid credits");
  withCommonOptions(credits.command("grant").description("add credits to a user's balance"))
    .requiredOption("--user <name>", "whose balance", nameOption("--user"))
    .requiredOption("--amount <credits>", "how many", creditsOption("--amount"))
    .action(grant);
}

async function grant(options: GrantOptions): Promise<void> {
  if (options.amount === 0n) throw new UsageError("--amount: must be above zero");
  const balance = await withState(options, (state) => grantCredits(state, options.user, options.amount));
  if (options.json === true) {
    return printJson({ user: options.user, granted: creditsNumber(options.amount), balance: creditsNumber(balance) });
  }
  printLine(
    `Granted ${formatCredits(options.amount)} credits to ${options.user}; the balance is ${formatCredits(balance)}.`,
  );
}
