import type { Command } from "commander";
import { parseDuration } from "../config/index.ts";
import {
  creditsNumber,
  formatCredits,
  isTagValue,
  limits,
  type Nano,
  parseCredits,
  parseMarkup,
  roles,
  TAG_KEY,
} from "../core/index.ts";
import type { BudgetPeriod } from "../ledger/index.ts";

/** An invalid command line; the message is one line for the user. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** Options of every command. */
export interface CommonOptions {
  config?: string;
  storage?: string;
  json?: boolean;
}

export function withCommonOptions(command: Command): Command {
  return command
    .option("--config <file>", "the config file (default: $TOLLGATE_CONFIG, else tollgate.yaml)")
    .option("--storage <url>", "sqlite:PATH or postgres://…; overrides the config file")
    .option("--json", "print JSON");
}

/** Wraps the parser of an option so that its errors contain the option's name. */
function option<T>(name: string, read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (cause) {
      throw new UsageError(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  };
}

export function creditsOption(name: string): (text: string) => Nano {
  return option(name, (text) => {
    const nano = parseCredits(text);
    if (nano < 0n) throw new RangeError("must not be negative");
    if (nano > limits.grantNanoMax) throw new RangeError(`must not be above ${formatCredits(limits.grantNanoMax)}`);
    return nano;
  });
}

/** An amount that may be below zero. */
export function changeOption(name: string): (text: string) => Nano {
  const read = creditsOption(name);
  return (text) => (text.startsWith("-") ? -read(text.slice(1)) : read(text));
}

/** A factor on prices, in millionths. */
export function markupOption(name: string): (text: string) => number {
  return option(name, (text) => {
    const factor = Number(text);
    if (!/^\d+(\.\d{1,6})?$/.test(text) || factor < 1e-6 || factor > 1e6)
      throw new RangeError(`"${text}" is no factor such as 1.2, with at most six decimals`);
    return Number(parseMarkup(factor));
  });
}

const REASON_CHARACTERS_MAX = 500;

export const reasonOption = (name: string) => textOption(name, REASON_CHARACTERS_MAX);

const NAME_CHARACTERS_MAX = 128;

export function textOption(name: string, charactersMax = NAME_CHARACTERS_MAX): (text: string) => string {
  return option(name, (text) => {
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.length > charactersMax) throw new RangeError(`1 to ${charactersMax} characters`);
    return trimmed;
  });
}

export function countOption(name: string): (text: string) => number {
  return option(name, (text) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new RangeError(`"${text}" is no whole number above zero`);
    return Number(text);
  });
}

export function portOption(name: string): (text: string) => number {
  return option(name, (text) => {
    const port = Number(text);
    if (!/^\d+$/.test(text) || port > 65_535) throw new RangeError(`"${text}" is no port`);
    return port;
  });
}

export function durationOption(name: string): (text: string) => number {
  return option(name, parseDuration);
}

/** A date as the number of days since 1970-01-01. */
export function dayOption(name: string): (text: string) => number {
  return option(name, (text) => {
    const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
    if (Number.isNaN(at) || new Date(at).toISOString().slice(0, text.length) !== text)
      throw new RangeError(`"${text}" is no date; write it like 2026-11-21`);
    return at / 86_400_000;
  });
}

export function choiceOption<T extends string>(name: string, choices: readonly T[]): (text: string) => T {
  return option(name, (text) => {
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) throw new RangeError(`"${text}" is none of ${choices.join(", ")}`);
    return choice;
  });
}

export const roleOption = (name: string) => choiceOption(name, roles);

export const periodOption = choiceOption("--period", ["daily", "monthly"] as const);

/** The value of an option with `none` in a change: null takes a limit away, undefined leaves it. */
export function orNull<T>(value: T | "none" | undefined): T | null | undefined {
  return value === "none" ? null : value;
}

/** Also accepts the word `none`. */
export function orNone<T>(read: (text: string) => T): (text: string) => T | "none" {
  return (text) => (text === "none" ? text : read(text));
}

export const listOption = (text: string): string[] => text.split(",").filter((item) => item !== "");

/** Globs of tools: names of `[A-Za-z0-9_-]`, with * and a ! before an exception. */
export const toolsOption = option("--tools", (text) => {
  const globs = listOption(text);
  const wrong = globs.find((glob) => !/^!?[\w*-]{1,128}$/.test(glob));
  if (wrong !== undefined) throw new RangeError(`"${wrong}" is no glob of tools such as web_* or !web_crawl`);
  if (globs.length === 0) throw new RangeError("write at least one glob; !* denies all");
  return globs;
});

const boundOf = {
  max_tokens: countOption("max_tokens"),
  max_expires: (text: string) => durationOption("max_expires")(text) / 1_000,
  max_budget: (text: string) => creditsNumber(creditsOption("max_budget")(text)),
};

/** The bounds of an organisation's tokens, as the admin API has them; those that are not named bound nothing. */
export const tokenPolicyOption = option("--token-policy", (text): Record<string, number> => {
  const policy: Record<string, number> = {};
  for (const bound of listOption(text)) {
    const [name = "", value = ""] = bound.split("=");
    const read = Object.entries(boundOf).find(([known]) => known === name)?.[1];
    if (read === undefined) throw new RangeError(`"${name}" is none of ${Object.keys(boundOf).join(", ")}`);
    policy[name] = read(value);
  }
  return policy;
});

/** Values by the keys of tags: `team=search,env=prod`. */
export function pairsOption(name: string): (text: string) => Record<string, string> {
  return option(name, (text) => {
    const pairs = listOption(text).map((pair): [string, string] => {
      const [key = "", ...rest] = pair.split("=");
      const value = rest.join("=").trim();
      if (!TAG_KEY.test(key.trim()) || !isTagValue(value))
        throw new RangeError(`"${pair}" is no pair such as team=search`);
      return [key.trim(), value];
    });
    if (pairs.length > limits.tagKeysMax) throw new RangeError(`at most ${limits.tagKeysMax} keys`);
    return Object.fromEntries(pairs);
  });
}

/** Names become part of account ids and log lines. */
export function nameOption(name: string): (text: string) => string {
  return option(name, (text) => {
    if (!/^[\w.@+-]{1,128}$/.test(text)) throw new RangeError("letters, digits and . _ @ + - only, at most 128");
    return text;
  });
}

/** The single given option of `kinds`, with its value. */
export function singleAccountOption<Kind extends string>(
  options: Readonly<Partial<Record<Kind, string>>>,
  kinds: readonly Kind[],
): { kind: Kind; name: string } {
  const named = kinds.flatMap((kind) => {
    const name = options[kind];
    return name === undefined ? [] : [{ kind, name }];
  });
  const [only, another] = named;
  if (only === undefined || another !== undefined)
    throw new UsageError(`name one account: ${kinds.map((kind) => `--${kind}`).join(" or ")}`);
  return only;
}

/** The values of `withPolicyOptions`. */
export interface PolicyOptions {
  models?: readonly string[] | "none" | undefined;
  tools?: readonly string[] | "none" | undefined;
  rpm?: number | "none" | undefined;
  tpm?: number | "none" | undefined;
  concurrency?: number | "none" | undefined;
  maxBudget?: Nano | "none" | undefined;
  period?: BudgetPeriod | "none" | undefined;
  /** Milliseconds from now on. */
  expires?: number | "none" | undefined;
}

/** The policy of tokens: the options of a token, or of all those of a user or an organisation. */
export function withPolicyOptions(command: Command): Command {
  return command
    .option("--models <globs>", "model ids that may be used, or none for all", orNone(listOption))
    .option("--tools <globs>", "tools that may be called, or none for all", orNone(toolsOption))
    .option("--rpm <count>", "requests a minute, or none", orNone(countOption("--rpm")))
    .option("--tpm <count>", "tokens of calls a minute, or none", orNone(countOption("--tpm")))
    .option("--concurrency <count>", "calls at the same time, or none", orNone(countOption("--concurrency")))
    .option("--max-budget <amount>", "the most that may be spent, or none", orNone(creditsOption("--max-budget")))
    .option("--period <period>", "daily, monthly or none: when the budget starts again", orNone(periodOption))
    .option("--expires <duration>", "from now on, or none", orNone(durationOption("--expires")));
}

/** The members of a body that these options ask for; `at` is now. */
export function policyBody(options: PolicyOptions, at: number) {
  const { expires } = options;
  return {
    models: orNull(options.models),
    tools: orNull(options.tools),
    rpm: orNull(options.rpm),
    tpm: orNull(options.tpm),
    concurrency: orNull(options.concurrency),
    max_budget: creditsIn(options.maxBudget),
    period: orNull(options.period),
    expires_at: typeof expires === "number" ? new Date(at + expires).toISOString() : expires && null,
  };
}

/** An amount as bodies have it. */
export function creditsIn(amount: Nano | "none" | undefined): number | null | undefined {
  return typeof amount === "bigint" ? creditsNumber(amount) : amount && null;
}
