/** Rerankers: a document is as relevant as it shares words with the query. */
import { answerJson } from "../answer-json.ts";
import { badValue, type Check, isInteger, isText, type Problem } from "../check.ts";
import { asObject, isObject, type JsonObject } from "../json.ts";
import { record, values } from "../shape.ts";
import { type Answer, type Call, jsonAnswer, type ProviderErrors, type Route } from "../types.ts";

/** A ranked document. */
interface Ranked {
  readonly index: number;
  readonly relevance_score: number;
  readonly text: string;
}

/** One request on its way to an answer. */
export interface RerankTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly ranked: readonly Ranked[];
  /** The documents, the best last or first, as they came. */
  readonly texts: readonly string[];
  /** Tokens of the query with each document. */
  readonly tokens: number;
}

/** A provider's way of ranking. */
export interface RerankWire {
  readonly path: string;
  readonly errors: ProviderErrors;
  /** Its name of the number of results. */
  readonly limit: "top_n" | "top_k";
  readonly fields: { readonly [name: string]: Check };
  readonly strict: boolean;
  /** Whether a document may be an object with a text. */
  readonly takesObjects: boolean;
  readonly documentsMax: number;
  answer(talk: RerankTalk): JsonObject;
}

export function rerankRoute(wire: RerankWire): Route {
  const check = (body: JsonObject): Problem | null => checkBody(body, wire) ?? checkDocuments(body["documents"], wire);
  return {
    method: "POST",
    path: wire.path,
    handle: (call) =>
      answerJson(call, { errors: wire.errors, check, answer: (body, model) => ranked(call, body, model, wire) }),
  };
}

function checkBody(body: JsonObject, { fields, limit, strict }: RerankWire): Problem | null {
  const members = values({ model: isText, query: isText, [limit]: isInteger(1, 1_000_000), ...fields });
  return record({ ...members, documents: () => null }, { required: ["model", "query", "documents"], open: !strict })(
    body,
    "",
  );
}

function checkDocuments(documents: unknown, { takesObjects, documentsMax }: RerankWire): Problem | null {
  const expected = takesObjects ? "an array of strings or objects with text" : "an array of strings";
  const fits = (each: unknown): boolean =>
    typeof each === "string" || (takesObjects && isObject(each) && typeof each["text"] === "string");
  if (!Array.isArray(documents) || !documents.every(fits))
    return { kind: "wrong-type", field: "documents", expected, value: documents };
  if (documents.length === 0) return badValue("documents", "documents cannot be empty", documents);
  return documents.length <= documentsMax
    ? null
    : badValue("documents", `at most ${documentsMax} documents`, documents);
}

function ranked(call: Call, body: JsonObject, model: string, wire: RerankWire): Answer {
  const query = String(body["query"]);
  const documents: readonly unknown[] = Array.isArray(body["documents"]) ? body["documents"] : [];
  const texts = documents.map((each) => (typeof each === "string" ? each : String(asObject(each)["text"])));
  const scored = texts.map((text, index) => ({ index, relevance_score: relevance(query, text), text }));
  const best = scored.toSorted((left, right) => right.relevance_score - left.relevance_score);
  const limit = body[wire.limit];
  const tokens = texts.reduce((sum, text) => sum + tokensOf(query) + tokensOf(text), 0);
  const talk = {
    call,
    body,
    model,
    texts,
    tokens,
    ranked: best.slice(0, limit === undefined ? best.length : Number(limit)),
  };
  return jsonAnswer(wire.answer(talk));
}

/** Four characters are a token, as everywhere else here. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

/** The part of the query's words that the document has, between 0 and 1 without either end. */
function relevance(query: string, text: string): number {
  const [asked, there] = [wordsOf(query), wordsOf(text)];
  const shared = [...asked].filter((word) => there.has(word)).length;
  return Number((0.01 + (0.98 * shared) / Math.max(1, asked.size)).toFixed(6));
}
