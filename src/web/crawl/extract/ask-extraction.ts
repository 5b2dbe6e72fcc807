/** Reads the data of an extraction from its pages, with as many questions to the model as their length needs. */
import { type JsonObject, type Nano, objectOf } from "../../../core/index.ts";
import type { ModelContext, WebModel } from "../../model.ts";
import { askJson } from "../../scrape/ask-model.ts";
import type { Extraction } from "../crawl-request.ts";

/** Characters of the pages in one question, as for the format json, and questions about pages. */
const CHARACTERS_MAX = 240_000;
const QUESTIONS_MAX = 10;

/** A page that was read. */
export interface ExtractedPage {
  url: string;
  title: string;
  markdown: string;
}

export interface ExtractionAnswer {
  data: unknown;
  /** The addresses that each member of the data was read from, if they are wanted. */
  sources?: JsonObject;
  spent: Nano;
}

/** Rejects as the model does. Each question has a retry key that begins with `key`: an answer that was lost is not paid twice. */
export async function askExtraction(
  model: WebModel,
  { pages, extraction, key }: { pages: readonly ExtractedPage[]; extraction: Extraction; key: string },
  context: ModelContext,
): Promise<ExtractionAnswer> {
  const { prompt, systemPrompt, showSources } = extraction;
  const schema = showSources ? withSources(extraction.schema) : extraction.schema;
  const wish = [systemPrompt, prompt].filter((text) => text !== undefined).join("\n\n");
  const answers: unknown[] = [];
  let spent = 0n;
  const ask = async (text: string, instruction: string): Promise<void> => {
    const task = [instruction, showSources ? SOURCES : "", wish].filter((part) => part !== "").join("\n\n");
    const answer = await askJson(model, { task, text, schema }, { ...context, retryKey: `${key}-${answers.length}` });
    answers.push(answer.value);
    spent += answer.spent;
  };
  for (const text of questionsOf(pages)) await ask(text, PAGES);
  if (answers.length > 1) await ask(JSON.stringify(answers).slice(0, CHARACTERS_MAX), PARTS);
  return { ...answerOf(answers.at(-1), { pages, showSources }), spent };
}

const PAGES =
  "The message is a JSON array of web pages, with their addresses, titles and texts. Read one result from all of them together.";
const PARTS =
  "The message is a JSON array of results, each of which was read from other pages. Join them into one; leave out repetitions, and null if another result has a value.";
const SOURCES =
  "`data` is the result. `sources` has, for each member of it, the addresses of the pages that it was read from.";

function questionsOf(pages: readonly ExtractedPage[]): string[] {
  const questions: string[] = [];
  let some: ExtractedPage[] = [];
  let characters = 0;
  for (const page of pages) {
    const own = { ...page, markdown: page.markdown.slice(0, CHARACTERS_MAX) };
    if (some.length > 0 && characters + own.markdown.length > CHARACTERS_MAX) {
      questions.push(JSON.stringify(some));
      [some, characters] = [[], 0];
    }
    some.push(own);
    characters += own.markdown.length;
  }
  return [...questions, JSON.stringify(some)].slice(0, QUESTIONS_MAX);
}

/** A schema's own definitions stay at the root, which its references name. */
function withSources(schema: JsonObject = { type: "object", additionalProperties: true }): JsonObject {
  const { $defs, definitions, ...data } = schema;
  const addresses = { type: "array", items: { type: "string" } };
  return {
    type: "object",
    properties: { data, sources: { type: "object", additionalProperties: addresses } },
    required: ["data", "sources"],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

interface Read {
  pages: readonly ExtractedPage[];
  showSources: boolean;
}

/** Addresses that no page has are the model's own: they are left out. */
function answerOf(value: unknown, { pages, showSources }: Read): Omit<ExtractionAnswer, "spent"> {
  if (!showSources) return { data: value };
  const { data, sources } = objectOf(value) ?? {};
  const known = new Set(pages.map(({ url }) => url));
  const members = Object.entries(objectOf(sources) ?? {}).map(([name, urls]): [string, unknown[]] => [
    name,
    Array.isArray(urls) ? urls.filter((url) => typeof url === "string" && known.has(url)) : [],
  ]);
  return { data, sources: Object.fromEntries(members) };
}
