import type { Command } from "commander";
import { dimensionsIn, type SpendingDimension, spendingDimensions, type spendingJson } from "../../spending/index.ts";
import { addAdminCommand } from "../admin/admin-command.ts";
import type { AskOptions } from "../admin/ask-admin.ts";
import { choiceOption, UsageError } from "../options.ts";
import { printTable } from "../print.ts";
import { type CallFilterOptions, callFilterOf, withCallFilter, withPeriod } from "./call-filters.ts";
import { momentText } from "./moments.ts";

interface UsageOptions extends AskOptions, CallFilterOptions {
  by: readonly SpendingDimension[];
  interval: "day" | "week" | "month";
}

interface UsageAnswer extends ReturnType<typeof spendingJson> {
  group_by: readonly SpendingDimension[];
}

export function addUsageCommand(program: Command): void {
  addAdminCommand<UsageOptions, UsageAnswer>(program, {
    name: "usage",
    description: "spending by organisation, user, model and time",
    route: "get /admin/v1/usage",
    options: (command) => {
      command.option(
        "--by <dimensions>",
        `one or several of ${spendingDimensions.join(",")},tag:KEY`,
        dimensionsOption,
        ["day"],
      );
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

function dimensionsOption(text: string): SpendingDimension[] {
  const found = dimensionsIn(text, spendingDimensions);
  if (found !== undefined) return found;
  const unknown = text.split(",").find((word) => dimensionsIn(word, spendingDimensions) === undefined);
  throw new UsageError(`--by: "${unknown ?? text}" is none of ${spendingDimensions.join(", ")}, tag:KEY`);
}

function show({ data, total, group_by: groupBy }: UsageAnswer): void {
  const columns = [
    ...groupBy.map((dimension) => (dimension === "token" ? "token_id" : dimension)),
    ...amounts,
  ] as const;
  const rows = data.map((entry: Readonly<Record<string, string | number | null | undefined>>) =>
    columns.map((column) => String(entry[column] ?? "")),
  );
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
