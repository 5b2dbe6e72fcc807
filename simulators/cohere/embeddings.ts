import { answerJson } from "../shared/answer-json.ts";
import { badValue, isInteger, isList, isOneOf, isText, type Problem } from "../shared/check.ts";
import { dimensionsOr, textTokens } from "../shared/embeddings/wire.ts";
import { base64Of, floatsOf, unitVector } from "../shared/embeddings/vector.ts";
import { asArray, type JsonObject } from "../shared/json.ts";
import { list, record, value, values } from "../shared/shape.ts";
import { type Answer, type Call, jsonAnswer, type Route } from "../shared/types.ts";
import { cohereErrors } from "./errors.ts";

const TEXTS_MAX = 96;

const shape = record(
  {
    ...values({
      model: isText,
      input_type: isOneOf("search_document", "search_query", "classification", "clustering", "image"),
      embedding_types: isList,
      output_dimension: isInteger(256, 1_536),
      max_tokens: isInteger(1, 128_000),
      truncate: isOneOf("NONE", "START", "END"),
      priority: isInteger(0, 999),
    }),
    texts: list(value(isText), 1),
  },
  { required: ["model", "input_type", "texts"] },
);

function check(body: JsonObject): Problem | null {
  const problem = shape(body, "");
  if (problem !== null) return problem;
  const count = asArray(body["texts"]).length;
  return count <= TEXTS_MAX ? null : badValue("texts", `too many texts: at most ${TEXTS_MAX}`);
}

function embedded(call: Call, body: JsonObject): Answer {
  const texts = asArray(body["texts"]).map(String);
  const vectors = texts.map((text) => unitVector(text, dimensionsOr(body["output_dimension"], 1_536)));
  const types = asArray(body["embedding_types"] ?? ["float"]);
  return jsonAnswer({
    id: call.identity.uuid("embed"),
    texts,
    embeddings: {
      ...(types.includes("float") ? { float: vectors.map(floatsOf) } : {}),
      ...(types.includes("base64") ? { base64: vectors.map(base64Of) } : {}),
    },
    meta: {
      api_version: { version: "2" },
      billed_units: { input_tokens: texts.reduce((sum, text) => sum + textTokens(text), 0) },
    },
    response_type: "embeddings_by_type",
  });
}

/** Vectors by type. A call without a purpose is refused. */
export const embedRoute: Route = {
  method: "POST",
  path: "/cohere/v2/embed",
  handle: (call) => answerJson(call, { errors: cohereErrors, check, answer: (body) => embedded(call, body) }),
};
