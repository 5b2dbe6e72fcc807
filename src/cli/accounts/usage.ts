import type { Command } from "commander";
import { spendingDimensions, type spendingJson } from "../../spending/index.ts";
import { addAdminCommand } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import { choiceOption, listOption, UsageError } from "../options.ts";
import { printTable } from "../print.ts";
import { type CallFilterOptions, callFilterOf, withCallFilter, withPeriod } from "./call-filters.ts";
import { momentText } from "./moments.ts";

type Dimension = (typeof spendingDimensions)[number];

interface UsageOptions extends AskOptions, CallFilterOptions {
  by: readonly Dimension[];
  interval: "day" | "week" | "month";
}

interface UsageAnswer extends ReturnType<typeof spendingJson> {
  group_by: readonly Dimension[];
}

export function addUsageCommand(program: Command): void {
  addAdminCommand<UsageOptions, UsageAnswer>(program, {
    name: "usage",
    description: "spending by organisation, user, model and time",
    route: "get /admin/v1/usage",
    options: (command) => {
      command.option("--by <dimensions>", `one or several of ${spendingDimensions.join(",")}`, dimensionsOption, [
        "day",
      ]);
      withPeriod(command, "7d").option(
        "--interval <length>",
        "day, week or month: of the groups by day",
        choiceOption("--interval", ["day", "week", "month"] as const),
        "day",
      );
      withCallFilter(command);
    },
    ask: ({ by, interval, since, until, ...options }) => ({
      query: {
        group_by: by.join(","),
        interval,
        from: momentText(since),
        to: momentText(until),
        ...callFilterOf(options),
      },
    }),
    show,
  });
}

function dimensionsOption(text: string): Dimension[] {
  const words = listOption(text);
  const unknown = words.find((word) => !spendingDimensions.some((dimension) => dimension === word));
  if (unknown !== undefined || words.length === 0)
    throw new UsageError(`--by: "${unknown ?? text}" is none of ${spendingDimensions.join(", ")}`);
  return spendingDimensions.filter((dimension) => words.includes(dimension));
}

function show({ data, total, group_by: groupBy }: UsageAnswer): void {
  const columns = [
    ...groupBy.map((dimension) => (dimension === "token" ? "token_id" : dimension)),
    ...amounts,
  ] as const;
  const rows = data.map((entry) => columns.map((column) => String(entry[column] ?? "")));
  const sums = columns.map((column, index) =>
    index === 0 ? "total" : column in total ? String(total[column as Amount]) : "",
  );
  printTable(
    columns.map((column) => column.replaceAll("_", " ").toUpperCase()),
    [...rows, sums],
  );
}

const amounts = ["requests", "failures", "input_tokens", "output_tokens", "credits", "list_credits"] as const;
type Amount = (typeof amounts)[number];
