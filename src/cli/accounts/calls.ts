import type { Command } from "commander";
import type { CallAnswer } from "../../http/admin/index.ts";
import { addAdminCommand, type PageOptions } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import { countOption } from "../options.ts";
import { printLine, printTable } from "../print.ts";
import { type CallFilterOptions, callFilterOf, withCallFilter, withPeriod } from "./call-filters.ts";
import { momentText } from "./moments.ts";

interface CallsOptions extends PageOptions, CallFilterOptions {
  failed?: boolean;
}

interface CallsAnswer {
  data: readonly CallAnswer[];
  next_cursor?: string;
  scanned_from?: string;
}

export function addCallsCommand(program: Command): void {
  addAdminCommand<CallsOptions, CallsAnswer>(program, {
    name: "calls",
    description: "the calls of all users, the newest first",
    route: "get /admin/v1/generations",
    options: (command) => {
      withPeriod(command.option("--failed", "those that have failed, broken off or expired only"), "2h");
      withCallFilter(command)
        .option("--limit <count>", "how many, at most 500", countOption("--limit"), 50)
        .option("--after <id>", "those before this id: the next page");
    },
    ask: ({ failed, since, until, limit, after, ...options }) => ({
      query: {
        status: failed === true ? "failed" : undefined,
        from: momentText(since),
        to: momentText(until),
        ...callFilterOf(options),
        limit,
        after,
      },
    }),
    show: showCalls,
  });
}

export function addCallCommand(program: Command): void {
  addAdminCommand<AskOptions, CallAnswer>(program, {
    name: "call",
    description: "one call: by its x-request-id, the caller's own id, or the provider's",
    argument: "the id",
    route: "get /admin/v1/generations/{id}",
    show: showCall,
  });
}

function showCalls({ data, next_cursor: next, scanned_from: scannedFrom }: CallsAnswer): void {
  printTable(
    ["TIME", "ID", "OWNER", "MODEL", "STATUS", "OUTCOME", "FAILURE", "MS", "CREDITS"],
    data.map((call) => [
      call.created_at,
      call.id,
      call.user ?? `project ${call.project}`,
      call.model,
      String(call.status ?? ""),
      call.outcome,
      call.attempts?.at(-1)?.class ?? "",
      String(Math.round(call.latency_ms)),
      String(call.credits),
    ]),
  );
  if (scannedFrom !== undefined) printLine(`Calls since ${scannedFrom} were searched: --after ${next} goes on before.`);
  else if (next !== undefined) printLine(`There are more: --after ${next}`);
}

/** One line a member; of its usage those that count, of its attempts one line each. */
function showCall({ usage, attempts = [], ...call }: CallAnswer): void {
  const used = Object.entries(usage).flatMap(([name, count]) => (count === 0 ? [] : [`${name} ${count}`]));
  const members = Object.entries({ ...call, usage: used.join(", ") }).map(([name, value]) => [
    name.replaceAll("_", " "),
    typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? ""),
  ]);
  const asked = attempts.map(({ number, model, key, status, milliseconds, class: failure }) => [
    `attempt ${number}`,
    `${model} with ${key}: ${status ?? "no answer"}${failure === null ? "" : `, ${failure}`}, ${milliseconds} ms`,
  ]);
  printTable([], [...members, ...asked]);
}
