import type { Command } from "commander";
import { type UsageDetail, usageDetails } from "../../generations/index.ts";
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
  include?: readonly UsageDetail[];
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
      command.option("--include <details>", `one or several of ${usageDetails.join(",")}`, detailsOption);
      withCallFilter(command);
    },
    ask: ({ by, interval, include, since, until, ...options }) => ({
      query: {
        group_by: by.join(","),
        interval,
        ...(include !== undefined && { include: include.join(",") }),
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

function detailsOption(text: string): readonly UsageDetail[] {
  const words = text.split(",");
  const unknown = words.find((word) => !usageDetails.some((detail) => detail === word));
  if (unknown !== undefined) throw new UsageError(`--include: "${unknown}" is none of ${usageDetails.join(", ")}`);
  return usageDetails.filter((detail) => words.includes(detail));
}

function show({ data, total, group_by: groupBy }: UsageAnswer): void {
  const totals = cellsOf(total);
  const columns = [
    ...groupBy.map((dimension) => (dimension === "token" ? "token_id" : dimension)),
    ...Object.keys(totals),
  ];
  const rows = data.map(({ object: _object, ...entry }) => {
    const cells: Cells = { ...entry, ...cellsOf(entry) };
    return columns.map((column) => textOf(cells[column]));
  });
  const sums = columns.map((column, index) => (index === 0 ? "total" : textOf(totals[column])));
  printTable(
    columns.map((column) => column.replaceAll("_", " ").toUpperCase()),
    [...rows, sums],
  );
}

type Cells = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string =>
  typeof value === "number" || typeof value === "string" ? String(value) : "";

/** The sums of a row, each detail in a column of its own; a row has no column of a bucket without units. */
function cellsOf({ requests, failures, input_tokens, output_tokens, credits, list_credits, ...more }: Sums): Cells {
  const { buckets = {}, first_token_ms: first } = more;
  return {
    requests,
    failures,
    input_tokens,
    output_tokens,
    credits,
    list_credits,
    ...Object.fromEntries(Object.entries(buckets).map(([name, units]) => [`${name}_units`, units])),
    ...(first !== undefined && Object.fromEntries(shares.map((share) => [`${share}_first_token_ms`, first[share]]))),
  };
}

const shares = ["p50", "p95", "p99"] as const;

type Sums = UsageAnswer["total"];
