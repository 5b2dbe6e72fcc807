/** Moderations: a text is harmful if it names the category, which is enough to try a client out. */
import { answerJson } from "./answer-json.ts";
import { badValue, isAnything, isRecord, isText, type Problem } from "./check.ts";
import { asObject, type JsonObject } from "./json.ts";
import { record, values } from "./shape.ts";
import { type Answer, type Call, jsonAnswer, type ProviderErrors, type Route } from "./types.ts";

/** A provider's format of moderations. */
export interface ModerationWire {
  readonly path: string;
  readonly errors: ProviderErrors;
  readonly categories: readonly string[];
  /** Whether the input may be a list of parts, images among them, which are judged together. */
  readonly takesParts: boolean;
  /** Whether each result has `flagged`. */
  readonly flags: boolean;
  /** Whether each result names the kinds of input that each category was judged by. */
  readonly namesInputTypes: boolean;
  id(call: Call): string;
}

export function moderationRoute(wire: ModerationWire): Route {
  const shape = record(values({ model: isText, input: isAnything, metadata: isRecord }), {
    required: ["model", "input"],
  });
  const check = (body: JsonObject): Problem | null => shape(body, "") ?? checkInput(body["input"], wire);
  return {
    method: "POST",
    path: wire.path,
    handle: (call) =>
      answerJson(call, { errors: wire.errors, check, answer: (body, model) => judged(call, body, model, wire) }),
  };
}

function checkInput(input: unknown, { takesParts }: ModerationWire): Problem | null {
  const entries = Array.isArray(input) ? input : [input];
  if (entries.length === 0) return badValue("input", "input cannot be empty", input);
  const fits = entries.every((entry) => typeof entry === "string") || (takesParts && entries.every(isPart));
  const expected = takesParts ? "a string, an array of strings or of parts" : "a string or an array of strings";
  return fits ? null : { kind: "wrong-type", field: "input", expected, value: input };
}

function isPart(entry: unknown): boolean {
  const { type, text, image_url: image } = asObject(entry);
  return type === "text"
    ? typeof text === "string"
    : type === "image_url" && typeof asObject(image)["url"] === "string";
}

function judged(call: Call, body: JsonObject, model: string, wire: ModerationWire): Answer {
  const results = textsOf(body["input"]).map((text) => resultOf(text.toLowerCase(), wire));
  return jsonAnswer({ id: wire.id(call), model, results });
}

/** The parts of one input are judged together. */
function textsOf(input: unknown): string[] {
  if (!Array.isArray(input)) return [String(input)];
  if (input.every((entry) => typeof entry === "string")) return input;
  return [
    input
      .map((entry) => asObject(entry)["text"])
      .filter((text) => typeof text === "string")
      .join(" "),
  ];
}

function resultOf(text: string, wire: ModerationWire): JsonObject {
  const names = (category: string): boolean => text.includes(category.split(/[/_]/)[0] ?? category);
  const by = (read: (category: string) => unknown): JsonObject =>
    Object.fromEntries(wire.categories.map((category) => [category, read(category)]));
  const result = { categories: by(names), category_scores: by((category) => (names(category) ? 0.97 : 0.0003)) };
  const flagged = wire.flags ? { flagged: wire.categories.some(names) } : {};
  const types = wire.namesInputTypes ? { category_applied_input_types: by(() => ["text"]) } : {};
  return { ...flagged, ...result, ...types };
}
