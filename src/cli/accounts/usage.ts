import type { Command } from "commander";
import type { Calendar } from "../../core/index.ts";
import { openGenerationStore } from "../../generations/index.ts";
import { periodOf, reportSpending, spendingDimensions, spendingJson } from "../../spending/index.ts";
import { choiceOption, type CommonOptions, listOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";
import { type CallFilterOptions, callFilterOf, withCallFilter, withPeriod } from "./call-filters.ts";

type Dimension = (typeof spendingDimensions)[number];

interface UsageOptions extends CommonOptions, CallFilterOptions {
  by: readonly Dimension[];
  interval: "day" | "week" | "month";
}

export function addUsageCommand(program: Command): void {
  const command = withCommonOptions(
    program.command("usage").description("spending by organisation, user, model and time"),
  ).option("--by <dimensions>", `one or several of ${spendingDimensions.join(",")}`, dimensionsOption, ["day"]);
  withPeriod(command, "7d").option(
    "--interval <length>",
    "day, week or month: of the groups by day",
    intervalOption,
    "day",
  );
  withCallFilter(command).action(show);
}

const intervalOption = choiceOption("--interval", ["day", "week", "month"] as const);

function dimensionsOption(text: string): Dimension[] {
  const words = listOption(text);
  const unknown = words.find((word) => !spendingDimensions.some((dimension) => dimension === word));
  if (unknown !== undefined || words.length === 0)
    throw new UsageError(`--by: "${unknown ?? text}" is none of ${spendingDimensions.join(", ")}`);
  return spendingDimensions.filter((dimension) => words.includes(dimension));
}

/** Throws a `UsageError` if it ends before it begins. */
function periodIn(bounds: Parameters<typeof periodOf>[0], calendar: Calendar): ReturnType<typeof periodOf> {
  try {
    return periodOf(bounds, environment.clock(), calendar);
  } catch (cause) {
    throw new UsageError("--since: lies after --until", { cause });
  }
}

async function show({ by: groupBy, since, until, interval, ...options }: UsageOptions): Promise<void> {
  const report = await withState(options, async (state) => {
    const generations = openGenerationStore(state.storage);
    const period = periodIn({ from: since, to: until }, generations.calendar);
    return reportSpending({ ...state, generations }, { ...period, ...callFilterOf(options), groupBy, interval });
  });
  if (report === "too-many-groups") throw new UsageError("--by: too many groups; ask for fewer, or for a shorter time");
  if ("removedBefore" in report) {
    const before = new Date(report.removedBefore).toISOString();
    throw new UsageError(`--since: calls before ${before} have been removed; ask for whole days of them, by dates`);
  }
  const { data, total } = spendingJson(report);
  if (options.json === true) return printJson({ data, total, group_by: groupBy, interval });
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
