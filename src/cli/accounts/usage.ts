import type { Command } from "commander";
import type { Calendar } from "../../core/index.ts";
import { openGenerationStore } from "../../generations/index.ts";
import { type Moment, periodOf, reportSpending, spendingDimensions, spendingJson } from "../../spending/index.ts";
import { choiceOption, type CommonOptions, listOption, nameOption, UsageError, withCommonOptions } from "../options.ts";
import { printJson, printTable } from "../print.ts";
import { environment, withState } from "../state.ts";
import { momentOption } from "./moments.ts";

type Dimension = (typeof spendingDimensions)[number];

interface UsageOptions extends CommonOptions {
  by: readonly Dimension[];
  since?: Moment;
  until?: Moment;
  interval: "day" | "week" | "month";
  organisation?: string;
  user?: string;
  project?: string;
  token?: string;
  provider?: string;
  model?: string;
  operation?: string;
  session?: string;
  endUser?: string;
}

export function addUsageCommand(program: Command): void {
  withCommonOptions(program.command("usage").description("spending by organisation, user, model and time"))
    .option("--by <dimensions>", `one or several of ${spendingDimensions.join(",")}`, dimensionsOption, ["day"])
    .option("--since <time>", "a date, a date-time or an age such as 7d (default: 30 days)", momentOption("--since"))
    .option("--until <time>", "the same, exclusive (default: the end of today)", momentOption("--until"))
    .option("--interval <length>", "day, week or month: of the groups by day", intervalOption, "day")
    .option("--organisation <name>", "calls that it pays for only", nameOption("--organisation"))
    .option("--user <name>", "their calls only", nameOption("--user"))
    .option("--project <name>", "its calls only", nameOption("--project"))
    .option("--token <id>", "its calls only")
    .option("--provider <prefix>", "calls of a provider only")
    .option("--model <id>", "calls of a model only, by its id with the prefix")
    .option("--operation <name>", "chat, embeddings …")
    .option("--session <name>", "calls of a client's session only")
    .option("--end-user <name>", "calls for the caller's own user only")
    .action(show);
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
  const { organisation, user, project, token, provider, model, operation, session, endUser: end_user } = options;
  const report = await withState(options, async (state) => {
    const generations = openGenerationStore(state.storage);
    const period = periodIn({ from: since, to: until }, generations.calendar);
    const filter = { organisation, user, project, token, provider, model, operation, session, end_user };
    return reportSpending({ ...state, generations }, { ...period, ...filter, groupBy, interval });
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
