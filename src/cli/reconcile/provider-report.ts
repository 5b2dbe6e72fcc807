/**
 * A provider's own report of usage or costs, as rows of days and models. Known are the answers of OpenAI's costs and usage APIs and of
 * Anthropic's cost and usage reports (JSON: one page, a list of them, or one a line), the exports of their consoles, and other
 * CSV with columns of the same names. Days are those of UTC, as theirs.
 */
import { CsvError, parse } from "csv-parse/sync";
import { objectOf } from "../../core/index.ts";

export interface ReportRow {
  /** Days since 1970-01-01. */
  day: number;
  /** The key of the model's name; undefined of a row for all models. */
  model: string | undefined;
  /** US dollars; undefined in a report of usage. */
  cost?: number;
  /** Undefined in a report of costs. */
  inputTokens?: number;
  outputTokens?: number;
}

/** The message is one line about the part of the file that can't be read. */
export class ReportError extends Error {
  override name = "ReportError";
}

const DAY_MS = 86_400_000;

/**
 * The same for all names of a model: `gpt-5-nano-2025-08-07`, `Claude Haiku 4.5` and `claude-haiku-4-5-20251001` lose their dates, and
 * are written alike.
 */
export function modelKey(name: string): string {
  const words = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s._]+/g, "-");
  return words.replace(/-latest$/, "").replace(/-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/, "");
}

/** Reads a file. Throws a `ReportError`. */
export function readReport(text: string): ReportRow[] {
  const begin = text.trimStart().charAt(0);
  const rows = begin === "{" || begin === "[" ? pagesIn(text).flatMap(rowsOfPage) : rowsOfCsv(text);
  if (rows.length === 0) throw new ReportError("the file has no row with a day and an amount");
  return rows;
}

function pagesIn(text: string): unknown[] {
  try {
    const whole: unknown = JSON.parse(text);
    return Array.isArray(whole) ? whole : [whole];
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    return lines.map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (cause) {
        throw new ReportError(`line ${index + 1} is no JSON`, { cause });
      }
    });
  }
}

type Members = Readonly<Record<string, unknown>>;

function rowsOfPage(page: unknown): ReportRow[] {
  const { data } = objectOf(page) ?? {};
  // A list of buckets without their page.
  const buckets = Array.isArray(data) ? data : [page];
  return buckets.flatMap((each: unknown) => {
    const bucket: Members = objectOf(each) ?? {};
    const { results } = bucket;
    if (!Array.isArray(results)) throw new ReportError("a bucket has no list of results");
    const day = dayOf(bucket["start_time"] ?? bucket["starting_at"]);
    return results.flatMap((result: unknown) => rowsOf(objectOf(result) ?? {}, day));
  });
}

/** A row of either provider's JSON. */
function rowsOf(result: Members, day: number): ReportRow[] {
  const { amount } = result;
  const model = nameIn(result, day);
  const openai = objectOf(amount);
  if (openai !== undefined) {
    requireDollars(openai["currency"]);
    return [{ ...model, cost: numberOf(openai["value"]) }];
  }
  if (amount !== undefined) {
    requireDollars(result["currency"]);
    // Anthropic writes cents, as text with decimals.
    return [{ ...model, cost: numberOf(amount) / 100 }];
  }
  const written: Members = objectOf(result["cache_creation"]) ?? {};
  const anthropic = "uncached_input_tokens" in result;
  const inputTokens = anthropic
    ? numberOf(result["uncached_input_tokens"]) +
      numberOf(result["cache_read_input_tokens"]) +
      Object.values(written).reduce<number>((sum, each) => sum + numberOf(each), 0)
    : numberOf(result["input_tokens"]);
  return [{ ...model, inputTokens, outputTokens: numberOf(result["output_tokens"]) }];
}

/** OpenAI's line items are a model and a kind of usage: `gpt-5-nano, input`. */
function nameIn(row: Members, day: number): { day: number; model: string | undefined } {
  const name = row["model"] ?? row["model_version"] ?? row["line_item"];
  const [model = ""] = typeof name === "string" ? name.split(",") : [];
  return { day, model: model.trim() === "" ? undefined : modelKey(model) };
}

const days = ["usage_date_utc", "start_time_iso", "start_time", "starting_at", "date", "day", "timestamp"];
const costs = ["cost_usd", "amount_value", "amount_usd", "cost", "amount", "total_cost"];
const inputs = (
  "usage_input_tokens_no_cache usage_input_tokens_cache_write_5m usage_input_tokens_cache_write_1h " +
  "usage_input_tokens_cache_read input_tokens prompt_tokens"
).split(" ");
const outputs = ["usage_output_tokens", "output_tokens", "completion_tokens"];

const sumOf = (record: Record<string, string>, names: readonly string[]): number =>
  names.reduce((total, name) => total + numberOf(record[name]), 0);

function rowsOfCsv(text: string): ReportRow[] {
  const records = recordsOf(text);
  const columns = new Set(Object.keys(records[0] ?? {}));
  const day = days.find((name) => columns.has(name));
  const cost = costs.find((name) => columns.has(name));
  const tokens = {
    input: inputs.filter((name) => columns.has(name)),
    output: outputs.filter((name) => columns.has(name)),
  };
  if (day === undefined) throw new ReportError(`no column is the day: ${days.join(", ")}`);
  if (cost === undefined && tokens.input.length + tokens.output.length === 0)
    throw new ReportError(`no column is a cost (${costs.join(", ")}) or a count of tokens (${inputs.join(", ")})`);
  return records.flatMap((record): ReportRow[] => {
    // OpenAI's export has empty rows for days without costs.
    if (cost !== undefined && (record[cost] ?? "") === "") return [];
    requireDollars(record["amount_currency"] ?? record["currency"]);
    const model = nameIn(record, dayOf(record[day]));
    if (cost !== undefined) return [{ ...model, cost: numberOf(record[cost]) }];
    return [{ ...model, inputTokens: sumOf(record, tokens.input), outputTokens: sumOf(record, tokens.output) }];
  });
}

function recordsOf(text: string): Record<string, string>[] {
  try {
    return parse<Record<string, string>>(text, {
      bom: true,
      columns: (names: string[]) => names.map((name) => name.trim().toLowerCase().replaceAll(/\s+/g, "_")),
      skip_empty_lines: true,
      trim: true,
    });
  } catch (cause) {
    throw new ReportError(cause instanceof CsvError ? cause.message : "the file is no CSV", { cause });
  }
}

/** Other values become JSON, which is no time and no number. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Dates without a zone are UTC, and numbers are seconds. */
function dayOf(value: unknown): number {
  const text = textOf(value);
  const isNumber = /^\d+(?:\.\d+)?$/.test(text);
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes(":");
  const at = isNumber ? Number(text) * 1_000 : Date.parse(hasZone ? text : `${text.replace(" ", "T")}Z`);
  if (Number.isNaN(at)) throw new ReportError(`"${text.slice(0, 40)}" is no time`);
  return Math.floor(at / DAY_MS);
}

function numberOf(value: unknown): number {
  const text = textOf(value);
  const number = Number(text.replaceAll(/[$\s]/g, ""));
  if (!Number.isFinite(number)) throw new ReportError(`"${text.slice(0, 40)}" is no number`);
  return number;
}

/** A credit is one US dollar. */
function requireDollars(currency: unknown): void {
  if (typeof currency === "string" && currency !== "" && currency.toLowerCase() !== "usd")
    throw new ReportError(`amounts are in ${currency.slice(0, 10)}; only US dollars can be compared with credits`);
}
