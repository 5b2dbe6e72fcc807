import type { Command } from "commander";
import { creditsNumber, formatCredits } from "../../core/index.ts";
import { type AuditReport, type Drift, moneyCounters, type OpenHold } from "../../ledger/index.ts";
import { createAccounts } from "../../app/accounts.ts";
import { changeTimezone } from "../../app/storage.ts";
import { type CommonOptions, reasonOption, withCommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { addRetentionCommands } from "./retention.ts";
import { commandActor, environment, migrates, openNamedStorage, storageUrlOf, withState } from "../state.ts";

export function addLedgerCommands(program: Command): void {
  const ledger = program.command("ledger").description("the books");
  withCommonOptions(
    ledger
      .command("audit")
      .description("recompute every balance, budget and sum from the entries; exit 1 on any drift"),
  ).action(audit);
  withCommonOptions(ledger.command("holds").description("show what is set aside for calls under way, and why")).action(
    holds,
  );
  addRetentionCommands(ledger);
  withCommonOptions(
    ledger
      .command("timezone")
      .description("change the time zone of days and budgets, and count every call again by its days")
      .argument("<zone>", "its name: UTC, Europe/Berlin"),
  )
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"))
    .action(setTimezone);
}

/** Does not require the storage to have the configured zone already, as the other commands do. */
async function setTimezone(zone: string, { reason, ...options }: CommonOptions & { reason?: string }): Promise<void> {
  await changeTimezone(storageUrlOf(options), zone, { migrates: migrates(options) });
  const storage = await openNamedStorage(options);
  const { log, caller } = createAccounts(storage, environment, commandActor());
  await log.note(
    { actor: caller.actor, reason },
    { act: "ledger.timezone", target: "ledger", after: { timezone: zone } },
  );
  await storage.close();
  if (options.json === true) printJson({ timezone: zone });
  else printLine(`Days and budgets begin at midnight in ${zone}. Set server.timezone to it.`);
}

async function audit(options: CommonOptions): Promise<void> {
  const report = await withState(options, (state) => state.accounts.audit());
  if (report.drifts.length > 0) process.exitCode = 1;
  if (options.json === true) printJson(auditJson(report));
  else printAudit(report);
}

function auditJson(report: AuditReport) {
  return {
    ok: report.drifts.length === 0,
    accounts: report.accounts,
    entries: report.entries,
    sealed_before: report.sealedBefore === undefined ? null : new Date(report.sealedBefore).toISOString(),
    open_holds: report.openHolds,
    shortfall: creditsNumber(report.shortfall),
    drifts: report.drifts.map((drift) => ({
      account: drift.accountId,
      counter: drift.counter,
      ...(drift.place !== undefined && { place: drift.place }),
      recorded: isMoney(drift) ? creditsNumber(drift.recorded) : Number(drift.recorded),
      recomputed: isMoney(drift) ? creditsNumber(drift.recomputed) : Number(drift.recomputed),
    })),
  };
}

const isMoney = ({ counter }: Drift): boolean => moneyCounters.some((money) => money === counter);

const textOf = (drift: Drift, figure: bigint): string => (isMoney(drift) ? formatCredits(figure) : String(figure));

function printAudit(report: AuditReport): void {
  const { accounts, entries, openHolds, drifts, shortfall, sealedBefore } = report;
  if (sealedBefore !== undefined)
    printLine(`From the opening balances of ${new Date(sealedBefore).toISOString()}, and the entries since then:`);
  printLine(`${accounts} accounts, ${entries} entries, ${openHolds} open holds, shortfall ${formatCredits(shortfall)}`);
  if (drifts.length === 0) return printLine("The books balance.");
  printTable(
    ["ACCOUNT", "COUNTER", "RECORDED", "RECOMPUTED", "WHERE"],
    drifts.map((drift) => [
      drift.accountId,
      drift.counter,
      textOf(drift, drift.recorded),
      textOf(drift, drift.recomputed),
      drift.place ?? "",
    ]),
  );
}

async function holds(options: CommonOptions): Promise<void> {
  const open = await withState(options, (state) => state.accounts.openHolds());
  const now = Date.now();
  if (options.json === true) return printJson(open.map((hold) => holdJson(hold, now)));
  if (open.length === 0) return printLine("No hold is open.");
  const rows = open.map((hold) => [
    hold.id,
    hold.accountId,
    formatCredits(hold.amount),
    hold.description,
    `${Math.round((now - hold.createdAt) / 1000)} s`,
    hold.keeper,
    hold.leaseUntil < now ? "left behind: the sweeper ends it" : "alive",
  ]);
  printTable(["ID", "ACCOUNT", "AMOUNT", "PURPOSE", "AGE", "KEEPER", "STATE"], rows);
}

function holdJson(hold: OpenHold, now: number) {
  return {
    id: hold.id,
    account: hold.accountId,
    amount: creditsNumber(hold.amount),
    description: hold.description,
    observed: hold.observed === undefined ? null : creditsNumber(hold.observed),
    created: new Date(hold.createdAt).toISOString(),
    keeper: hold.keeper,
    lease_until: new Date(hold.leaseUntil).toISOString(),
    alive: hold.leaseUntil >= now,
  };
}
