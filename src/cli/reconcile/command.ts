import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { dayName } from "../../core/index.ts";
import type { spendingJson } from "../../spending/index.ts";
import { withServer } from "../admin/admin-command.ts";
import { askAdmin, type AskOptions } from "../admin/ask-admin.ts";
import { dayOption, UsageError } from "../options.ts";
import { printJson, printLine, printTable } from "../print.ts";
import { environment } from "../state.ts";
import { compare, type Comparison, type OpenHolds, type OwnRow, reasons } from "./compare.ts";
import { readReport, ReportError, type ReportRow } from "./provider-report.ts";

interface ReconcileOptions extends AskOptions {
  file: readonly string[];
  since?: number;
  until?: number;
  tolerance: number;
}

const DAY_MS = 86_400_000;

/** Each is a request. */
const DAYS_MAX = 400;

const HOLDS_PAGE = 500;

export function addReconcileCommand(program: Command): void {
  withServer(
    program
      .command("reconcile")
      .description("compare a provider's own report of costs or usage with the calls; exits with 1 if they differ"),
  )
    .argument("<provider>", "the prefix of the provider: openai")
    .requiredOption(
      "--file <file...>",
      "OpenAI's costs or usage, Anthropic's cost or usage report, or a CSV; one of costs and one of usage together explain more",
    )
    .option("--since <date>", "the first day, of UTC (default: the report's first)", dayOption("--since"))
    .option("--until <date>", "the day after the last one (default: after the report's last)", dayOption("--until"))
    .option("--tolerance <percent>", "the most that a day of a model may differ", toleranceOption, 0.01)
    .action(reconcile);
}

/** Percent as a share. */
function toleranceOption(text: string): number {
  const [, number = ""] = /^(\d+(?:\.\d+)?)%?$/.exec(text) ?? [];
  if (number === "" || Number(number) > 100)
    throw new UsageError(`--tolerance: "${text}" is no percentage such as 1 or 0.5`);
  return Number(number) / 100;
}

async function reconcile(provider: string, options: ReconcileOptions): Promise<void> {
  const all = (await Promise.all(options.file.map(reportIn))).flat();
  const first = options.since ?? Math.min(...all.map(({ day }) => day));
  const end = options.until ?? Math.max(...all.map(({ day }) => day)) + 1;
  if (first >= end) throw new UsageError("--since: the report has no day from then on");
  if (end - first > DAYS_MAX) throw new UsageError(`--since: at most ${DAYS_MAX} days are compared at once`);
  const report = all.filter(({ day }) => day >= first && day < end);
  const own = await ownRows(options, { provider, first, end });
  const holds = (await openHolds(options, provider)).filter(({ day }) => day >= first && day < end);
  const today = Math.floor(environment.clock() / DAY_MS);
  const rows = compare({ report, own, holds, tolerance: options.tolerance, today });
  if (rows.some(({ isBeyond }) => isBeyond)) process.exitCode = 1;
  if (options.json === true) printJson({ object: "list", provider, data: rows.map(rowJson), total: totalOf(rows) });
  else show(rows);
}

async function reportIn(file: string): Promise<ReportRow[]> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new UsageError(`--file: ${file} can't be read`, { cause });
  });
  try {
    return readReport(text);
  } catch (thrown) {
    if (thrown instanceof ReportError) throw new UsageError(`--file: ${file}: ${thrown.message}`, { cause: thrown });
    throw thrown;
  }
}

interface Days {
  provider: string;
  first: number;
  end: number;
}

/** Our sums of each day of UTC, whatever the deployment's zone is. */
async function ownRows(options: AskOptions, { provider, first, end }: Days): Promise<OwnRow[]> {
  const rows: OwnRow[] = [];
  for (let day = first; day < end; day += 1) {
    const query = {
      group_by: "model",
      provider,
      from: `${dayName(day)}T00:00:00Z`,
      to: `${dayName(day + 1)}T00:00:00Z`,
    };
    const { data } = await askAdmin<ReturnType<typeof spendingJson>>(options, { route: "get /admin/v1/usage", query });
    for (const sums of data)
      rows.push({
        day,
        model: nameOf(sums.model ?? ""),
        requests: sums.requests,
        failures: sums.failures,
        inputTokens: sums.input_tokens,
        outputTokens: sums.output_tokens,
        listCredits: sums.list_credits,
      });
  }
  return rows;
}

interface HoldsPage {
  data: { id: string; model: string; amount: number; created_at: string }[];
  has_more: boolean;
}

async function openHolds(options: AskOptions, provider: string): Promise<OpenHolds[]> {
  const found: OpenHolds[] = [];
  for (let after: string | undefined, hasMore = true; hasMore;) {
    const query = { limit: HOLDS_PAGE, after };
    const page = await askAdmin<HoldsPage>(options, { route: "get /admin/v1/holds", query });
    for (const { model, amount, created_at: at } of page.data)
      if (model.startsWith(`${provider}/`))
        found.push({ day: Math.floor(Date.parse(at) / DAY_MS), model: nameOf(model), count: 1, credits: amount });
    after = page.data.at(-1)?.id;
    hasMore = page.has_more;
  }
  return found;
}

/** Without the prefix of the provider. */
const nameOf = (model: string): string => model.slice(model.indexOf("/") + 1);

function rowJson({ day, model, provider, own, difference, isBeyond, reason }: Comparison) {
  return {
    day: dayName(day),
    model,
    provider_cost: provider.cost ?? null,
    provider_tokens: provider.tokens ?? null,
    list_credits: own.cost,
    tokens: own.tokens,
    requests: own.requests,
    difference,
    beyond_tolerance: isBeyond,
    reason: reason ?? null,
  };
}

function totalOf(rows: readonly Comparison[]) {
  const sum = (read: (row: Comparison) => number | undefined): number =>
    Math.round(rows.reduce((total, row) => total + (read(row) ?? 0), 0) * 1e9) / 1e9;
  return {
    provider_cost: sum(({ provider }) => provider.cost),
    provider_tokens: sum(({ provider }) => provider.tokens),
    list_credits: sum(({ own }) => own.cost),
    tokens: sum(({ own }) => own.tokens),
    difference: sum(({ difference }) => difference),
  };
}

function show(rows: readonly Comparison[]): void {
  const hasCosts = rows.some(({ provider }) => provider.cost !== undefined);
  const text = (value: number | undefined): string =>
    value === undefined ? "" : hasCosts ? value.toFixed(4) : `${value}`;
  const figures = (row: Comparison): (number | undefined)[] =>
    hasCosts ? [row.provider.cost, row.own.cost] : [row.provider.tokens, row.own.tokens];
  const total = totalOf(rows);
  const totals = hasCosts ? [total.provider_cost, total.list_credits] : [total.provider_tokens, total.tokens];
  printTable(
    ["DAY", "MODEL", "PROVIDER", hasCosts ? "LIST CREDITS" : "TOKENS", "DIFFERENCE", "", "LIKELY REASON"],
    [
      ...rows.map((row) => [
        dayName(row.day),
        row.model,
        ...figures(row).map(text),
        text(row.difference),
        row.isBeyond ? "!" : "",
        row.reason ?? "",
      ]),
      ["total", "", ...totals.map(text), text(total.difference)],
    ],
  );
  const named = new Set(rows.flatMap(({ reason }) => reason ?? []));
  if (named.size > 0) printLine();
  for (const reason of named) printLine(`${reason}: ${reasons[reason]}.`);
}
