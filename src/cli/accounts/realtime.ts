import type { Command } from "commander";
import { addAdminCommand, type ListAnswer, type PageOptions, showList, withPage } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import { printLine, printTable } from "../print.ts";

interface Session {
  id: string;
  type: string;
  model: string;
  user: string | null;
  project: string | null;
  token_id: string;
  node: string;
  opened_at: string;
  ending: boolean;
}

export function addRealtimeCommands(program: Command): void {
  const realtime = program.command("realtime").description("realtime sessions that are open, on all nodes");
  addAdminCommand<PageOptions, ListAnswer<Session>>(realtime, {
    name: "list",
    description: "list open sessions by their ids",
    route: "get /admin/v1/realtime_sessions",
    options: withPage,
    ask: ({ limit, after }) => ({ query: { limit, after } }),
    show: showList(print, ({ id }) => id),
  });
  addAdminCommand<AskOptions, Session>(realtime, {
    name: "end",
    description: "end a session within about a second; it is charged as if its client had left",
    argument: "its id",
    route: "delete /admin/v1/realtime_sessions/{id}",
    show: ({ id }, { dryRun }) => printLine(`session ${id} ${dryRun === true ? "would be ended" : "ends"}.`),
  });
}

function print(sessions: readonly Session[]): void {
  printTable(
    ["ID", "TYPE", "MODEL", "OWNER", "TOKEN", "NODE", "OPENED", "STATE"],
    sessions.map(({ id, type, model, user, project, token_id: token, node, opened_at: openedAt, ending }) => [
      id,
      type,
      model,
      user ?? `project ${project}`,
      token,
      node,
      openedAt,
      ending ? "ending" : "open",
    ]),
  );
}
