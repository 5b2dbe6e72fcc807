import type { Command } from "commander";
import type { AuditRow } from "../../audit/index.ts";
import { auditJson } from "../../accounts/index.ts";
import { type CommonOptions, countOption, withCommonOptions } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { withState } from "../state.ts";

interface ListOptions extends CommonOptions {
  limit: number;
  after?: number;
}

export function addAuditCommands(program: Command): void {
  const audit = program.command("audit").description("the log of everything that was changed");
  withCommonOptions(audit.command("list").description("list acts, the newest first"))
    .option("--limit <count>", "how many", countOption("--limit"), 100)
    .option("--after <number>", "those before the row with this number", countOption("--after"))
    .action(list);
  withCommonOptions(
    audit.command("verify").description("check that no row was changed or removed; exits with 1 otherwise"),
  ).action(verify);
}

async function list(options: ListOptions): Promise<void> {
  const { limit, after: before } = options;
  const rows = await withState(options, ({ log }) => log.list({ limit, before }));
  if (options.json === true) return printJson(rows.map(auditJson));
  printTable(["NUMBER", "TIME", "ACTOR", "ACT", "TARGET", "REASON"], rows.map(cellsOf));
}

function cellsOf({ number, at, actor, act, target, reason = "" }: AuditRow): string[] {
  return [String(number), new Date(at).toISOString(), actor, act, target, reason];
}

async function verify(options: CommonOptions): Promise<void> {
  const { rows, fault } = await withState(options, ({ log }) => log.verify());
  if (fault !== undefined) process.exitCode = 1;
  if (options.json === true) return printJson({ rows, ok: fault === undefined, fault: fault ?? null });
  printLine(fault === undefined ? `The audit log is whole: ${rows} rows.` : `The audit log is not whole: ${fault}.`);
}
