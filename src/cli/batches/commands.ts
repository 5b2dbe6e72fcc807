import type { Command } from "commander";
import { addAdminCommand, type ListAnswer, type PageOptions, showList, withPage } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import { textOption } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";

interface Batch {
  id: string;
  user_id: string;
  endpoint: string;
  provider: string | null;
  status: string;
  lines: { total: number; succeeded: number };
  created_at: string;
}

export function addBatchesCommands(program: Command): void {
  const batches = program.command("batches").description("batches of calls, of all users");
  addAdminCommand<PageOptions & { user?: string }, ListAnswer<Batch>>(batches, {
    name: "list",
    description: "list batches by their ids, the oldest first",
    route: "get /admin/v1/batches",
    options: (command) =>
      withPage(command).option("--user <id>", "of the user with this id alone", textOption("--user")),
    ask: ({ limit, after, user }) => ({ query: { limit, after, user } }),
    show: showList(print, ({ id }) => id),
  });
  addAdminCommand<AskOptions, Batch>(batches, {
    name: "show",
    description: "show a batch",
    argument: "its id",
    route: "get /admin/v1/batches/{id}",
    show: printJson,
  });
  addAdminCommand<AskOptions, Batch>(batches, {
    name: "cancel",
    description: "begin no further line of a batch",
    argument: "its id",
    route: "post /admin/v1/batches/{id}/cancel",
    show: ({ id, status }, { dryRun }) => {
      if (status !== "cancelling") return printLine(`${id} has ended, or ends by now.`);
      return printLine(`${id} ${dryRun === true ? "would begin" : "begins"} no further line.`);
    },
  });
}

function print(batches: readonly Batch[]): void {
  printTable(
    ["ID", "USER", "ENDPOINT", "STATUS", "LINES", "ENDED WELL", "AT", "CREATED"],
    batches.map(({ id, user_id: user, endpoint, provider, status, lines, created_at: createdAt }) => [
      id,
      user,
      endpoint,
      status,
      String(lines.total),
      String(lines.succeeded),
      provider ?? "",
      createdAt,
    ]),
  );
}
