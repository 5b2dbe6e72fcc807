import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamOperation } from "../provider.ts";
import { countOf, textOf, toldCount, uncountedOf } from "./json.ts";
import { refusal } from "./refusal.ts";

/** What differs between upstreams that rank documents; sources in `docs/wire/rerank.md`. */
interface RerankEndpoint {
  /** Appended to the base URL. */
  path: string;
  /** Its name of the number of results. */
  limit: "top_n" | "top_k";
  /** The further fields that it knows; undefined if it ignores the others, which are then passed. */
  fields: readonly string[] | undefined;
  /** Whether it takes texts alone, without objects around them. */
  takesTexts: boolean;
  /** Its field for documents in results is set to false: they are filled in from the request. */
  namesDocuments: boolean;
  /** The real price that the upstream reports, in nano-credits. */
  reportedCost?: (usage: JsonObject) => bigint | undefined;
}

/** The fields of a request that every upstream gets in its own terms. */
const translated: ReadonlySet<string> = new Set(["top_n", "top_k", "documents", "return_documents", "stream"]);

function textOfDocument(document: unknown): string | undefined {
  return textOf(document) ?? textOf(objectOf(document)?.["text"]);
}

/** Throws 422 for a document without text at an upstream that takes nothing else. */
function textsOf(documents: readonly unknown[]): string[] {
  return documents.map((document, index) => {
    const text = textOfDocument(document);
    if (text === undefined) throw refusal(`documents.${index}`, "must be a text, or an object with text.");
    return text;
  });
}

function requestOf({ body }: CallInput, endpoint: RerankEndpoint): JsonObject {
  const { limit, fields, takesTexts, namesDocuments } = endpoint;
  const known = fields === undefined ? undefined : new Set(["model", "query", ...fields]);
  const kept = Object.entries(body).filter(([name]) => !translated.has(name) && known?.has(name) !== false);
  const documents = listOf(body["documents"]);
  const results = body["top_n"] ?? body["top_k"];
  return {
    ...Object.fromEntries(kept),
    documents: takesTexts ? textsOf(documents) : documents,
    ...(results === undefined || results === null ? {} : { [limit]: results }),
    ...(namesDocuments ? { return_documents: false } : {}),
  };
}

interface Result {
  index: number;
  relevance_score: number;
}

/** The results that name one of the documents, the best first, each document once. Voyage calls them `data`. */
function resultsOf(answer: JsonObject, documents: number): Result[] {
  const byIndex = new Map<number, Result>();
  for (const each of listOf(answer["results"] ?? answer["data"])) {
    const { index, relevance_score: score } = objectOf(each) ?? {};
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= documents) continue;
    if (typeof score === "number" && !byIndex.has(index)) byIndex.set(index, { index, relevance_score: score });
  }
  return [...byIndex.values()].toSorted((first, second) => second.relevance_score - first.relevance_score);
}

/** The answer in the format of Cohere and Jina, with Voyage's `data` beside `results`: each SDK reads one of them. */
function answerOf({ body }: CallInput, answer: JsonObject): JsonObject {
  const documents = listOf(body["documents"]);
  const limit = countOf(body["top_n"] ?? body["top_k"]) || documents.length;
  const found = resultsOf(answer, documents.length).slice(0, limit);
  const isAsked = body["return_documents"] === true;
  const units = readUnits(answer);
  return {
    ...answer,
    object: "list",
    results: found.map((result) =>
      isAsked ? { ...result, document: objectWithText(documents[result.index]) } : result,
    ),
    data: found.map((result) =>
      isAsked ? { ...result, document: textOfDocument(documents[result.index]) ?? "" } : result,
    ),
    meta: metaOf(answer, units),
    usage: { total_tokens: units.tokens ?? 0, ...objectOf(answer["usage"]) },
  };
}

function objectWithText(document: unknown): unknown {
  return textOf(document) === undefined ? document : { text: document };
}

/** Cohere's `meta`, made of the other upstreams' usage. */
function metaOf(answer: JsonObject, { units, tokens }: RankingUnits): JsonObject {
  const meta = objectOf(answer["meta"]) ?? {};
  const billed = units === undefined ? { input_tokens: tokens ?? 0 } : { search_units: units };
  return { ...meta, billed_units: objectOf(meta["billed_units"]) ?? billed };
}

/** The search units and the tokens of an answer; undefined for those that it does not name. */
interface RankingUnits {
  units: number | undefined;
  tokens: number | undefined;
}

function readUnits(answer: JsonObject): RankingUnits {
  const usage = objectOf(answer["usage"]) ?? {};
  const meta = objectOf(answer["meta"]) ?? {};
  const billed = objectOf(meta["billed_units"]) ?? {};
  const counts = [billed["input_tokens"], objectOf(meta["tokens"])?.["input_tokens"], usage["total_tokens"]];
  const named = [...counts, usage["prompt_tokens"]].map(toldCount);
  return {
    units: toldCount(billed["search_units"] ?? usage["search_units"]),
    tokens: named.find((count) => count !== undefined && count > 0),
  };
}

/** Tokens that are not named are estimated, unless search units are named and have the price. */
function readUsage(answer: JsonObject, reportedCostOf: RerankEndpoint["reportedCost"]): ObservedUsage | undefined {
  const { units, tokens } = readUnits(answer);
  const reportedCost = reportedCostOf?.(objectOf(answer["usage"]) ?? {});
  if (units === undefined && tokens === undefined && reportedCost === undefined) return undefined;
  return {
    usage: { input: tokens ?? 0, ...(units === undefined ? {} : { searchUnits: units }), requests: 1 },
    ...uncountedOf(tokens, 0),
    ...(reportedCost === undefined ? {} : { reportedCost }),
  };
}

/** The ranking of documents at an upstream. Its answers are converted to one format, whatever the client's SDK is. */
export function rerankOperation(endpoint: RerankEndpoint): UpstreamOperation {
  return {
    path: endpoint.path,
    edits: () => [],
    toUpstream: (input) => ({
      requests: [{ json: requestOf(input, endpoint) }],
      answer: ([answer = {}]) => answerOf(input, answer),
    }),
    readUsage: (answer) => readUsage(answer, endpoint.reportedCost),
    isFailure: (answer) => listOf(answer["results"] ?? answer["data"]).length === 0,
  };
}
