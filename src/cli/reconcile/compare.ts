/** A provider's report beside our records, by day and model, and the likely reason of each difference. */
import { modelKey, type ReportRow } from "./provider-report.ts";

/** Our sums of one day and model. */
export interface OwnRow {
  day: number;
  /** Without the provider's prefix. */
  model: string;
  requests: number;
  failures: number;
  inputTokens: number;
  outputTokens: number;
  /** Credits at list price: the provider knows no markup. */
  listCredits: number;
}

export interface OpenHolds {
  day: number;
  model: string;
  count: number;
  credits: number;
}

export interface Comparison {
  day: number;
  model: string;
  /** Undefined if the report has none. */
  provider: { cost: number | undefined; tokens: number | undefined };
  own: { cost: number; tokens: number; requests: number };
  /** What the provider has beyond ours: credits, or tokens if its report has no costs. */
  difference: number;
  isBeyond: boolean;
  /** Undefined if there is no difference worth one. */
  reason: Reason | undefined;
}

/** The likely reasons, each with its explanation. */
export const reasons = {
  rounding: "less than a cent: each side rounds in its own way",
  midnight: "a neighbouring day has the opposite difference: a call counts by its beginning here, and by its end there",
  "open-holds": "calls of that day are still open here, and count once they end",
  unpriced: "the calls have no list price here: the model had none, or an earlier version did not record it",
  "not-reported-yet": "the provider's report of the last two days is not complete yet",
  "other-calls":
    "the provider has calls, or other services, that are not from here: of another key, or not of this gateway",
  unnamed: "the report names no model, as for web searches, which are here a part of the calls of models",
  "another-account": "the report lacks these calls: it is of another account, project or key",
  price: "the tokens are the same: a price differs, such as that of a tier, of a batch, of cached input or a discount",
  "failed-calls": "the provider may bill calls that have failed here, which cost nobody credits",
  unknown: "prices or counts differ: a report of tokens beside that of costs (--file twice) tells them apart",
} as const;

type Reason = keyof typeof reasons;

/** The row of a report that does not name models, and of costs of no model. */
const ALL_MODELS = "all models";
const NO_MODEL = "no model";

interface Compared {
  report: readonly ReportRow[];
  own: readonly OwnRow[];
  holds: readonly OpenHolds[];
  /** The share of the provider's amount that a difference may have. */
  tolerance: number;
  /** The day on which it is compared. */
  today: number;
}

interface Cell {
  day: number;
  model: string;
  cost: number | undefined;
  tokens: number | undefined;
  own: OwnRow[];
  openHolds: number;
}

const CENT = 0.01;

/** Tokens that differ by less are the same: some models count a few of their own. */
const SAME_TOKENS = 0.001;

export function compare({ report, own, holds, tolerance, today }: Compared): Comparison[] {
  const hasModels = report.some(({ model }) => model !== undefined);
  const cells = cellsOf({ report, own, holds }, (model) =>
    hasModels ? (model === undefined ? NO_MODEL : modelKey(model)) : ALL_MODELS,
  );
  const rows = [...cells.values()].map((cell) => ({ cell, ...figuresOf(cell) }));
  const hasCosts = report.some(({ cost }) => cost !== undefined);
  const differenceOf = ({ cost, tokens, ours }: (typeof rows)[number]): number =>
    hasCosts ? rounded((cost ?? 0) - ours.listCredits) : (tokens ?? 0) - tokensOf(ours);
  const differences = new Map(rows.map((row) => [keyOf(row.cell.day, row.cell.model), differenceOf(row)]));
  const compared = rows.map(({ cell, cost, tokens, ours }): Comparison => {
    const { day, model, openHolds } = cell;
    const difference = differences.get(keyOf(day, model)) ?? 0;
    const size = Math.max(hasCosts ? (cost ?? 0) : (tokens ?? 0), hasCosts ? ours.listCredits : tokensOf(ours));
    const isSmall = Math.abs(difference) < (hasCosts ? CENT : 1);
    const around = (differences.get(keyOf(day - 1, model)) ?? 0) + (differences.get(keyOf(day + 1, model)) ?? 0);
    const isShifted =
      Math.sign(around) === -Math.sign(difference) && Math.abs(around + difference) < Math.abs(difference) / 4;
    const isBeyond = !isSmall && !isShifted && Math.abs(difference) > tolerance * size;
    const reason =
      difference === 0
        ? undefined
        : isSmall
          ? "rounding"
          : isShifted
            ? "midnight"
            : reasonOf({ model, cost, tokens, ours, difference, openHolds, isRecent: day >= today - 1 });
    return {
      day,
      model,
      provider: { cost, tokens },
      own: { cost: rounded(ours.listCredits), tokens: tokensOf(ours), requests: ours.requests },
      difference,
      isBeyond,
      reason: !isBeyond && reason !== "midnight" && reason !== "rounding" ? undefined : reason,
    };
  });
  return compared.toSorted((one, other) => one.day - other.day || (one.model < other.model ? -1 : 1));
}

const keyOf = (day: number, model: string): string => `${day} ${model}`;

/** Credits have nine decimals. */
const rounded = (credits: number): number => Math.round(credits * 1e9) / 1e9;

function cellsOf(
  { report, own, holds }: Pick<Compared, "report" | "own" | "holds">,
  nameOf: (model: string | undefined) => string,
): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  const cellOf = (day: number, model: string): Cell => {
    const key = keyOf(day, model);
    const cell = cells.get(key) ?? { day, model, cost: undefined, tokens: undefined, own: [], openHolds: 0 };
    cells.set(key, cell);
    return cell;
  };
  for (const { day, model, cost, inputTokens, outputTokens } of report) {
    const cell = cellOf(day, nameOf(model));
    if (cost !== undefined) cell.cost = (cell.cost ?? 0) + cost;
    if (inputTokens !== undefined || outputTokens !== undefined)
      cell.tokens = (cell.tokens ?? 0) + (inputTokens ?? 0) + (outputTokens ?? 0);
  }
  for (const row of own) cellOf(row.day, nameOf(row.model)).own.push(row);
  for (const { day, model, credits } of holds) cellOf(day, nameOf(model)).openHolds += credits;
  return cells;
}

type Sums = Pick<OwnRow, "requests" | "failures" | "inputTokens" | "outputTokens" | "listCredits">;

function figuresOf({ cost, tokens, own }: Cell): { cost: number | undefined; tokens: number | undefined; ours: Sums } {
  const ours = { requests: 0, failures: 0, inputTokens: 0, outputTokens: 0, listCredits: 0 };
  for (const row of own) {
    ours.requests += row.requests;
    ours.failures += row.failures;
    ours.inputTokens += row.inputTokens;
    ours.outputTokens += row.outputTokens;
    ours.listCredits += row.listCredits;
  }
  return { cost, tokens, ours };
}

const tokensOf = ({ inputTokens, outputTokens }: Sums): number => inputTokens + outputTokens;

interface Clues {
  model: string;
  cost: number | undefined;
  tokens: number | undefined;
  ours: Sums;
  difference: number;
  openHolds: number;
  isRecent: boolean;
}

/** The first clue that explains the difference. */
function reasonOf({ model, cost, tokens, ours, difference, openHolds, isRecent }: Clues): Reason {
  const isMore = difference > 0;
  if (model === NO_MODEL) return "unnamed";
  if (isMore && openHolds > 0) return "open-holds";
  if (ours.requests === 0) return "other-calls";
  if (isMore && cost !== undefined && ours.listCredits === 0) return "unpriced";
  if (!isMore && isRecent) return "not-reported-yet";
  if ((cost ?? 0) === 0 && (tokens ?? 0) === 0) return "another-account";
  const byTokens = tokens === undefined ? undefined : reasonByTokens(tokens, tokensOf(ours));
  if (byTokens === "other-calls" && ours.failures > 0) return "failed-calls";
  if (byTokens !== undefined) return byTokens;
  return isMore && ours.failures > 0 ? "failed-calls" : "unknown";
}

function reasonByTokens(theirs: number, ours: number): Reason {
  if (Math.abs(theirs - ours) <= SAME_TOKENS * Math.max(theirs, ours)) return "price";
  return theirs > ours ? "other-calls" : "another-account";
}
