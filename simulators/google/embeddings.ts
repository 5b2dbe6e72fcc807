import { badValue, isInteger, isList, isRecord, isText, type Problem } from "../shared/check.ts";
import { floatsOf, unitVector } from "../shared/embeddings/vector.ts";
import { answerEmbeddings, dimensionsOr, type EmbeddingWire, textTokens } from "../shared/embeddings/wire.ts";
import { asArray, asObject, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import { first, list, record, type Shape, value } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, jsonAnswer, type Route } from "../shared/types.ts";
import { compatErrors, nativeErrors } from "./errors.ts";

const ownDimensions = 3_072;

const compatWire: EmbeddingWire = {
  fields: { dimensions: isInteger(1, ownDimensions), encoding_format: isText },
  strict: true,
  takesTokens: false,
  inputsMax: 100,
  errors: compatErrors,
  modelName: (model) => model.replace(/^models\//, ""),
  dimensions: ({ body }) => dimensionsOr(body["dimensions"], ownDimensions),
  // Base64 is accepted but floats are returned, and no usage is reported.
  vector: floatsOf,
  usage: () => null,
};

const content = record({ role: value(isText), parts: list(value(isRecord), 1) }, { required: ["parts"] });

const config = {
  taskType: value(isText),
  title: value(isText),
  outputDimensionality: value(isInteger(1, ownDimensions)),
};

const requestShape: Shape = record(
  { ...config, model: value(isText), content, embedContentConfig: record(config, { open: true }) },
  { required: ["content"] },
);

const batchShape = record({ requests: value(isList) }, { required: ["requests"] });

function checkBatch(body: JsonObject, model: string): Problem | null {
  const problem = batchShape(body, "");
  if (problem !== null) return problem;
  return first(asArray(body["requests"]).entries(), ([index, request]) => {
    const field = `requests[${index}]`;
    const named = asObject(request)["model"];
    if (named === `models/${model}`) return requestShape(request, field);
    return badValue(`${field}.model`, "it must match the model of the batch", named);
  });
}

function answerNative(call: Call, batch: boolean): Answer {
  const { body } = call;
  const model = call.parameters["model"] ?? "";
  if (!isObject(body)) return errorAnswer(nativeErrors.forProblem({ kind: "not-json" }));
  const problem = batch ? checkBatch(body, model) : requestShape(body, "");
  if (problem !== null) return errorAnswer(nativeErrors.forProblem(problem));
  if (isMissingModel(model)) return errorAnswer(nativeErrors.modelNotFound(model));
  const requests = batch ? asArray(body["requests"]).map(asObject) : [body];
  const embeddings = requests.map((request) => ({
    values: floatsOf(unitVector(textOf(request), dimensionsOf(request))),
  }));
  const promptTokenCount = requests.reduce((total, request) => total + textTokens(textOf(request)), 0);
  const usage = call.faults.noUsage ? {} : { usageMetadata: { promptTokenCount } };
  return jsonAnswer(batch ? { embeddings, ...usage } : { embedding: embeddings[0], ...usage });
}

function textOf(request: JsonObject): string {
  const parts = asArray(asObject(request["content"])["parts"]).map(asObject);
  return parts.map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("\n");
}

function dimensionsOf(request: JsonObject): number {
  const nested = asObject(request["embedContentConfig"])["outputDimensionality"];
  return dimensionsOr(isGiven(nested) ? nested : request["outputDimensionality"], ownDimensions);
}

const errors = nativeErrors;
const models = "/google/v1beta/models";

/** Embeddings through the compatible layer, and the native calls for one content and for many. */
export const embeddingRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/google/v1beta/openai/embeddings",
    errors: compatErrors,
    handle: (call) => answerEmbeddings(call, compatWire),
  },
  { method: "POST", path: `${models}/:model:embedContent`, errors, handle: (call) => answerNative(call, false) },
  { method: "POST", path: `${models}/:model:batchEmbedContents`, errors, handle: (call) => answerNative(call, true) },
];
