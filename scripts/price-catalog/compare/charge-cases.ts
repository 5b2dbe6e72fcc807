/** The cost of a call by LiteLLM's row alone, without our reader of that table. */
import { type JsonObject, objectOf } from "../../../src/core/index.ts";

/** A call, the usage that the upstream reports for it, and its cost in LiteLLM's prices. */
export interface ChargeCase {
  /** The title of the case, such as `base` or `above 272k`. */
  title: string;
  /** The member of LiteLLM's row that the case adds to the others. */
  key: string;
  input: number;
  cached: number;
  /** Tokens written to a cache, for the shorter lifetime and for the longer one. */
  written: number;
  writtenLong: number;
  output: number;
  reasoning: number;
  audio: number;
  tier: string | undefined;
  /** In credits; several if the price depends on the hour. */
  expected: readonly number[];
}

const INPUT_MAX = 10_000;
const OUTPUT = 100;

/** The member of the long lifetime differs by provider: an hour at Anthropic, 12 hours at OpenAI. */
const longWrites = ["cache_creation_input_token_cost_above_1hr", "cache_creation_input_token_cost_above_12hr"];

const serviceTiers = ["priority", "flex", "ultrafast"];

type Row = JsonObject;

function costOf(row: Row, key: string): number {
  const value = row[key];
  return typeof value === "number" && value > 0 ? value : 0;
}

const none = { cached: 0, written: 0, writtenLong: 0, reasoning: 0, audio: 0, tier: undefined };

/** The calls that show each price of tokens in a row of a model that generates text or embeds it. */
export function chargeCases(row: Row): ChargeCase[] {
  const cases = new CaseList(row);
  cases.add("base", "input_cost_per_token", {}, (prices, input) => cases.base(prices, input));
  // Answers of embeddings count one kind of token.
  if (row["mode"] === "embedding") return cases.cases;
  cases.addPart("cached", "cache_read_input_token_cost", "cached");
  cases.addPart("written", "cache_creation_input_token_cost", "written");
  for (const key of longWrites) cases.addPart("written for long", key, "writtenLong");
  cases.addPart("audio", "input_cost_per_audio_token", "audio");
  cases.addReasoning();
  for (const tier of serviceTiers) {
    cases.add(tier, `input_cost_per_token_${tier}`, { tier }, (prices, input) => {
      const output = OUTPUT * costOf(prices, `output_cost_per_token_${tier}`);
      return input * costOf(prices, `input_cost_per_token_${tier}`) + output;
    });
  }
  for (const [key, above] of longPrompts(row)) {
    cases.add(`above ${above}k`, key, { input: above * 1_000 + INPUT_MAX }, (prices, input) => {
      return input * costOf(prices, key) + OUTPUT * costOf(prices, `output_cost_per_token_above_${above}k_tokens`);
    });
  }
  return cases.cases;
}

class CaseList {
  readonly cases: ChargeCase[] = [];
  readonly #row: Row;
  /** The row at each of its hours. */
  readonly #rows: readonly Row[];
  /** A count beyond the model's window would be none. */
  readonly #input: number;
  readonly #output: number;

  constructor(row: Row) {
    const window = row["max_input_tokens"];
    const offPeak = objectOf(row["off_peak_pricing"]);
    this.#row = row;
    this.#rows = offPeak === undefined ? [row] : [row, { ...row, ...offPeak }];
    this.#input = typeof window === "number" ? Math.min(INPUT_MAX, Math.floor(window / 2)) : INPUT_MAX;
    this.#output = costOf(row, "output_cost_per_token") > 0 ? OUTPUT : 0;
  }

  base(prices: Row, input: number): number {
    const fee = feeOf(this.#row);
    return (
      input * costOf(prices, "input_cost_per_token") + this.#output * costOf(prices, "output_cost_per_token") + fee
    );
  }

  add(title: string, key: string, usage: Partial<ChargeCase>, cost: (prices: Row, input: number) => number): void {
    if (costOf(this.#row, key) === 0) return;
    const asked = { ...none, title, key, input: this.#input, output: this.#output, ...usage };
    this.cases.push({ ...asked, expected: this.#rows.map((prices) => cost(prices, asked.input)) });
  }

  /** A part of the input at a price of its own. */
  addPart(title: string, key: string, member: "cached" | "written" | "writtenLong" | "audio"): void {
    const part = Math.floor(this.#input / 2);
    this.add(title, key, { [member]: part }, (prices, input) => {
      return this.base(prices, input - part) + part * costOf(prices, key);
    });
  }

  /** Perplexity counts the reasoning beside the answer, the others as a part of it. */
  addReasoning(): void {
    const isBeside = this.#row["litellm_provider"] === "perplexity";
    const key = "output_cost_per_reasoning_token";
    this.add("reasoning", key, { reasoning: OUTPUT }, (prices, input) => {
      const answered = isBeside ? 0 : OUTPUT * costOf(prices, "output_cost_per_token");
      return this.base(prices, input) - answered + OUTPUT * costOf(prices, key);
    });
  }
}

/**
 * Every call of Perplexity's own models searches, at a price by the size of its context; the highest is charged. Its deep
 * research, which bills citations too, reports its searches.
 */
function feeOf(row: Row): number {
  const sizes = objectOf(row["search_context_cost_per_query"]);
  const searches = row["litellm_provider"] === "perplexity" && row["mode"] === "chat" && sizes !== undefined;
  const isCounted = row["citation_cost_per_token"] !== undefined;
  return searches && !isCounted ? Math.max(...Object.values(sizes).filter((size) => typeof size === "number")) : 0;
}

function longPrompts(row: Row): [key: string, above: number][] {
  return Object.keys(row).flatMap((key): [string, number][] => {
    const above = /^input_cost_per_token_above_(\d+)k_tokens$/.exec(key)?.[1];
    return above === undefined ? [] : [[key, Number(above)]];
  });
}
