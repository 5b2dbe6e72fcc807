import type { Command } from "commander";
import { grantCredits } from "../accounts/index.ts";
import { creditsNumber, formatCredits, type Nano } from "../core/index.ts";
import {
  type CommonOptions,
  creditsOption,
  nameOption,
  singleAccountOption,
  UsageError,
  withCommonOptions,
} from "./options.ts";
import { printJson, printLine } from "./print.ts";
import { withState } from "./state.ts";

interface GrantOptions extends CommonOptions {
  user?: string;
  organisation?: string;
  amount: Nano;
}

export function addCreditsCommands(program: Command): void {
  const credits = program.command("credits").description("prepaid credits");
  withCommonOptions(credits.command("grant").description("add credits to a user's or organisation's balance"))
    .option("--user <name>", "whose balance", nameOption("--user"))
    .option("--organisation <name>", "whose balance", nameOption("--organisation"))
    .requiredOption("--amount <credits>", "how many", creditsOption("--amount"))
    .action(grant);
}

async function grant(options: GrantOptions): Promise<void> {
  const { amount } = options;
  if (amount === 0n) throw new UsageError("--amount: must be above zero");
  const holder = singleAccountOption(options, ["user", "organisation"]);
  const balance = await withState(options, (state) => grantCredits(state, holder, amount));
  if (options.json === true) {
    return printJson({ [holder.kind]: holder.name, granted: creditsNumber(amount), balance: creditsNumber(balance) });
  }
  printLine(`Granted ${formatCredits(amount)} credits to ${holder.name}; the balance is ${formatCredits(balance)}.`);
}
