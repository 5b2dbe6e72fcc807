import type { Command } from "commander";
import type { auditJson } from "../../accounts/index.ts";
import { addAdminCommand, type ListAnswer, type PageOptions, showList, withPage } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import { printLine, printTable } from "../print.ts";

type Shown = ReturnType<typeof auditJson>;

export function addAuditCommands(program: Command): void {
  const audit = program.command("audit").description("the log of everything that was changed");
  addAdminCommand<PageOptions, ListAnswer<Shown>>(audit, {
    name: "list",
    description: "list acts, the newest first",
    route: "get /admin/v1/audit",
    options: withPage,
    ask: ({ limit, after }) => ({ query: { limit, after } }),
    show: showList(print, ({ number }) => number),
  });
  addAdminCommand<AskOptions, { rows: number; ok: boolean; fault: string | null }>(audit, {
    name: "verify",
    description: "check that no row was changed or removed; exits with 1 otherwise",
    route: "get /admin/v1/audit/verify",
    after: ({ ok }) => {
      if (!ok) process.exitCode = 1;
    },
    show: ({ rows, fault }) =>
      printLine(fault === null ? `The audit log is whole: ${rows} rows.` : `The audit log is not whole: ${fault}.`),
  });
}

function print(rows: readonly Shown[]): void {
  printTable(
    ["NUMBER", "TIME", "ACTOR", "ACT", "TARGET", "REASON"],
    rows.map(({ number, at, actor, act, target, reason }) => [String(number), at, actor, act, target, reason ?? ""]),
  );
}
