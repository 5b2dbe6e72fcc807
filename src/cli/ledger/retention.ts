import type { Command } from "commander";
import { exportBooks, removeEntries, sealBooks } from "../../ledger/index.ts";
import { type CommonOptions, dayOption, reasonOption, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { environment, type State, withState } from "../state.ts";

interface BeforeOptions extends CommonOptions {
  before: number;
  reason?: string;
}

/** The commands that seal, export and remove old entries. Each may be interrupted and repeated, while gateways run. */
export function addRetentionCommands(ledger: Command): void {
  const seals = before(
    ledger.command("seal"),
    "store an opening balance of every account, from which the audit begins",
  );
  withReason(seals).action(seal);
  before(ledger.command("export"), "write sealed entries to a file (JSON lines, gzip)")
    .argument("<file>")
    .action((file: string, options: BeforeOptions) => exportTo(file, options));
  withReason(before(ledger.command("remove"), "remove sealed entries and the records of their calls")).action(remove);
}

function withReason(command: Command): Command {
  return command.option("--reason <text>", "why, for the audit log", reasonOption("--reason"));
}

function before(command: Command, description: string): Command {
  return withCommonOptions(command.description(description)).requiredOption(
    "--before <date>",
    "the entries before this day of the deployment's time zone",
    dayOption("--before"),
  );
}

const iso = (at: number): string => new Date(at).toISOString();

function note({ log, caller }: State, act: string, after: object, { reason }: BeforeOptions): Promise<void> {
  return log.note({ actor: caller.actor, reason }, { act, target: "ledger", after });
}

async function seal(options: BeforeOptions): Promise<void> {
  const sealed = await withState(options, async (state) => {
    const {
      before: end,
      entries: count,
      ...rest
    } = await sealBooks(state.accounts, options.before, environment.clock());
    await note(state, "ledger.seal", { before: iso(end), entries: count }, options);
    return { ...rest, before: end, entries: count };
  });
  const { entries, accounts } = sealed;
  if (options.json === true) printJson({ sealed_before: iso(sealed.before), accounts, entries });
  else printLine(`Sealed ${entries} entries before ${iso(sealed.before)}: opening balances of ${accounts} accounts.`);
}

async function exportTo(file: string, options: BeforeOptions): Promise<void> {
  const { before: day } = options;
  const {
    from,
    before: end,
    entries,
  } = await withState(options, ({ accounts }) => exportBooks(accounts, { day, file, now: environment.clock() }));
  if (options.json === true) printJson({ file, from: iso(from), before: iso(end), entries });
  else printLine(`Wrote ${entries} entries before ${iso(end)} to ${file}.`);
}

async function remove(options: BeforeOptions): Promise<void> {
  const removed = await withState(options, async (state) => {
    const end = state.accounts.calendar.startOfDay(options.before);
    const { sealedBefore } = await state.accounts.books.state();
    // Many commits, of which the first may be the last: the row is older than all of them.
    if (end <= sealedBefore) await note(state, "ledger.remove", { before: iso(end) }, options);
    return removeEntries(state.accounts, options.before);
  });
  if (options.json === true) printJson({ removed });
  else printLine(`Removed ${removed} entries. The sums of their days remain.`);
}
