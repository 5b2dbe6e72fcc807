import { answerJson } from "../answer-json.ts";
import { badValue, type Check, isText, type Problem } from "../check.ts";
import { isGiven, type JsonObject } from "../json.ts";
import { record, values } from "../shape.ts";
import { jsonAnswer, type Answer, type Call, errorAnswer, type ErrorAnswer, type ProviderErrors } from "../types.ts";
import { base64Of, floatsOf, unitVector } from "./vector.ts";

/** One text to embed; a list of tokens stands for a text as well. */
interface EmbeddingInput {
  readonly text: string;
  readonly tokens: number;
}

/** One embedding request on its way to an answer. */
export interface EmbeddingTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly inputs: readonly EmbeddingInput[];
  /** Of all inputs. */
  readonly tokens: number;
}

/** A provider's way of writing embeddings in OpenAI's shape. */
export interface EmbeddingWire {
  /** Top-level fields besides `model` and `input`. */
  readonly fields: { readonly [name: string]: Check };
  readonly strict: boolean;
  /** Takes lists of tokens in place of texts. */
  readonly takesTokens: boolean;
  readonly inputsMax: number;
  readonly errors: ProviderErrors;
  modelName?(model: string): string;
  /** Refusals beyond the shape of single fields. */
  refuse?(talk: EmbeddingTalk): ErrorAnswer | null;
  dimensions(talk: EmbeddingTalk): number;
  /** One vector in this provider's format; by default floats, or base64 on request. */
  vector?(vector: Float32Array, talk: EmbeddingTalk): unknown;
  /** Members besides object, data, model and usage. */
  envelope?(talk: EmbeddingTalk): JsonObject;
  /** Null if none is reported. */
  usage(talk: EmbeddingTalk): JsonObject | null;
}

/** Answers `POST …/embeddings` in a provider's own way. */
export function answerEmbeddings(call: Call, wire: EmbeddingWire): Answer {
  const check = (body: JsonObject): Problem | null => checkBody(body, wire) ?? checkInput(body["input"], wire);
  return answerJson(call, { errors: wire.errors, check, answer: (body, model) => embedded(call, body, model, wire) });
}

function embedded(call: Call, body: JsonObject, named: string, wire: EmbeddingWire): Answer {
  const inputs = readInputs(body["input"]);
  const tokens = inputs.reduce((total, input) => total + input.tokens, 0);
  const model = wire.modelName?.(named) ?? named;
  const talk = { call, body, model, inputs, tokens };
  const refusal = wire.refuse?.(talk) ?? null;
  return refusal === null ? jsonAnswer(embeddingList(talk, wire)) : errorAnswer(refusal);
}

function checkBody(body: JsonObject, { fields, strict }: EmbeddingWire): Problem | null {
  const shapes = { ...values({ model: isText, ...fields }), input: () => null };
  return record(shapes, { required: ["model", "input"], open: !strict })(body, "");
}

function checkInput(input: unknown, { takesTokens, inputsMax }: EmbeddingWire): Problem | null {
  const entries = Array.isArray(input) && !isTokenList(input) ? input : [input];
  const expected = takesTokens ? "a string, an array of strings or tokens" : "a string or an array of strings";
  const fits = entries.every((entry) => typeof entry === "string" || (takesTokens && isTokenList(entry)));
  if (!fits) return { kind: "wrong-type", field: "input", expected, value: input };
  if (entries.length === 0 || entries.includes("")) {
    return badValue("input", "input cannot be empty", input);
  }
  if (entries.length <= inputsMax) return null;
  return badValue("input", `expected at most ${inputsMax} entries`, input);
}

function isTokenList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token) && token >= 0);
}

function readInputs(input: unknown): EmbeddingInput[] {
  if (isTokenList(input)) return [readInput(input)];
  return (Array.isArray(input) ? input : [input]).map(readInput);
}

function readInput(entry: unknown): EmbeddingInput {
  if (isTokenList(entry)) return { text: entry.join(" "), tokens: entry.length };
  return { text: String(entry), tokens: textTokens(String(entry)) };
}

/** Four characters are a token, as everywhere else here. */
export function textTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

function embeddingList(talk: EmbeddingTalk, wire: EmbeddingWire): JsonObject {
  const { inputs, model, call } = talk;
  const dimensions = wire.dimensions(talk);
  const data = inputs.map(({ text }, index) => {
    return {
      object: "embedding",
      index,
      embedding: wire.vector?.(unitVector(text, dimensions), talk) ?? plainVector(unitVector(text, dimensions), talk),
    };
  });
  const usage = call.faults.noUsage ? null : wire.usage(talk);
  return { ...wire.envelope?.(talk), object: "list", data, model, ...(usage === null ? {} : { usage }) };
}

/** Floats, or base64 where `encoding_format` asks for it. */
export function plainVector(vector: Float32Array, { body }: Pick<EmbeddingTalk, "body">): unknown {
  return body["encoding_format"] === "base64" ? base64Of(vector) : floatsOf(vector);
}

/** The dimensions asked for under a name, or the model's own. */
export function dimensionsOr(asked: unknown, own: number): number {
  return isGiven(asked) ? Number(asked) : own;
}
