/** The format `changeTracking`: how a page differs from the one that the same user has read before, in Firecrawl's terms. */
import type { JsonObject, Nano } from "../../core/index.ts";
import type { TextComparison, DiffChunk } from "../../pages/index.ts";
import type { ModelContext, WebModel } from "../model.ts";
import { askJson } from "../scrape/ask-model.ts";
import type { ChangesFormat } from "../scrape/formats.ts";
import { changedSchema } from "./changed-schema.ts";

/** Characters of each of the two versions that the model gets. */
const CHARACTERS_MAX = 120_000;

/** The page as it was read before. */
export interface EarlierVersion {
  markdown: string;
  readAt: number;
}

export interface ChangesQuestion {
  wanted: ChangesFormat;
  earlier: EarlierVersion | undefined;
  markdown: string;
  /** Whether the page is not there any more. */
  isGone: boolean;
}

export interface ChangesDependencies {
  /** Compares two texts, in another process. */
  compare: (previous: string, current: string, wantsChunks: boolean) => Promise<TextComparison>;
  model: WebModel | undefined;
}

export interface Changes {
  member: JsonObject;
  warning: string | undefined;
  /** Of a model's calls. */
  spent: Nano;
}

/** Compares a page with its earlier version. `context`: of the model's call for the mode `json`; undefined if there shall be none. */
export async function trackChanges(
  { compare, model }: ChangesDependencies,
  { wanted, earlier, markdown, isGone }: ChangesQuestion,
  context: ModelContext | undefined,
): Promise<Changes> {
  const statusOnly = (changeStatus: string): Changes => ({
    member: { ...memberOf(earlier), changeStatus, visibility: "visible" },
    warning: undefined,
    spent: 0n,
  });
  if (isGone) return statusOnly("removed");
  if (earlier === undefined) return statusOnly("new");
  const comparison: TextComparison =
    earlier.markdown === markdown ? { isSame: true } : await compare(earlier.markdown, markdown, wanted.diff);
  if (comparison.isSame) return statusOnly("same");
  const { chunks } = comparison;
  const member = { ...statusOnly("changed").member, ...(chunks !== undefined && { diff: diffOf(chunks) }) };
  const warning = wanted.diff && chunks === undefined ? TOO_MANY : undefined;
  if (wanted.json === undefined || model === undefined || context === undefined) return { member, warning, spent: 0n };
  const text = JSON.stringify({
    previous: earlier.markdown.slice(0, CHARACTERS_MAX),
    current: markdown.slice(0, CHARACTERS_MAX),
  });
  const { prompt, schema } = wanted.json;
  const task =
    "The message is a JSON object with two versions of the page, `previous` and `current`. Read the same data from both, and answer with each value before and now.";
  const question = { text, schema: changedSchema(schema), task: prompt === undefined ? task : `${task} ${prompt}` };
  const { value, spent } = await askJson(model, question, context);
  return { member: { ...member, json: value }, warning, spent };
}

const TOO_MANY = "Too many lines have changed for changeTracking to list them.";

function memberOf(earlier: EarlierVersion | undefined): JsonObject {
  return { previousScrapeAt: earlier === undefined ? null : new Date(earlier.readAt).toISOString() };
}

/** In git's format, and as the lines of each chunk. */
function diffOf(chunks: readonly DiffChunk[]): JsonObject {
  const text = chunks.flatMap(({ content, changes }) => [content, ...changes.map((line) => line.content)]).join("\n");
  const counted = (type: string): number =>
    chunks.reduce((sum, { changes }) => sum + changes.filter((line) => line.type === type).length, 0);
  const file = { from: null, to: null, chunks, additions: counted("add"), deletions: counted("del") };
  return { text, json: { files: [file] } };
}
