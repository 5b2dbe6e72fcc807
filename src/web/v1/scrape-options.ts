/** The options of reading a page in Firecrawl's v1 API, which scrapes, crawls, batches and searches share. */
import { type JsonObject, listOf, objectOf } from "../../core/index.ts";

/** Formats of v1 that have options of their own beside them, with the member that holds these. */
const formatOptions: Readonly<Record<string, string>> = {
  json: "jsonOptions",
  extract: "extract",
  changeTracking: "changeTrackingOptions",
};

/** The options as v2 has them. A cached page is wanted only if the body says so, as in v1. */
export function optionsFromV1(options: JsonObject): JsonObject {
  const { formats, parsePDF, jsonOptions, extract, changeTrackingOptions, ...others } = options;
  const given: JsonObject = { jsonOptions, extract, changeTrackingOptions };
  const names = formats == null ? [] : listOf(formats);
  const used = new Set(names.map((name) => formatOptions[String(name)]));
  // Options without their format are nobody's: v2 names them.
  const unused = Object.entries(given).filter(([name, value]) => value != null && !used.has(name));
  // A page has one object, whichever of the two names asks for it.
  const wanted = names.includes("json") ? names.filter((name) => name !== "extract") : names;
  return {
    maxAge: 0,
    ...others,
    ...Object.fromEntries(unused),
    ...(formats != null && {
      formats: Array.isArray(formats) ? wanted.map((name) => formatFromV1(name, given)) : formats,
    }),
    ...(parsePDF === false && { parsers: [] }),
  };
}

function formatFromV1(name: unknown, given: JsonObject): unknown {
  if (name === "changeTracking") return { type: name, ...objectOf(given["changeTrackingOptions"]) };
  if (name !== "json" && name !== "extract") return name;
  const { systemPrompt, prompt, ...rest } =
    objectOf(given[formatOptions[name] ?? ""]) ?? objectOf(given["extract"]) ?? {};
  const prompts = [systemPrompt, prompt].filter((text) => text != null && text !== "");
  return { type: "json", ...rest, ...(prompts.length > 0 && { prompt: prompts.join("\n\n") }) };
}

/** Whether the page's object has the older name of v1, too. */
export function namesExtract({ formats }: JsonObject): boolean {
  return listOf(formats).includes("extract");
}

/** A page as v1 has it. */
export function documentForV1(document: JsonObject, asksExtract: boolean): JsonObject {
  return asksExtract && document["json"] !== undefined ? { extract: document["json"], ...document } : document;
}
