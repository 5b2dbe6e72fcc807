import { type Dialect, type FactName, matchesGlob, type ModelFacts } from "../../core/index.ts";

/** One limit of some models of an upstream, or its absence. */
export interface FactRow {
  fact: FactName;
  /** Globs of the upstream's names; absent: all its models. A fine-tuned model has the name of its base behind `ft:`. */
  models?: readonly string[];
  /** The dialects that it holds for; absent: all. */
  dialects?: readonly Dialect[];
  takes: ModelFacts;
  /** For readers, in one sentence. */
  rule: string;
  /** The page of `docs/wire/`, and its own source in brackets if that page has several. */
  source: string;
}

/** The row about the names of tools: all providers take the same letters. */
export function toolNames(max: number, source: string): FactRow {
  return {
    fact: "tool-names",
    takes: { toolNameMax: max },
    rule: `names of tools of letters, digits, \`_\` and \`-\`, at most ${max}`,
    source,
  };
}

/** The row about tools that run at the client and are no functions, by their types. */
export function clientTools(types: readonly string[], source: string, dialects?: readonly Dialect[]): FactRow {
  const named = types.map((type) => `\`${type}\``).join(", ");
  return {
    fact: "client-tools",
    ...(dialects === undefined ? {} : { dialects }),
    takes: types.length === 0 ? {} : { clientTools: types },
    rule:
      types.length === 0
        ? "functions as the client's tools: free text, shells and editors are functions too"
        : `of the client's tools that are no functions: ${named}`,
    source,
  };
}

/** Items of tools that providers of Responses run, and that not all of them have. */
const ownItems = {
  openai: ["tool_search_call", "tool_search_output", "program", "program_output"],
  xai: ["x_search_call", "code_execution_call", "view_image_call", "view_x_video_call"],
  others: ["file_search_call", "code_interpreter_call", "image_generation_call"],
  compactions: ["compaction", "context_compaction"],
};

/** The row about such items in a history. */
export function foreignItems(owners: readonly (keyof typeof ownItems)[], source: string): FactRow {
  const types = owners.flatMap((owner) => ownItems[owner]);
  return {
    fact: "hosted-items",
    dialects: ["responses"],
    takes: { foreignItems: types },
    rule: `not the items ${types.map((type) => `\`${type}\``).join(", ")}, which other providers' tools leave`,
    source,
  };
}

/** The row for providers that take neither OpenRouter's nor Anthropic's member for thinking. */
export function effortAlone(source: string): FactRow {
  return {
    fact: "thinking",
    dialects: ["chat"],
    takes: { effortAlone: true },
    rule: "`reasoning_effort` alone: OpenRouter's `reasoning` and Anthropic's `thinking` become it",
    source,
  };
}

/** Names come from callers; more are resolved again. */
const MODELS_MAX = 1_000;

/**
 * The facts about a model in one dialect: of the rows about one subject, the first that matches counts. `more` adds functions.
 * Each model is resolved once.
 */
export function factsFrom(
  rows: readonly FactRow[],
  dialect: Dialect,
  more?: (model: string) => ModelFacts,
): (model: string) => ModelFacts {
  const own = rows.filter(({ dialects }) => dialects?.includes(dialect) ?? true);
  const known = new Map<string, ModelFacts>();
  return (model) => {
    const before = known.get(model);
    if (before !== undefined) return before;
    const facts = { ...resolve(own, model), ...more?.(model) };
    if (known.size >= MODELS_MAX) known.clear();
    known.set(model, facts);
    return facts;
  };
}

function resolve(rows: readonly FactRow[], model: string): ModelFacts {
  const seen = new Set<FactName>();
  const facts: ModelFacts = {};
  for (const row of rows) {
    if (seen.has(row.fact) || !isAbout(row, model)) continue;
    seen.add(row.fact);
    Object.assign(facts, row.takes);
  }
  return facts;
}

/** Whether a row is about a model, whatever rows come before it. */
export function isAbout({ models }: FactRow, model: string): boolean {
  const name = model.replace(/^(?:ft:|models\/)/, "");
  return models === undefined || models.some((glob) => matchesGlob(glob, name));
}
