/** Commands that are one request to the admin API each. */
import type { Command } from "commander";
import { type CommonOptions, countOption, reasonOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printLine } from "../print.ts";
import { type AdminRequest, askAdmin, type AskOptions } from "./ask-admin.ts";

type Asked = Pick<AdminRequest, "query" | "body">;

interface AdminCommand<Options, Answer> extends Pick<AdminRequest, "route"> {
  /** The last word of the command: `disable`. */
  name: string;
  description: string;
  /** Adds arguments after that of `{id}`, and options. */
  options?: (command: Command) => unknown;
  /** The query, and the body without its reason. A change with an empty body is refused. */
  ask?: (options: Options, further?: string) => Asked;
  /** Prints the answer for people; with `--json` it is printed as it is. */
  show: (answer: Answer, options: AskOptions) => void;
  /** The description of `{id}`. */
  argument?: string;
  /** Runs for every answer, printed in either form. */
  after?: (answer: Answer) => void;
}

/** Adds a command with `--json`, `--server` and, if it changes something, `--reason` and `--dry-run`. */
export function addAdminCommand<Options extends AskOptions, Answer>(
  parent: Command,
  { name, description, route, options, ask, show, after, argument = "its name or id" }: AdminCommand<Options, Answer>,
): void {
  const command = withServer(parent.command(name).description(description));
  const hasId = route.includes("{id}");
  if (hasId) command.argument(/name/.test(argument) ? "<name>" : "<id>", argument);
  if (!route.startsWith("get ")) withAct(command);
  options?.(command);
  command.action(async () => {
    const chosen = command.opts<Options>();
    const args = [...command.args];
    const id = hasId ? args.shift() : undefined;
    const asked = ask?.(chosen, args[0]) ?? {};
    if (route.startsWith("patch ") && !hasMembers(asked.body)) throw new UsageError("there is nothing to set");
    const answer = await askAdmin<Answer>(chosen, { route, ...(id !== undefined && { id }), ...asked });
    after?.(answer);
    printAnswer(answer, chosen, show);
  });
}

export function printAnswer<Answer>(
  answer: Answer,
  options: AskOptions,
  show: (answer: Answer, options: AskOptions) => void,
): void {
  if (options.json === true) printJson(answer);
  else show(answer, options);
}

function hasMembers(body: object | undefined): boolean {
  return body !== undefined && Object.values(body).some((value) => value !== undefined);
}

export function withServer(command: Command): Command {
  return withCommonOptions(command).option(
    "--server <url>",
    "ask a running gateway, with the token in TOLLGATE_TOKEN, in place of the storage",
  );
}

export function withAct(command: Command): Command {
  return command
    .option("--dry-run", "show the result, and change nothing")
    .option("--reason <text>", "why, for the audit log", reasonOption("--reason"));
}

export interface PageOptions extends AskOptions, CommonOptions {
  limit: number;
  after?: string;
}

/** The options of a list. */
export function withPage(command: Command): Command {
  return command
    .option("--limit <count>", "how many, at most 500", countOption("--limit"), 100)
    .option("--after <id>", "those after this id");
}

/** A page of a list. */
export interface ListAnswer<Item> {
  data: readonly Item[];
  has_more: boolean;
}

/** Prints a page by its rows, and how to get the next one. */
export function showList<Item extends object>(
  print: (items: readonly Item[]) => void,
  lastOf: (item: Item) => string | number,
) {
  return ({ data, has_more: hasMore }: ListAnswer<Item>): void => {
    print(data);
    const last = data.at(-1);
    if (hasMore && last !== undefined) printLine(`There are more: --after ${lastOf(last)}`);
  };
}
